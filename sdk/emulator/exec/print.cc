// printf and assert of kernels.
#include <cstdio>
#include <cstring>

#include "exec/block.h"
#include "exec/collectives.h"
#include "exec/fault.h"
#include "exec/warp.h"

namespace kernpack::emulator {
namespace {

constexpr size_t kMostText = 4096;

// The host's view of a generic address, of up to `bytes`; NULL when nothing is there.
const uint8_t* At(const Warp& warp, uint32_t lane, uint64_t address, uint64_t* bytes) {
  const Block& block = *warp.block;
  if ((address & kWindowMask) == kLocalWindow) {
    const uint64_t size = block.program->local_bytes, offset = address - kLocalWindow;
    if (offset >= size) return nullptr;
    *bytes = size - offset;
    return block.local.data() + (uint64_t{warp.index} * kLanes + lane) * size + offset;
  }
  const Region* region = block.launch->memory->Find(address);
  if (region == nullptr) return nullptr;
  *bytes = region->begin + region->size - address;
  return region->data + (address - region->begin);
}

std::string String(const Warp& warp, uint32_t lane, uint64_t address) {
  uint64_t bytes = 0;
  const uint8_t* at = At(warp, lane, address, &bytes);
  if (at == nullptr) return "(text at no valid address)";
  std::string out;
  for (uint64_t i = 0; i < bytes && i < kMostText && at[i] != 0; ++i) out += static_cast<char>(at[i]);
  return out;
}

template <class T>
T Parameter(const Warp& warp, uint32_t lane, uint32_t offset) {
  T value{};
  const Block& block = *warp.block;
  std::memcpy(&value, block.local.data() + (uint64_t{warp.index} * kLanes + lane) * block.program->local_bytes + offset,
              sizeof value);
  return value;
}

// Takes values from the buffer of arguments, each at a multiple of its size.
class Values {
 public:
  Values(const uint8_t* data, uint64_t bytes) : data_(data), bytes_(bytes) {}
  template <class T>
  T Next() {
    at_ = (at_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    T value{};
    if (at_ + sizeof value <= bytes_) std::memcpy(&value, data_ + at_, sizeof value);
    at_ += sizeof(T);
    return value;
  }

 private:
  const uint8_t* data_;
  uint64_t bytes_;
  uint64_t at_ = 0;
};

// One conversion such as "%-8.3f", with the host's printf; never with what the kernel wrote beyond flags, width and kind.
std::string Converted(const Warp& warp, uint32_t lane, const std::string& spec, Values* values) {
  const char kind = spec.back();
  std::string safe = spec.substr(0, spec.find_first_not_of("%-+ #0123456789."));
  const bool wide =
      spec.find('l') != std::string::npos || spec.find('z') != std::string::npos || spec.find('j') != std::string::npos;
  char buffer[512];
  const auto print = [&](const char* as, auto value) {
    const std::string format = safe + as + kind;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    std::snprintf(buffer, sizeof buffer, format.c_str(), value);
#pragma GCC diagnostic pop
    return std::string(buffer);
  };
  switch (kind) {
    case 'd':
    case 'i':
      return wide ? print("ll", values->Next<long long>()) : print("", values->Next<int>());
    case 'u':
    case 'x':
    case 'X':
    case 'o':
      return wide ? print("ll", values->Next<unsigned long long>()) : print("", values->Next<unsigned>());
    case 'c':
      return print("", values->Next<int>());
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
      return print("", values->Next<double>());
    case 'p':
      return print("", reinterpret_cast<void*>(values->Next<uint64_t>()));
    case 's': {
      const std::string text = String(warp, lane, values->Next<uint64_t>());
      return print("", text.c_str());
    }
    default:
      return spec;
  }
}

std::string Formatted(const Warp& warp, uint32_t lane, const std::string& format, Values values) {
  std::string out;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      out += format[i];
      continue;
    }
    if (i + 1 < format.size() && format[i + 1] == '%') {
      out += '%';
      ++i;
      continue;
    }
    size_t end = format.find_first_not_of("-+ #0123456789.hlzjt", i + 1);
    if (end == std::string::npos || end - i > 24) return out + format.substr(i);
    out += Converted(warp, lane, format.substr(i, end - i + 1), &values);
    i = end;
  }
  return out;
}

}  // namespace

void RunPrint(Warp& warp, const Instruction& i, uint32_t mask) {
  for (; mask != 0; mask &= mask - 1) {
    const auto lane = First(mask);
    uint64_t bytes = 0;
    const auto arguments = Parameter<uint64_t>(warp, lane, i.op[1]);
    const uint8_t* at = arguments == 0 ? nullptr : At(warp, lane, arguments, &bytes);
    const std::string text = Formatted(warp, lane, String(warp, lane, Parameter<uint64_t>(warp, lane, i.op[0])),
                                       Values(at, at == nullptr ? 0 : bytes));
    if (warp.block->launch->print) {
      warp.block->launch->print(text);
    } else {
      std::fputs(text.c_str(), stdout);
    }
  }
}

void RunAssertFail(Warp& warp, const Instruction& i, uint32_t mask) {
  const auto lane = First(mask);
  const std::string message = String(warp, lane, Parameter<uint64_t>(warp, lane, i.op[0]));
  const std::string file = String(warp, lane, Parameter<uint64_t>(warp, lane, i.op[1]));
  const std::string function = String(warp, lane, Parameter<uint64_t>(warp, lane, i.op[3]));
  Fail(warp, i, lane, Fault::Kind::kAssert,
       Text("says that an assertion failed: %s:%u: %s: `%s`", file.c_str(), Parameter<uint32_t>(warp, lane, i.op[2]),
            function.c_str(), message.c_str()));
}

}  // namespace kernpack::emulator
