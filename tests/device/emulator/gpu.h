// The tests' kernels on an NVIDIA GPU instead of the emulated device: with KERNPACK_TEST_CUDA_DRIVER=libcuda.so.1.
#ifndef KERNPACK_TESTS_DEVICE_EMULATOR_GPU_H_
#define KERNPACK_TESTS_DEVICE_EMULATOR_GPU_H_

#include <string>
#include <vector>

#include "exec/block.h"

namespace kernpack::emulator {

// How a kernel is launched.
struct Shape {
  uint32_t grid = 1;
  uint32_t block = 32;
  uint32_t shared = 0;
  double seconds = 200;  // a sanitizer on a busy machine is slow; kernels that never end set less
  uint32_t mma_order = 0;
  uint32_t cluster = 1;
  bool cooperative = false;
};

// The driver's library, or null: kernels run on the emulated device.
const char* GpuDriver();

// Runs kernel "k" of `text`, which is compiled for the GPU whatever target it names; what stopped it, or "". Each region is
// copied to the GPU and back. A parameter that points into a region is what points there on the GPU.
std::string RunOnGpu(const std::string& text, const std::vector<Region>& regions,
                     const std::vector<uint64_t>& parameters, const Shape& shape);

}  // namespace kernpack::emulator

#endif  // KERNPACK_TESTS_DEVICE_EMULATOR_GPU_H_
