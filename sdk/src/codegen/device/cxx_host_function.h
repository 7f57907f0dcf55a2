// The host's half of a device's function, as C++ over the headers that authors of kernels use.
#ifndef KERNPACK_SDK_SRC_CODEGEN_DEVICE_CXX_HOST_FUNCTION_H_
#define KERNPACK_SDK_SRC_CODEGEN_DEVICE_CXX_HOST_FUNCTION_H_

#include "codegen/c_family/body.h"
#include "codegen/device/module.h"

namespace kernpack::sdk::ir {

const Dialect& HostCxx();

class HostFunction : public CBody {
 public:
  // `f` is one of the module's. `functions` has their names, `helpers` are of HostCxx().
  HostFunction(const DeviceModule& module, const FuncNode& f, Helpers* helpers, const Names& functions);
  // The function itself, of the program's image, the device, memory, scalars and extents.
  std::string Write();
  // After that: a function for KP_EXPORT that takes tensors and calls it with the image of that name.
  std::string Entry(const std::string& entry, const std::string& image);

 protected:
  void Special(const StmtNode& s) override;

 private:
  const DeviceModule& module_;
  const Names& functions_;

  // Extent `dimension` of an argument as the function sees it.
  std::string Size(const Param& p, size_t dimension);
  void AllocLines(const StmtNode& s);
  void LaunchLines(const StmtNode& s);
  void CallLine(const StmtNode& s);
  void AssertLine(const StmtNode& s);
  // "kp_bytes_of(4, {N, 8})"; `times`, if not "", is one more factor.
  std::string Bytes(const BufferNode& buffer, const std::string& times);
};

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_SRC_CODEGEN_DEVICE_CXX_HOST_FUNCTION_H_
