#include "codegen/device/cxx_host_function.h"

#include <kernpack/error.h>
#include <kernpack/sdk/ir/visitor.h>

#include <algorithm>

#include "codegen/binder.h"

namespace kernpack::sdk::ir {
namespace {

class HostDialect final : public Dialect {
 public:
  const char* Kind() const override { return "host of a device"; }
  bool HasGnuVectors() const override { return false; }
  std::string Inline() const override { return "[[maybe_unused]] static inline "; }
  std::string Restrict() const override { return ""; }
  std::string Space(Scope) const override { return ""; }
  std::string Function(Op op, Type) const override {
    return op == Op::kAbs ? "std::fabs" : op == Op::kRound ? "std::rint" : "std::" + std::string(OpName(op));
  }
  std::string ThreadIndex(int) const override { RefuseIndex(); }
  std::string BlockIndex(int) const override { RefuseIndex(); }
  std::string Barrier() const override { return ";"; }  // the host is one thread
  bool IsReserved(std::string_view name) const override {
    static constexpr std::string_view kWords[] = {
        "alignas",   "and",       "catch",    "class",    "concept", "constexpr", "decltype", "delete",
        "device",    "explicit",  "export",   "final",    "friend",  "kernpack",  "kp",       "mutable",
        "namespace", "new",       "noexcept", "not",      "nullptr", "operator",  "or",       "override",
        "private",   "protected", "public",   "requires", "std",     "template",  "this",     "throw",
        "try",       "typeid",    "typename", "using",    "virtual", "xor"};
    return IsCWord(name) || std::find(std::begin(kWords), std::end(kWords), name) != std::end(kWords);
  }

 private:
  [[noreturn]] static void RefuseIndex() {
    KP_THROW(ValueError) << "the index of a thread or block outside of a launch";
  }
};

// "a, b"
void Append(std::string* list, const std::string& item) { *list += (list->empty() ? "" : ", ") + item; }

std::string CheckExtent(const FuncNode& f, const Param& p, size_t dimension, const std::string& got,
                        const std::string& wanted) {
  const std::string what = f.name + ": " + p.name() + ": dimension " + std::to_string(dimension) + ": expected ";
  return "  KP_CHECK(" + got + " == " + wanted + ", ValueError) << " + CString(what) + " << " + wanted +
         " << \", got \" << " + got + ";\n";
}

// What KP_EXPORT's glue converts a scalar argument to.
std::string ArgumentType(Type t) { return t.is_floating_point() ? "double" : CElement(t); }

}  // namespace

const Dialect& HostCxx() {
  static const HostDialect dialect;
  return dialect;
}

HostFunction::HostFunction(const DeviceModule& module, const FuncNode& f, Helpers* helpers, const Names& functions)
    : CBody(f, helpers), module_(module), functions_(functions) {
  for (const PrimFunc& other : module.module().functions) names_.Fresh(functions_.Get(other.get(), other->name));
}

std::string HostFunction::Write() {
  std::string parameters = "[[maybe_unused]] const kp::DeviceCode& image, [[maybe_unused]] kp::Device device";
  for (const Param& p : f_.params) {
    const std::string type = p.buffer ? "const kp::DeviceMemory& " : "const " + CElement(p.var->type) + " ";
    Append(&parameters, "[[maybe_unused]] " + type + (p.buffer ? Define(p.buffer) : Define(p.var)));
  }
  for (const Var& v : ShapeVars(f_)) Append(&parameters, "[[maybe_unused]] const int64_t " + Define(v));
  Lines(f_.body);
  return "\nstatic void " + functions_.Get(&f_, f_.name) + "(" + parameters + ") {\n" + out_ + "}\n";
}

std::string HostFunction::Entry(const std::string& entry, const std::string& image) {
  std::string parameters, arguments, device;
  for (const Param& p : f_.params) {
    const std::string name = p.buffer ? Name(p.buffer) : Name(p.var);
    const char* view = p.role == Role::kInput ? "kp::TensorView " : "kp::MutTensorView ";
    Append(&parameters, (p.buffer ? view : ArgumentType(p.var->type) + " ") + name);
    if (p.buffer && device.empty()) device = name + ".device()";
    const bool converted = !p.buffer && p.var->type.is_floating_point();
    Append(&arguments, converted ? h_.Cast(kF64, p.var->type, name) : name);
  }
  // Whatever a given signature leaves open, nothing leaves the tensors' memory.
  std::string checks;
  for (const DimBinder& binder : BindersOf(f_)) {
    checks += "  const int64_t " + Name(binder.var) + " = " + Size(f_.params[binder.param], binder.axis) + ";\n";
    Append(&arguments, Name(binder.var));
  }
  for (const Param& p : f_.params) {
    for (size_t d = 0; p.buffer && d < p.buffer->shape.size(); ++d) {
      checks += CheckExtent(f_, p, d, Size(p, d), E(p.buffer->shape[d]));
    }
  }
  return "\nstatic void " + entry + "(" + parameters + ") {\n" + checks + "  " + functions_.Get(&f_, f_.name) + "(" +
         image + ", " + device + ", " + arguments + ");\n}\n";
}

std::string HostFunction::Size(const Param& p, size_t dimension) {
  const std::string name = Name(p.buffer);
  if (!p.has_any_rank()) return name + ".size(" + std::to_string(dimension) + ")";
  const size_t rest = p.buffer->shape.size() - 1;
  if (dimension == 0) return "kp_leading(" + name + ", " + std::to_string(rest) + ")";
  return name + ".size(-" + std::to_string(rest - dimension + 1) + ")";
}

std::string HostFunction::Bytes(const BufferNode& buffer, const std::string& times) {
  std::string extents = times;
  for (const Expr& extent : buffer.shape) Append(&extents, E(Cast(kI64, extent)));
  return "kp_bytes_of(" + std::to_string(buffer.element.itemsize()) + ", {" + extents + "})";
}

void HostFunction::AllocLines(const StmtNode& s) {
  const BufferNode& b = *s.buffer;
  if (b.scope != Scope::kWorkspace && b.scope != Scope::kPersistent) {
    Refuse(std::string(ScopeName(b.scope)) + " memory '" + b.name + "' outside of a launch");
  }
  const bool kept = b.scope == Scope::kPersistent;
  const std::string name = Define(s.buffer), memory = names_.Fresh("kp_memory");
  const std::string key = kept ? "persistent " + b.key : f_.name + " " + name;
  Line("const kp::Workspace " + memory + "(device, " + CString(key) + ", " + Bytes(b, "") + ", " +
       (kept && b.zeroed ? "kp::zeroed" : "kp::uninitialized") + ");");
  Line("const kp::DeviceMemory " + name + "{" + memory + ".data(), 0, " + std::to_string(b.element.itemsize()) + "};");
}

void HostFunction::LaunchLines(const StmtNode& s) {
  const Kernel& kernel = module_.KernelOf(s);
  std::string extents[6];
  for (size_t d = 0; d < 6; ++d) extents[d] = Bare(E(s.args[d]));
  Line("{");
  indent_ += 2;
  const std::string shape = names_.Fresh("kp_launch");
  Line("const kp_shape " + shape + "{" + extents[0] + ", " + extents[1] + ", " + extents[2] + ", " + extents[3] + ", " +
       extents[4] + ", " + extents[5] + "};");
  std::string arguments;
  for (const KernelArgument& argument : kernel.arguments) {
    if (argument.kind == KernelArgument::kAsserts) continue;  // the launch's
    if (argument.kind == KernelArgument::kScalar) {
      Append(&arguments, (IsBool(argument.var->type) ? "static_cast<uint8_t>(" : "(") + Name(argument.var) + ")");
    } else if (argument.kind == KernelArgument::kMemory) {
      Append(&arguments, Name(argument.buffer));
    } else {
      const std::string memory = names_.Fresh("kp_memory");
      const std::string key = f_.name + " " + kernel.name + " " + argument.buffer->name;
      Line("const kp::Workspace " + memory + "(device, " + CString(key) + ", " +
           Bytes(*argument.buffer, shape + ".threads()") + ");");
      Append(&arguments,
             "kp::DeviceMemory{" + memory + ".data(), 0, " + std::to_string(argument.buffer->element.itemsize()) + "}");
    }
  }
  const std::string rest = (arguments.empty() ? "" : ", ") + arguments + ");";
  if (kernel.asserts.empty()) {
    Line("if (!" + shape + ".empty()) kp::launch(device, image, " + CString(kernel.name) + ", " + shape + ".grid(), " +
         shape + ".block()" + rest);
  } else {
    std::string asserts;
    for (const StmtNode* s : kernel.asserts) {
      const std::string count = std::to_string(s->args.size() - 1);
      Append(&asserts, "{" + CString(s->name) + ", " + CString(s->text) + ", " + count + "}");
    }
    Line("kp_launch_asserting(device, image, " + CString(kernel.name) + ", " + shape + ", {" + asserts + "}" + rest);
  }
  indent_ -= 2;
  Line("}");
}

void HostFunction::CallLine(const StmtNode& s) {
  const FuncNode& callee = *module_.module().Find(s.name);
  std::vector<Buffer> given(callee.params.size());
  std::string arguments = "image, device";
  size_t next_buffer = 0, next_scalar = 0;
  for (size_t i = 0; i < callee.params.size(); ++i) {
    if (callee.params[i].buffer) given[i] = s.buffers[next_buffer++];
    Append(&arguments, given[i] ? Name(given[i]) : E(s.args[next_scalar++]));
  }
  std::unordered_map<const VarNode*, Expr> meaning;
  next_scalar = 0;
  for (const Param& p : callee.params) {
    if (!p.buffer) meaning[p.var.get()] = s.args[next_scalar++];
  }
  for (const DimBinder& binder : BindersOf(callee)) {
    const Expr extent = Cast(kI64, given[binder.param]->shape[binder.axis]);
    meaning[binder.var.get()] = extent;
    Append(&arguments, E(extent));
  }
  for (size_t i = 0; i < callee.params.size(); ++i) {
    for (size_t d = 0; given[i] && d < given[i]->shape.size(); ++d) {
      const std::string wanted = E(Substitute(Cast(kI64, callee.params[i].buffer->shape[d]), meaning));
      const std::string got = E(Cast(kI64, given[i]->shape[d]));
      if (wanted != got) out_ += CheckExtent(callee, callee.params[i], d, got, wanted);
    }
  }
  Line(functions_.Get(&callee, callee.name) + "(" + arguments + ");");
}

void HostFunction::AssertLine(const StmtNode& s) {
  std::string said;
  size_t from = 0;
  for (size_t i = 1; i < s.args.size(); ++i) {
    const size_t at = s.text.find("{}", from);
    said += " << " + CString(s.text.substr(from, at - from)) + " << " + E(s.args[i]);
    from = at + 2;
  }
  Line("KP_CHECK(" + E(s.args[0]) + ", " + s.name + ")" + said + " << " + CString(s.text.substr(from)) + ";");
}

void HostFunction::Special(const StmtNode& s) {
  switch (s.kind) {
    case StmtKind::kAlloc:
      return AllocLines(s);
    case StmtKind::kLaunch:
      return LaunchLines(s);
    case StmtKind::kCall:
      return CallLine(s);
    case StmtKind::kAssert:
      return AssertLine(s);
    case StmtKind::kReturn:
      return Line("return;");
    default:
      return CBody::Special(s);
  }
}

}  // namespace kernpack::sdk::ir
