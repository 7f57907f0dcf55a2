// NVIDIA's driver library, opened at run time.
#ifndef KERNPACK_BACKENDS_CUDA_DRIVER_H_
#define KERNPACK_BACKENDS_CUDA_DRIVER_H_

#include <string>

#include "backends/cuda/driver_entries.h"
#include "backends/cuda/driver_types.h"

namespace kernpack::cuda {

// The oldest driver that will do, as CUDA counts: 12.0. Every entry is asked for in the form that version had.
constexpr int kMinimumDriver = 12000;

struct Driver {
#define KP_CUDA_MEMBER_(name, version, parameters) Result(*name) parameters = nullptr;
  KP_CUDA_ENTRIES(KP_CUDA_MEMBER_)
  KP_CUDA_OPTIONAL_ENTRIES(KP_CUDA_MEMBER_)
  KP_CUDA_TENSOR_MAP_ENTRIES(KP_CUDA_MEMBER_)
#undef KP_CUDA_MEMBER_
  int version = 0;        // 13000 is CUDA 13.0
  bool emulated = false;  // PTX on the CPU (sdk/emulator)
};

// The error in the values of KERNPACK_EMULATOR and KERNPACK_EMULATOR_SEED, for people; "" if there is none.
std::string EmulatorMistake();

// The library's file: KERNPACK_CUDA_DRIVER where it is set; where KERNPACK_EMULATOR is, the emulated device's, beside this library
// or in the package kernpack_cuda_emulator beside this one's; else "libcuda.so.1".
std::string DriverPath();

// Opens the library for good, looks up every entry and initialises the driver. False with *reason a sentence for people:
// which file, what is missing from it, what to install.
bool OpenDriver(const char* path, Driver* out, std::string* reason);

// "CUDA_ERROR_OUT_OF_MEMORY (2): out of memory", in the driver's own words.
std::string ResultText(const Driver& driver, Result result);

}  // namespace kernpack::cuda

#endif  // KERNPACK_BACKENDS_CUDA_DRIVER_H_
