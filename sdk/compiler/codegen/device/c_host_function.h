// The host's half of a device's function, as C over the frame's functions.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_DEVICE_C_HOST_FUNCTION_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_DEVICE_C_HOST_FUNCTION_H_

#include "codegen/c/function.h"
#include "codegen/device/module.h"

namespace kernpack::sdk::ir {

// Takes the call (KpFrameCall) before what a function of the kind c takes; memory is that of the device, as KpKernelArg.
class CHostFunction final : public CFunction {
 public:
  // `f` is one of the module's.
  CHostFunction(const DeviceModule& module, const FuncNode& f, Helpers* helpers, Names* functions);

 private:
  const DeviceModule& device_;

  std::string FirstParameters() const override { return "const KpFrameCall* kp_call, "; }
  std::vector<std::string> FirstArguments() const override { return {"kp_call"}; }
  std::string BufferParameter(const Buffer&) const override { return "const KpKernelArg* "; }
  std::string ScratchHead() override { return "kp_frame_scratch(kp_call->self, &kp_call->device, "; }
  void DefineMemory(const Buffer& buffer, const std::string& raw) override;
  void LaunchLines(const StmtNode& s) override;
  // The argument's text in the list of a launch.
  std::string FormatArgument(const KernelArgument& argument, const Kernel& kernel);
};

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_DEVICE_C_HOST_FUNCTION_H_
