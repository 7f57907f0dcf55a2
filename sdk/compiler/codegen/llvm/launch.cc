// The host's half of a device's function: its memory there, its launches.
#include <kernpack/error.h>

#include "codegen/llvm/constants.h"
#include "codegen/llvm/function.h"
#include "codegen/llvm/types.h"

namespace kernpack::sdk::ir {
namespace {

// The KpFrameParameters of an imported kernel.
std::vector<llvm::Constant*> DescribeParameters(const ImportedKernel& kernel, const ConstantMaker& make) {
  std::vector<llvm::Constant*> parameters;
  for (const ImportedParameter& p : kernel.parameters) {
    llvm::Constant* map = p.map.empty() ? make.Null() : make.Words(p.map);
    parameters.push_back(make.Struct({make.U32(p.argument), make.U32(0), map, make.TextOrNull(p.tensor)}));
  }
  return parameters;
}

}  // namespace

// The value that was passed as the instance is the whole call.
void FunctionGenerator::EnterCall() {
  scope_.self = b_.CreateLoad(b_.getPtrTy(), b_.CreateStructGEP(FrameCallType(b_), scope_.call, 0));
}

void FunctionGenerator::Describe(llvm::Value* argument, KpKernelArgKind kind, int64_t size, llvm::Value* data) {
  llvm::StructType* type = KernelArgType(b_);
  llvm::Value* members[] = {b_.getInt32(kind), b_.getInt32(static_cast<uint32_t>(size)), data, b_.getInt64(0)};
  for (unsigned i = 0; i < 4; ++i) b_.CreateStore(members[i], b_.CreateStructGEP(type, argument, i));
}

// `times`, if not null, is one more extent.
llvm::Value* FunctionGenerator::DeviceMemory(const BufferNode& b, llvm::Value* times) {
  if (b.scope != Scope::kWorkspace && b.scope != Scope::kPersistent && !times) {
    KP_THROW(NotImplementedError) << f_.name << ": " << ScopeName(b.scope) << " memory '" << b.name
                                  << "' outside of a launch";
  }
  llvm::Value* handle = Scratch(b, b_.CreateStructGEP(FrameCallType(b_), scope_.call, 2), times);
  llvm::AllocaInst* argument = Local(KernelArgType(b_));
  Describe(argument, KP_ARG_MEMORY, b.element.itemsize(), handle);
  return argument;
}

// The KpFrameAsserts of a kernel.
llvm::Constant* FunctionGenerator::DescribeAsserts(const Kernel& kernel) {
  const ConstantMaker make(&module_);
  std::vector<llvm::Constant*> asserts;
  for (const StmtNode* s : kernel.asserts) {
    asserts.push_back(make.Struct({make.Text(s->name), make.Text(s->text), make.U32(s->args.size() - 1), make.U32(0)}));
  }
  return make.Array(asserts);
}

// The KpFrameKernels of an imported kernel.
llvm::Constant* FunctionGenerator::DescribeImported(const Kernel& kernel) {
  const ConstantMaker make(&module_);
  auto* codes = module_.getGlobalVariable(kCodesName, /*AllowInternal=*/true);
  llvm::Type* code = codes->getValueType()->getArrayElementType();
  std::vector<llvm::Constant*> kernels;
  for (const ImportedKernel& k : kernel.imported) {
    kernels.push_back(make.Struct({make.Behind(codes, code, k.image), make.Text(k.entry), make.U64(k.multiples),
                                   make.U32(k.shared), make.U32(k.cluster[0]), make.U32(k.cluster[1]),
                                   make.U32(k.cluster[2]), make.U32(k.cooperative ? KP_LAUNCH_COOPERATIVE : 0),
                                   make.U32(k.parameters.size()), make.Array(DescribeParameters(k, make))}));
  }
  return make.Array(kernels);
}

// Memory with the value.
llvm::Value* FunctionGenerator::ScalarArgument(const KernelArgument& argument) {
  const Type type = argument.value ? argument.value->type : argument.var->type;
  llvm::Value* value = argument.value ? E(argument.value) : scope_.vars.at(argument.var.get());
  llvm::AllocaInst* memory = Local(MemoryType(b_.getContext(), type));
  b_.CreateStore(ToMemory(type, value), memory);
  return memory;
}

void FunctionGenerator::Launch(const StmtNode& s) {
  const Kernel& kernel = device_->GetKernel(s);
  // An imported kernel's have the bytes of dynamic shared memory behind them.
  const size_t num_extents = kernel.imported.empty() ? 6 : 7;
  llvm::AllocaInst* extents = Local(llvm::ArrayType::get(b_.getInt64Ty(), num_extents));
  for (size_t d = 0; d < num_extents; ++d) {
    b_.CreateStore(Index(s.args[d]), b_.CreateConstInBoundsGEP1_64(b_.getInt64Ty(), extents, d));
  }
  const size_t n = kernel.arguments.size();
  llvm::AllocaInst* list = Local(llvm::ArrayType::get(KernelArgType(b_), std::max<size_t>(n, 1)));
  llvm::Value* threads = nullptr;
  for (size_t i = 0; i < n; ++i) {
    const KernelArgument& argument = kernel.arguments[i];
    llvm::Value* to = b_.CreateConstInBoundsGEP1_64(KernelArgType(b_), list, i);
    if (argument.kind == KernelArgument::kAsserts) continue;  // the frame's
    if (argument.kind == KernelArgument::kBlock) {
      Describe(to, KP_ARG_LOCAL, argument.bytes, llvm::ConstantPointerNull::get(b_.getPtrTy()));
      continue;
    }
    if (argument.kind == KernelArgument::kScalar) {
      const Type type = argument.value ? argument.value->type : argument.var->type;
      Describe(to, KP_ARG_VALUE, type.itemsize(), ScalarArgument(argument));
      continue;
    }
    llvm::Value* memory = nullptr;
    if (argument.kind == KernelArgument::kMemory) {
      memory = scope_.buffers.at(argument.buffer.get());
    } else {
      if (!threads) {
        llvm::AllocaInst* count = Local(b_.getInt64Ty());
        CheckCall(CallFrame("kp_frame_threads", {scope_.call, extents, count}));
        threads = b_.CreateLoad(b_.getInt64Ty(), count);
      }
      memory = DeviceMemory(*argument.buffer, threads);
    }
    b_.CreateMemCpy(to, llvm::Align(8), memory, llvm::Align(8), sizeof(KpKernelArg));
  }
  if (!kernel.imported.empty()) {
    CheckCall(CallFrame("kp_frame_launch_imported", {scope_.call, DescribeImported(kernel),
                                                     b_.getInt32(static_cast<uint32_t>(kernel.imported.size())),
                                                     extents, b_.getInt32(static_cast<uint32_t>(n)), list}));
    return;
  }
  std::vector<llvm::Value*> args = {scope_.call, TextConstant(&module_, kernel.name), extents,
                                    b_.getInt32(static_cast<uint32_t>(n)), list};
  if (!kernel.asserts.empty()) args.push_back(DescribeAsserts(kernel));
  CheckCall(CallFrame(kernel.asserts.empty() ? "kp_frame_launch" : "kp_frame_launch_asserting", args));
}

}  // namespace kernpack::sdk::ir
