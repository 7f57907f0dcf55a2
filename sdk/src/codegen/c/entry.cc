#include "codegen/c/entry.h"

#include <kernpack/error.h>

#include "codegen/binder.h"

namespace kernpack::sdk::ir {
namespace {

const char* CodeName(Type t) {
  switch (t.code) {
    case KP_DTYPE_INT:
      return "KP_DTYPE_INT";
    case KP_DTYPE_UINT:
      return "KP_DTYPE_UINT";
    case KP_DTYPE_FLOAT:
      return "KP_DTYPE_FLOAT";
    case KP_DTYPE_BFLOAT:
      return "KP_DTYPE_BFLOAT";
    case KP_DTYPE_BOOL:
      return "KP_DTYPE_BOOL";
    case KP_DTYPE_FLOAT8_E4M3FN:
      return "KP_DTYPE_FLOAT8_E4M3FN";
    default:
      return "KP_DTYPE_FLOAT8_E5M2";
  }
}

class Entry {
 public:
  Entry(const FuncNode& f, const std::string& inner, Helpers* helpers)
      : f_(f), h_(*helpers), names_([d = &helpers->dialect()](std::string_view name) { return d->IsReserved(name); }) {
    names_.Fresh(inner);
    names_.Fresh("n");
    names_.Fresh("t");
  }

  std::string Lines(const std::string& inner) {
    const size_t n = f_.params.size();
    Line("const KpHost* const host = ((KpInstance*)self)->host;");
    Line("(void)result;");
    if (n == 0) Line("(void)args;");
    Line("if (kp_count(host, " + CString(f_.name) + ", n, " + std::to_string(n) + ")) return -1;");
    for (size_t i = 0; i < n; ++i) Unpack(i);
    for (const DimBinder& binder : BindersOf(f_)) {
      Line("const int64_t " + names_.Define(binder.var.get(), binder.var->name) + " = " +
           Size(f_.params[binder.param], binder.axis) + ";");
    }
    std::vector<std::string> given{"host"};
    for (const Param& p : f_.params) {
      CheckShape(p);
      const char* access = p.role == Role::kInput ? "(const " : "(";
      given.push_back(p.buffer ? access + CMemory(p.buffer->element) + "*)kp_data(" + NameOf(p) + ")"
                               : "(" + CElement(p.var->type) + ")" + NameOf(p));
      if (!p.buffer && p.var->type.is_floating_point()) given.back() = h_.Cast(kF64, p.var->type, NameOf(p));
    }
    for (const Var& v : ShapeVars(f_)) given.push_back(names_.Get(v.get(), v->name));
    Line("return " + CallOf(inner, given) + ";");
    return out_;
  }

 private:
  const FuncNode& f_;
  Helpers& h_;
  Names names_;
  std::string out_;

  void Line(const std::string& text) { out_ += "  " + text + "\n"; }
  std::string What(const Param& p) const { return CString(f_.name + ": " + p.name()); }
  const std::string& NameOf(const Param& p) {
    return names_.Define(p.buffer ? static_cast<const void*>(p.buffer.get()) : p.var.get(), p.name());
  }

  // Extent d of the tensor as the function sees it.
  std::string Size(const Param& p, size_t d) {
    const std::string& name = NameOf(p);
    if (!p.has_any_rank()) return name + "->shape[" + std::to_string(d) + "]";
    const size_t rest = p.buffer->shape.size() - 1;
    if (d == 0) return "kp_leading(" + name + ", " + std::to_string(rest) + ")";
    return name + "->shape[" + name + "->ndim - " + std::to_string(rest - d + 1) + "]";
  }

  void Unpack(size_t i) {
    const Param& p = f_.params[i];
    const std::string& name = NameOf(p);
    const std::string head = "(host, " + What(p) + ", &args[" + std::to_string(i) + "], ";
    if (p.buffer) {
      const Type t = p.buffer->element;
      Line("const KpDLTensor* " + name + ";");
      Line("if (kp_tensor" + head + CodeName(t) + ", " + std::to_string(t.bits) + ", " +
           std::to_string(p.buffer->shape.size() - p.has_any_rank()) + ", " + (p.has_any_rank() ? "true" : "false") +
           ", &" + name + ")) return -1;");
      return;
    }
    const Type t = p.var->type;
    if (t.is_floating_point()) {
      Line("double " + name + ";");
      Line("if (kp_number" + head + "&" + name + ")) return -1;");
      return;
    }
    const std::string low = IsSigned(t) ? CMin(t) : "0";
    const std::string high = IsBool(t) ? "1" : t.bits == 64 ? CMax(kI64) : CMax(t);
    Line("int64_t " + name + ";");
    Line("if (kp_integer" + head + Bare(low) + ", " + high + ", &" + name + ")) return -1;");
  }

  bool Binds(const Param& p, size_t d) const {
    for (const DimBinder& binder : BindersOf(f_)) {
      if (&f_.params[binder.param] == &p && binder.axis == d) return true;
    }
    return false;
  }

  void CheckShape(const Param& p) {
    if (!p.buffer) return;
    for (size_t d = 0; d < p.buffer->shape.size(); ++d) {
      if (Binds(p, d)) continue;
      Line("if (kp_extent(host, " + What(p) + ", " + std::to_string(d) + ", " + Size(p, d) + ", " +
           Bare(Extent(p.buffer->shape[d])) + ")) return -1;");
    }
  }

  std::string Extent(const Expr& e) {
    if (e->op == Op::kConst) return CConst(e->type, e->bits());
    if (e->op == Op::kVar) {
      const std::string name = names_.Get(e->var().get(), e->var()->name);
      return e->var()->type == kI64 ? name : "(" + CElement(e->var()->type) + ")" + name;
    }
    std::vector<std::string> args;
    for (const Expr& a : e->args) args.push_back(Extent(a));
    if (e->op == Op::kCast) return h_.Cast(e->args[0]->type, e->type, args[0]);
    if (e->op == Op::kStrict) return args[0];
    if (e->op == Op::kSelect) return h_.Select(e->type, args[0], args[1], args[2]);
    if (HasTwoOperands(ClassOf(e->op))) return h_.Binary(e->op, e->args[0]->type, args[0], args[1]);
    if (args.size() == 1 && ClassOf(e->op) == OpClass::Unary) return h_.Unary(e->op, e->type, args[0]);
    KP_THROW(NotImplementedError) << f_.name << ": an extent of a parameter uses '" << OpName(e->op) << '\'';
  }
};

}  // namespace

std::string WriteEntry(const FuncNode& f, const std::string& name, const std::string& inner, Helpers* helpers) {
  return "\nstatic int " + name + "(void* self, const KpAny* args, int32_t n, KpAny* result) {\n" +
         Entry(f, inner, helpers).Lines(inner) + "}\n";
}

}  // namespace kernpack::sdk::ir
