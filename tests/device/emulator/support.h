// PTX run on memory of the test's.
#ifndef KERNPACK_TESTS_DEVICE_EMULATOR_SUPPORT_H_
#define KERNPACK_TESTS_DEVICE_EMULATOR_SUPPORT_H_

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "exec/block.h"
#include "exec/fault.h"
#include "exec/global_shadow.h"
#include "gpu.h"
#include "ptx/syntax.h"

namespace kernpack::emulator {

// Allocations at addresses that are far apart.
class TestMemory : public AddressSpace {
 public:
  // Elements that have been written, or room for some that have not.
  template <class T>
  uint64_t Add(const std::vector<T>& values) {
    const uint64_t address = Room(values.size() * sizeof(T));
    if (!values.empty()) std::memcpy(buffers_.back().bytes.data(), values.data(), values.size() * sizeof(T));
    MarkWritten(buffers_.back().written.data(), 0, values.size() * sizeof(T));
    return address;
  }
  uint64_t Room(uint64_t bytes) {
    Buffer& buffer = buffers_.emplace_back();
    buffer.bytes.resize(bytes);
    buffer.written.resize(bytes / 8 + 1);
    buffer.sectors.resize(CountSectors(next_, bytes));
    buffer.region = {next_, bytes, buffer.bytes.data(), buffer.written.data(), false, buffer.sectors.data()};
    next_ += (bytes + 4096) / 256 * 256;
    return buffer.region.begin;
  }
  template <class T>
  std::vector<T> Read(uint64_t address, size_t count) const {
    std::vector<T> out(count);
    const Region* region = Find(address);
    std::memcpy(out.data(), region->data + (address - region->begin), count * sizeof(T));
    return out;
  }
  const Region* Find(uint64_t address) const override {
    for (const Buffer& buffer : buffers_) {
      if (address >= buffer.region.begin && address - buffer.region.begin < buffer.region.size) return &buffer.region;
    }
    return nullptr;
  }
  std::string Near(uint64_t /*address*/) const override { return "no allocation is there"; }
  std::vector<Region> Regions() const {
    std::vector<Region> out;
    for (const Buffer& buffer : buffers_) out.push_back(buffer.region);
    return out;
  }

 private:
  struct Buffer {
    std::vector<uint8_t> bytes, written;
    std::vector<SectorShadow> sectors;
    Region region;
  };
  std::deque<Buffer> buffers_;
  uint64_t next_ = 0x10000000;
};

inline std::string Header(const char* version = "8.0") {
  return std::string(".version ") + version + "\n.target sm_80\n.address_size 64\n";
}

// A kernel "k" of that body, whose parameters p0, p1... are all of 64 bits; a line of registers of every kind is at its beginning.
inline std::string Kernel(int parameters, const std::string& body, const std::string& before = "") {
  std::string list;
  for (int i = 0; i < parameters; ++i) list += (i == 0 ? "" : ", ") + (".param .u64 p" + std::to_string(i));
  std::string text = Header() + before + ".visible .entry k(" + list + ") {\n" +
                     ".reg .pred %p<16>; .reg .b16 %rs<32>; .reg .b32 %r<64>; .reg .b64 %rd<64>; .reg .f32 %f<32>; "
                     ".reg .f64 %fd<32>;\n";
  for (int i = 0; i < parameters; ++i) {
    text += "ld.param.u64 %rd" + std::to_string(i) + ", [p" + std::to_string(i) + "];\n";
  }
  return text + "mov.u32 %r0, %tid.x;\nmul.wide.u32 %rd20, %r0, 4;\nmul.wide.u32 %rd21, %r0, 8;\n" + body +
         "\nret;\n}\n";
}

inline Program Assemble(const std::string& text, const char* name = "k") {
  const Module module = Parse(text);
  for (const Function& function : module.functions) {
    if (function.name == name) return Decode(module, function, [](const std::string&, uint64_t*) { return false; });
  }
  throw PtxError(0, std::string("there is no kernel ") + name);
}

// A kernel with a mistake, and what has to be said of it.
struct Mistake {
  const char* name;
  std::string body, said;
};
inline std::string GetName(const testing::TestParamInfo<Mistake>& info) { return info.param.name; }

// Runs `text`'s kernel k; the message of what stopped it, or "".
inline std::string RunText(const std::string& text, const TestMemory& memory, const std::vector<uint64_t>& parameters,
                           Shape shape = {}) {
  if (GpuDriver() != nullptr) return RunOnGpu(text, memory.Regions(), parameters, shape);
  try {
    const Program program = Assemble(text);
    Launch launch;
    launch.program = &program;
    launch.grid[0] = shape.grid;
    launch.block[0] = shape.block;
    launch.dynamic_shared = shape.shared;
    launch.parameters = reinterpret_cast<const uint8_t*>(parameters.data());
    launch.memory = &memory;
    launch.checks.global_races = true;
    launch.seconds = shape.seconds;
    launch.mma_order = shape.mma_order;
    launch.cluster[0] = shape.cluster;
    launch.cooperative = shape.cooperative;
    Run(launch);
    return "";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

}  // namespace kernpack::emulator

#endif  // KERNPACK_TESTS_DEVICE_EMULATOR_SUPPORT_H_
