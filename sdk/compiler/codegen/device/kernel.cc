#include "codegen/device/kernel.h"

#include <kernpack/sdk/ir/visitor.h>

#include <algorithm>

#include "ir/uniform.h"

namespace kernpack::sdk::ir {
namespace {

// Another name that goes with one that is unique; names of the IR that begin with kp_ are reserved.
std::string Derived(const std::string& name, const char* what) { return "kp_" + name + what; }

// The first C function that is called; "" where there is none.
std::string ExternIn(const Block& block) {
  class Finder : public Visitor {
   public:
    std::string found;
    void VisitExpr(const Expr& e) override {
      if (e->op == Op::kExtern && found.empty()) found = std::get<std::string>(e->detail);
      Visitor::VisitExpr(e);
    }
  } finder;
  finder.VisitBlock(block);
  return finder.found;
}

bool HoldsBarrier(const Block& block) {
  return std::any_of(block.begin(), block.end(), [](const Stmt& s) { return ir::HoldsBarrier(*s); });
}

Expr Elements(const BufferNode& buffer) {
  Expr count = Expr(int64_t{1});
  for (const Expr& extent : buffer.shape) count = count * Cast(kI64, extent);
  return count;
}

}  // namespace

KernelText::KernelText(const FuncNode& f, Helpers* helpers, const KernelDialect& dialect, const Ranges& ranges,
                       bool checked)
    : CBody(f, helpers), kernels_(dialect), checked_(checked) {
  ranges_ = ranges;
}

void KernelText::Mention(const Var& var) {
  if (!known_.insert(var.get()).second) return;
  if (var->type.lanes > 1) Refuse("a vector '" + var->name + "' that is made on the host and used in a launch");
  names_.Define(var.get(), var->name);
  arguments_.push_back({KernelArgument::kScalar, var, {}});
}

void KernelText::Mention(const Buffer& buffer) {
  if (!known_.insert(buffer.get()).second) return;
  names_.Define(buffer.get(), buffer->name);
  arguments_.push_back({KernelArgument::kMemory, {}, buffer});
}

void KernelText::NeedHostExtents(const Buffer& buffer) const {
  for (const Expr& extent : buffer->shape) {
    if (extent->op != Op::kVar || known_.count(extent->var().get()) == 0) continue;
    const bool given = std::any_of(arguments_.begin(), arguments_.end(),
                                   [&](const KernelArgument& a) { return a.var == extent->var(); });
    if (!given) Refuse("memory '" + buffer->name + "' of a size that is computed inside a launch");
  }
}

// The first assert of the launch that fails is kept, whichever thread's it is. The thread ends there, unless others would wait for
// it: in a checked module it may go on, as no access after it leaves its memory.
void KernelText::Assert(const StmtNode& s) {
  if (waits_ && !checked_) {
    Refuse("an assert inside a launch with barriers; check before the launch, or build it checked");
  }
  asserts_.push_back(&s);
  std::string values;
  for (size_t i = 1; i <= kMostAssertValues; ++i) values += ", " + (i < s.args.size() ? E(s.args[i]) : "0");
  Line("if (!" + E(s.args[0]) + ") {");
  Line("  kp_fail(kp_asserts, " + std::to_string(asserts_.size()) + values + ");");
  if (!waits_) Line("  return;");
  Line("}");
}

void KernelText::Scratch(const Buffer& buffer) {
  NeedHostExtents(buffer);
  const std::string name = Define(buffer);
  arguments_.push_back({KernelArgument::kScratch, {}, buffer});
  Line(Pointer(buffer) + name + " = " + Derived(name, "_of_all") + " + kp_thread() * " + E(Elements(*buffer)) + ";");
}

// Arrays; beyond what the language gives those, parts of one that the launch gives the size of.
std::string KernelText::SharedLines() {
  constexpr int64_t kAlignment = 16;
  const auto elements = [](const Buffer& b) { return std::max<int64_t>(ConstantSize(*b), 1); };
  const auto span = [&](const Buffer& b) {
    return (elements(b) * b->element.itemsize() + kAlignment - 1) / kAlignment * kAlignment;
  };
  int64_t bytes = 0;
  for (const auto& [b, name] : shared_) bytes += span(b);
  const bool one = bytes > kernels_.MostInArrays();
  std::string lines = one ? "  " + kernels_.BlockMemory() + "\n" : "";
  int64_t at = 0;
  for (const auto& [b, name] : shared_) {
    const std::string type = CMemory(b->element);
    if (one) {
      lines += "  " + type + "* const " + name + " = (" + type + "*)(kp_block + " + std::to_string(at) + ");\n";
      at += span(b);
    } else {
      lines += "  " + kernels_.Shared() + type + " " + name + "[" + std::to_string(elements(b)) + "];\n";
    }
  }
  if (one) arguments_.push_back({KernelArgument::kBlock, {}, {}, bytes});
  return lines;
}

void KernelText::Special(const StmtNode& s) {
  switch (s.kind) {
    case StmtKind::kAlloc:
      if (s.buffer->scope == Scope::kShared) {
        shared_.emplace_back(s.buffer, Define(s.buffer));
        return;
      }
      if (s.buffer->scope == Scope::kPersistent) {
        Refuse("persistent memory '" + s.buffer->name + "' inside a launch; allocate it before");
      }
      return Scratch(s.buffer);
    case StmtKind::kAssert:
      return Assert(s);
    case StmtKind::kCall:
      Refuse("a call of '" + s.name + "' inside a launch");
    case StmtKind::kReturn:
      Refuse("a return inside a launch");
    case StmtKind::kLaunch:
      Refuse("a launch with barriers or shared memory that depends on memory of the device");
    default:
      CBody::Special(s);
  }
}

void KernelText::AddParameter(const KernelArgument& argument, std::string* parameters, std::string* bindings) {
  if (argument.kind == KernelArgument::kBlock) return;
  std::string parameter;
  if (argument.kind == KernelArgument::kScalar) {
    const std::string name = Name(argument.var);
    parameter =
        "const " + CMemory(argument.var->type) + " " + (IsBool(argument.var->type) ? Derived(name, "_byte") : name);
    if (IsBool(argument.var->type)) *bindings += "  const bool " + name + " = " + Derived(name, "_byte") + " != 0;\n";
  } else if (argument.kind == KernelArgument::kAsserts) {
    const std::string pointer = dialect_.Space(Scope::kGlobal) + "int64_t* ";
    parameter = kernels_.MemoryParameter(pointer, "kp_asserts");
    *bindings += kernels_.MemoryBinding(pointer, "kp_asserts");
  } else {
    const bool all = argument.kind == KernelArgument::kScratch;
    const std::string plain = Name(argument.buffer), name = all ? Derived(plain, "_of_all") : plain;
    const std::string pointer = Pointer(argument.buffer);
    parameter = kernels_.MemoryParameter(pointer, name);
    *bindings += kernels_.MemoryBinding(pointer, name);
  }
  *parameters += (parameters->empty() ? "" : ", ") + parameter;
}

std::string KernelText::Write(const StmtNode& launch, const std::string& name) {
  if (const std::string called = ExternIn(launch.body); !called.empty()) {
    Refuse("extern \"" + called + "\": device code calls no C function");
  }
  waits_ = HoldsBarrier(launch.body);
  Lines(launch.body);
  const std::string shared = SharedLines();
  if (!asserts_.empty()) arguments_.push_back({KernelArgument::kAsserts, {}, {}});
  std::string parameters, bindings;
  for (size_t i = 0; i < arguments_.size(); ++i) AddParameter(arguments_[i], &parameters, &bindings);
  int64_t threads[3] = {};
  for (size_t d = 0; d < 3; ++d) {
    if (!IsConstInt(launch.args[3 + d], &threads[d])) threads[d] = 0;
  }
  return "\n" + kernels_.Head(name, threads) + parameters + ") {\n" + bindings + shared + out_ + "}\n";
}

}  // namespace kernpack::sdk::ir
