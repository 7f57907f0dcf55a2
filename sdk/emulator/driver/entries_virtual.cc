// Virtual memory management: memory, addresses, and which memory is where, as the program says.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "driver/machine.h"

namespace kernpack::cuda {
namespace {

constexpr uint64_t kPiece = uint64_t{2} << 20;                  // the granularity, as on GPUs
constexpr auto kAlreadyMapped = static_cast<Result>(208);       // CUDA_ERROR_ALREADY_MAPPED
constexpr auto kShareableDescriptor = static_cast<MemHandleType>(1);  // CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
constexpr int kReadWrite = 3;                                   // CU_MEM_ACCESS_FLAGS_PROT_READWRITE

MappedMemory& Mapped() { return Machine::Get().mapped; }

bool Pieces(uint64_t bytes) { return bytes != 0 && bytes % kPiece == 0; }

// Host addresses that cost nothing until they are touched, at `where` in place of what is there, or anywhere.
uint8_t* Emptiness(uint64_t bytes, uint8_t* where = nullptr) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (where != nullptr ? MAP_FIXED : 0);
  void* const memory = mmap(where, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<uint8_t*>(memory);
}

bool Placed(const Allocation& allocation, uint64_t at, uint8_t* where, uint64_t bytes) {
  return mmap(where, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, allocation.file, static_cast<off_t>(at)) !=
         MAP_FAILED;
}

// The reservation that holds the range.
Reservation* FindReservation(DevicePtr address, uint64_t bytes, uintptr_t* begin) {
  auto& all = Mapped().reservations;
  auto found = all.upper_bound(address);
  if (found == all.begin()) return nullptr;
  --found;
  if (address - found->first > found->second.bytes || bytes > found->second.bytes - (address - found->first))
    return nullptr;
  *begin = found->first;
  return &found->second;
}

// Returns true if whole mappings, one after the other, are the range.
bool AreMappings(const Reservation& in, DevicePtr address, uint64_t bytes) {
  const uint64_t end = address + bytes;
  while (address < end) {
    const auto found = in.mappings.find(address);
    if (found == in.mappings.end()) return false;
    address += found->second.bytes;
  }
  return address == end;
}

// Describes the reservation's memory for copies and kernels: a block for each run of mappings that the same devices may use.
void DescribeBlocks(uintptr_t begin, const Reservation& reservation) {
  auto& blocks = Machine::Get().blocks;
  blocks.erase(blocks.lower_bound(begin), blocks.lower_bound(begin + reservation.bytes));
  Block* run = nullptr;
  for (const auto& [address, mapping] : reservation.mappings) {
    const int device = Mapped().allocations.at(mapping.allocation).device;
    if (run != nullptr && run->region.begin + run->size == address && run->devices == mapping.devices &&
        run->device == device) {
      run->size += mapping.bytes;
      run->region.size = run->size;
      continue;
    }
    const uint64_t at = address - begin;
    uint8_t* const backing = reservation.backing + at;
    run = &blocks[address];
    *run = {BlockKind::kMapped,
            device,
            mapping.bytes,
            backing,
            !mapping.devices.empty(),
            false,
            nullptr,
            {address, mapping.bytes, backing, reservation.written + at / 8, false}};
    run->devices = mapping.devices;
  }
}

// Frees memory that nothing can reach any more.
void DropIfUnused(unsigned long long handle) {
  auto& all = Mapped().allocations;
  const Allocation& allocation = all.at(handle);
  if (allocation.handles != 0 || allocation.maps != 0) return;
  Machine::Get().used[allocation.device] -= allocation.bytes;
  close(allocation.file);
  all.erase(handle);
}

void Unmap(uintptr_t begin, Reservation* in, uintptr_t address) {
  const auto found = in->mappings.find(address);
  const Mapping mapping = found->second;
  in->mappings.erase(found);
  Emptiness(mapping.bytes, in->backing + (address - begin));
  Emptiness(mapping.bytes / 8, in->written + (address - begin) / 8);
  --Mapped().allocations.at(mapping.allocation).maps;
  DropIfUnused(mapping.allocation);
  NoteFreed(address, mapping.bytes);
}

Allocation* FindAllocation(unsigned long long handle) {
  const auto found = Mapped().allocations.find(handle);
  return found == Mapped().allocations.end() || found->second.handles == 0 ? nullptr : &found->second;
}

Result CheckProperties(const MemAllocationProps* properties) {
  if (properties == nullptr || properties->type != kMemAllocationPinned) return kInvalidValue;
  if (properties->location.type != kMemLocationDevice) return kNotSupported;  // memory of the host
  if ((properties->handle_types & ~kShareableDescriptor) != 0) return kNotSupported;
  return properties->location.id >= 0 && properties->location.id < Machine::Get().Setting("devices") ? kSuccess
                                                                                                     : kInvalidDevice;
}

unsigned long long Keep(const Allocation& allocation) {
  Machine::Get().used[allocation.device] += allocation.bytes;
  Mapped().allocations[++Mapped().last_handle] = allocation;
  return Mapped().last_handle;
}

}  // namespace

void DropMappedMemory(Machine* machine) {
  MappedMemory& mapped = machine->mapped;
  auto& blocks = machine->blocks;
  for (const auto& [begin, reservation] : mapped.reservations) {
    blocks.erase(blocks.lower_bound(begin), blocks.lower_bound(begin + reservation.bytes));
    munmap(reservation.backing, reservation.bytes);
    munmap(reservation.written, reservation.bytes / 8);
  }
  for (const auto& [handle, allocation] : mapped.allocations) close(allocation.file);
  mapped.reservations.clear(), mapped.allocations.clear();
}

Result cuMemGetAllocationGranularity(size_t* bytes, const MemAllocationProps* properties, int option) {
  if (const Result result = CheckProperties(properties); result != kSuccess) return result;
  if (bytes == nullptr || (option & ~1) != 0) return kInvalidValue;
  *bytes = kPiece;
  return kSuccess;
}

Result cuMemCreate(unsigned long long* handle, size_t bytes, const MemAllocationProps* properties,
                   unsigned long long flags) {
  if (const Result result = CheckProperties(properties); result != kSuccess) return result;
  if (handle == nullptr || flags != 0 || !Pieces(bytes)) return kInvalidValue;
  Machine& machine = Machine::Get();
  const auto limit = static_cast<uint64_t>(machine.Setting("memory_bytes"));
  const int device = properties->location.id;
  if (bytes > limit || machine.used[device] + bytes > limit) return kOutOfMemory;
  const int file = memfd_create("kernpack_cuda_emulator", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0) return kOutOfMemory;
  // It begins with rubbish, as other memory does; a bit for each byte follows.
  const std::vector<uint8_t> rubbish(1 << 16, 0xa5);
  if (ftruncate(file, static_cast<off_t>(bytes + bytes / 8)) != 0 ||
      pwrite(file, rubbish.data(), rubbish.size(), 0) != static_cast<ssize_t>(rubbish.size()) ||
      fcntl(file, F_ADD_SEALS, kFileSeals) != 0) {
    close(file);
    return kOutOfMemory;
  }
  *handle = Keep({file, device, bytes, properties->handle_types});
  return kSuccess;
}

Result cuMemRelease(unsigned long long handle) {
  Allocation* const allocation = FindAllocation(handle);
  if (allocation == nullptr) return kInvalidValue;
  --allocation->handles;
  DropIfUnused(handle);
  return kSuccess;
}

Result cuMemAddressReserve(DevicePtr* out, size_t bytes, size_t alignment, DevicePtr /*wish*/,
                           unsigned long long flags) {
  if (out == nullptr || flags != 0 || !Pieces(bytes) || (alignment & (alignment - 1)) != 0) return kInvalidValue;
  Machine& machine = Machine::Get();
  const uint64_t step = std::max<uint64_t>(alignment, kPiece);
  const uintptr_t begin = (machine.arena_next + step - 1) / step * step;
  if (step > kArenaBytes || bytes > kArenaBytes || begin + bytes + 4096 > machine.arena + kArenaBytes)
    return kOutOfMemory;
  uint8_t* const backing = Emptiness(bytes);
  uint8_t* const written = backing != nullptr ? Emptiness(bytes / 8) : nullptr;
  if (written == nullptr) {
    if (backing != nullptr) munmap(backing, bytes);
    return kOutOfMemory;
  }
  machine.arena_next = begin + bytes + 4096;
  machine.mapped.reservations[begin] = {bytes, backing, written, {}};
  *out = begin;
  return kSuccess;
}

Result cuMemAddressFree(DevicePtr address, size_t bytes) {
  const auto found = Mapped().reservations.find(address);
  if (found == Mapped().reservations.end() || found->second.bytes != bytes || !found->second.mappings.empty())
    return kInvalidValue;
  munmap(found->second.backing, bytes);
  munmap(found->second.written, bytes / 8);
  Mapped().reservations.erase(found);
  return kSuccess;
}

Result cuMemMap(DevicePtr address, size_t bytes, size_t offset, unsigned long long handle, unsigned long long flags) {
  Allocation* const allocation = FindAllocation(handle);
  uintptr_t begin = 0;
  Reservation* const in = FindReservation(address, bytes, &begin);
  if (flags != 0 || offset != 0 || allocation == nullptr || in == nullptr || !Pieces(bytes) ||
      (address - begin) % kPiece != 0 || bytes > allocation->bytes) {
    return kInvalidValue;
  }
  const auto next = in->mappings.lower_bound(address);
  if (next != in->mappings.end() && next->first < address + bytes) return kAlreadyMapped;
  if (next != in->mappings.begin() && std::prev(next)->first + std::prev(next)->second.bytes > address)
    return kAlreadyMapped;
  const uint64_t at = address - begin;
  if (!Placed(*allocation, 0, in->backing + at, bytes) ||
      !Placed(*allocation, allocation->bytes, in->written + at / 8, bytes / 8)) {
    return kOutOfMemory;
  }
  ++allocation->maps;
  in->mappings[address] = {bytes, handle, {}};
  DescribeBlocks(begin, *in);
  return kSuccess;
}

// Work that is queued and uses the memory isn't waited for, as the driver doesn't promise it either: it finds the memory gone.
Result cuMemUnmap(DevicePtr address, size_t bytes) {
  uintptr_t begin = 0;
  Reservation* const in = FindReservation(address, bytes, &begin);
  if (in == nullptr || bytes == 0 || !AreMappings(*in, address, bytes)) return kInvalidValue;
  for (uintptr_t at = address; at < address + bytes;) {
    const uint64_t size = in->mappings.at(at).bytes;
    Unmap(begin, in, at);
    at += size;
  }
  DescribeBlocks(begin, *in);
  return kSuccess;
}

// Access to read and write, or none; NVIDIA has a third kind, to read alone, which isn't emulated.
Result cuMemSetAccess(DevicePtr address, size_t bytes, const MemAccess* list, size_t count) {
  uintptr_t begin = 0;
  Reservation* const in = FindReservation(address, bytes, &begin);
  if (in == nullptr || list == nullptr || count == 0 || bytes == 0 || !AreMappings(*in, address, bytes))
    return kInvalidValue;
  for (size_t i = 0; i < count; ++i) {
    if (list[i].location.type != kMemLocationDevice || (list[i].flags != 0 && list[i].flags != kReadWrite))
      return kNotSupported;
    if (list[i].location.id < 0 || list[i].location.id >= Machine::Get().Setting("devices")) return kInvalidDevice;
  }
  for (auto at = in->mappings.find(address); at != in->mappings.end() && at->first < address + bytes; ++at) {
    for (size_t i = 0; i < count; ++i) {
      if (list[i].flags == 0) at->second.devices.erase(list[i].location.id);
      if (list[i].flags != 0) at->second.devices.insert(list[i].location.id);
    }
  }
  DescribeBlocks(begin, *in);
  return kSuccess;
}

namespace {

const Mapping* FindMapping(DevicePtr address) {
  uintptr_t begin = 0;
  const Reservation* const in = FindReservation(address, 1, &begin);
  if (in == nullptr) return nullptr;
  const auto after = in->mappings.upper_bound(address);
  if (after == in->mappings.begin()) return nullptr;
  const auto& [at, mapping] = *std::prev(after);
  return address - at < mapping.bytes ? &mapping : nullptr;
}

}  // namespace

Result cuMemGetAccess(unsigned long long* flags, const MemLocation* location, DevicePtr address) {
  const Mapping* const mapping = FindMapping(address);
  if (mapping == nullptr || flags == nullptr || location == nullptr || location->type != kMemLocationDevice)
    return kInvalidValue;
  *flags = mapping->devices.count(location->id) != 0 ? kReadWrite : 0;
  return kSuccess;
}

Result cuMemRetainAllocationHandle(unsigned long long* handle, void* address) {
  const Mapping* const mapping = FindMapping(reinterpret_cast<DevicePtr>(address));
  if (mapping == nullptr || handle == nullptr) return kInvalidValue;
  *handle = mapping->allocation;
  ++Mapped().allocations.at(*handle).handles;
  return kSuccess;
}

Result cuMemGetAllocationPropertiesFromHandle(MemAllocationProps* properties, unsigned long long handle) {
  const Allocation* const allocation = FindAllocation(handle);
  if (allocation == nullptr || properties == nullptr) return kInvalidValue;
  *properties = {kMemAllocationPinned,
                 static_cast<MemHandleType>(allocation->handle_types),
                 {kMemLocationDevice, allocation->device},
                 nullptr,
                 {}};
  return kSuccess;
}

Result cuMemExportToShareableHandle(void* out, unsigned long long handle, MemHandleType type,
                                    unsigned long long flags) {
  const Allocation* const allocation = FindAllocation(handle);
  if (allocation == nullptr || out == nullptr || flags != 0) return kInvalidValue;
  if (type != kShareableDescriptor) return kNotSupported;
  if ((allocation->handle_types & type) == 0) return kInvalidValue;  // cuMemCreate has to ask for it
  const int file = fcntl(allocation->file, F_DUPFD_CLOEXEC, 0);
  if (file < 0) return kOutOfMemory;
  *static_cast<int*>(out) = file;
  return kSuccess;
}

// The descriptor stays the program's to close.
Result cuMemImportFromShareableHandle(unsigned long long* handle, void* shared, MemHandleType type) {
  Context context = nullptr;
  if (const Result result = NeedContext(&context); result != kSuccess) return result;
  if (handle == nullptr) return kInvalidValue;
  if (type != kShareableDescriptor) return kNotSupported;
  const int descriptor = static_cast<int>(reinterpret_cast<intptr_t>(shared));
  struct stat about{};
  // Another file would be written to, and one that shrinks would end the process.
  if (fcntl(descriptor, F_GET_SEALS) != kFileSeals || fstat(descriptor, &about) != 0) return kInvalidValue;
  const auto size = static_cast<uint64_t>(about.st_size);
  if (size % 9 != 0 || !Pieces(size / 9 * 8)) return kInvalidValue;
  const int file = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (file < 0) return kOutOfMemory;
  *handle = Keep({file, context->device, size / 9 * 8, kShareableDescriptor});
  return kSuccess;
}

}  // namespace kernpack::cuda
