// The host's half of a device's function, as C++ over the headers that authors of kernels use.
#ifndef KERNPACK_SDK_SRC_CODEGEN_DEVICE_HOST_H_
#define KERNPACK_SDK_SRC_CODEGEN_DEVICE_HOST_H_

#include "codegen/c_family/body.h"
#include "codegen/device/kernel.h"

namespace kernpack::sdk::ir {

const Dialect& HostCxx();

// What a device's program gathers while its functions are written.
struct DeviceProgram {
  DeviceProgram(const KernelDialect& dialect_) : dialect(dialect_), helpers(dialect_) {}

  const KernelDialect& dialect;
  Helpers helpers;
  std::string kernels;

  std::string Text() const { return dialect.Prelude() + helpers.Text() + kernels; }
};

class HostFunction : public CBody {
 public:
  // `f` is one of WithLaunches(); its kernels go to `program`. `functions` has the names of the module's functions, `helpers` are
  // of HostCxx().
  HostFunction(const IRModule& module, const FuncNode& f, Helpers* helpers, Names* functions, DeviceProgram* program);
  // The function itself, of the program's image, the device, memory, scalars and extents.
  std::string Write();
  // After that: a function for KP_EXPORT that takes tensors and calls it with the image of that name.
  std::string Entry(const std::string& entry, const std::string& image);

 protected:
  void Special(const StmtNode& s) override;

 private:
  const IRModule& module_;
  Names& functions_;
  DeviceProgram& program_;

  void AllocLines(const StmtNode& s);
  void LaunchLines(const StmtNode& s);
  void CallLine(const StmtNode& s);
  // "kp_bytes_of(4, {N, 8})"; `times`, if not "", is one more factor.
  std::string Bytes(const BufferNode& buffer, const std::string& times);
};

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_SRC_CODEGEN_DEVICE_HOST_H_
