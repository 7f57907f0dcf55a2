#include "codegen/device/c_host_function.h"

#include <algorithm>

namespace kernpack::sdk::ir {
namespace {

// A KpKernelArg.
std::string MemoryAt(const std::string& raw, Type element) {
  return "{KP_ARG_MEMORY, " + std::to_string(element.itemsize()) + ", " + raw + ", 0}";
}

}  // namespace

CHostFunction::CHostFunction(const DeviceModule& module, const FuncNode& f, Helpers* helpers, Names* functions)
    : CFunction(module.module(), f, helpers, functions), device_(module) {}

void CHostFunction::DefineMemory(const Buffer& buffer, const std::string& raw) {
  if (buffer->scope != Scope::kWorkspace && buffer->scope != Scope::kPersistent) {
    Refuse(std::string(ScopeName(buffer->scope)) + " memory '" + buffer->name + "' outside of a launch");
  }
  const std::string name = names_.Get(buffer.get(), buffer->name), place = names_.Fresh(name + "_place");
  Line("const KpKernelArg " + place + " = " + MemoryAt(raw, buffer->element) + ";");
  Line("const KpKernelArg* const " + name + " = &" + place + ";");
}

std::string CHostFunction::FormatArgument(const KernelArgument& argument, const Kernel& kernel) {
  if (argument.kind == KernelArgument::kAsserts) return "{KP_ARG_MEMORY, 0, NULL, 0}";  // the frame's
  if (argument.kind == KernelArgument::kBlock) return "{KP_ARG_LOCAL, " + std::to_string(argument.bytes) + ", NULL, 0}";
  if (argument.kind == KernelArgument::kMemory) return "*" + Name(argument.buffer);
  if (argument.kind == KernelArgument::kScratch) {
    const BufferNode& b = *argument.buffer;
    return MemoryAt(ScratchLines(b, f_.name + " " + kernel.name + " " + b.name, "kp_threads"), b.element);
  }
  const Type type = argument.var->type;
  const std::string value = names_.Fresh(argument.var->name + "_value");
  Line("const " + CMemory(type) + " " + value + " = " + Bare(Helpers::ToMemory(type, Name(argument.var))) + ";");
  return "{KP_ARG_VALUE, sizeof " + value + ", &" + value + ", 0}";
}

void CHostFunction::LaunchLines(const StmtNode& s) {
  const Kernel& kernel = device_.GetKernel(s);
  const std::vector<KernelArgument>& arguments = kernel.arguments;
  std::string extents, list, asserts;
  for (size_t d = 0; d < 6; ++d) extents += (d ? ", " : "") + E(Cast(kI64, s.args[d]));
  Line("{");
  indent_ += 2;
  Line("const int64_t kp_extents[] = {" + extents + "};");
  if (std::any_of(arguments.begin(), arguments.end(),
                  [](const KernelArgument& a) { return a.kind == KernelArgument::kScratch; })) {
    Line("int64_t kp_threads = 0;");
    Line("if (kp_frame_threads(kp_call, kp_extents, &kp_threads)) return -1;");
  }
  for (const KernelArgument& argument : arguments)
    list += (list.empty() ? "" : ", ") + FormatArgument(argument, kernel);
  Line("KpKernelArg kp_arguments[] = {" + (list.empty() ? "{0, 0, NULL, 0}" : list) + "};");
  const std::string head =
      "(kp_call, " + CString(kernel.name) + ", kp_extents, " + std::to_string(arguments.size()) + ", kp_arguments";
  if (kernel.asserts.empty()) {
    Line("if (kp_frame_launch" + head + ")) return -1;");
  } else {
    for (const StmtNode* a : kernel.asserts) {
      asserts += (asserts.empty() ? "{" : ", {") + CString(a->name) + ", " + CString(a->text) + ", " +
                 std::to_string(a->args.size() - 1) + ", 0}";
    }
    Line("static const KpFrameAssert kp_asserts[] = {" + asserts + "};");
    Line("if (kp_frame_launch_asserting" + head + ", kp_asserts)) return -1;");
  }
  indent_ -= 2;
  Line("}");
}

}  // namespace kernpack::sdk::ir
