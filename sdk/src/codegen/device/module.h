// A module for a device as one C++ file, which holds the device's code in one or several images.
#ifndef KERNPACK_SDK_SRC_CODEGEN_DEVICE_MODULE_H_
#define KERNPACK_SDK_SRC_CODEGEN_DEVICE_MODULE_H_

#include <memory>

#include "codegen/device/host.h"

namespace kernpack::sdk::ir {

// The device's code, compiled or to be compiled by the driver.
struct DeviceImage {
  std::string target;  // that runs it: "opencl", "cuda -arch=sm_90"
  std::string format;  // "cl", "cubin", "ptx"
  std::string data;
};

// The two halves of a module. The device's half is there first, so that it can be compiled.
class DeviceModule {
 public:
  // Runs Lower(). Errors: what it and DeriveSignature() find; ValueError when every function is private; NotImplementedError for
  // what device code cannot do.
  DeviceModule(const IRModule& module, const KernelDialect& dialect);

  // The device's program, in the dialect's language.
  const std::string& program() const { return program_; }
  // The host's file, which holds the images; every function that is not private has a variant for each of them.
  std::string HostSource(const std::vector<DeviceImage>& images);

 private:
  IRModule module_;  // lowered, with launches
  Names functions_;
  Helpers helpers_;  // of the host
  std::vector<std::unique_ptr<HostFunction>> writers_;  // of module_'s functions
  std::string bodies_;
  std::string program_;
};

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_SRC_CODEGEN_DEVICE_MODULE_H_
