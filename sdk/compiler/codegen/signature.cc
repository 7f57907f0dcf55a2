#include <kernpack/error.h>
#include <kernpack/sdk/codegen/signature.h>
#include <kernpack/signature/program.h>

#include <cctype>
#include <map>

#include "codegen/signature_words.h"

namespace kernpack::sdk::ir {
namespace {

class Deriver {
 public:
  explicit Deriver(const FuncNode& f) : f_(f) {
    for (const Var& v : ShapeVars(f)) {
      std::string name = v->name;
      name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
      if (!std::isupper(static_cast<unsigned char>(name[0]))) name = "D" + name;
      while (taken_.count(name)) name += "_";
      taken_[name] = 1;
      dims_[v.get()] = name;
    }
  }

  std::string Run() {
    std::string params, results;
    for (const Param& p : f_.params) {
      const bool first_ok = std::islower(static_cast<unsigned char>(p.name()[0])) || p.name()[0] == '_';
      for (const char c : p.name()) {
        if (std::isupper(static_cast<unsigned char>(c)) || !first_ok) Refuse(p.name(), "a name in lower case");
      }
      std::string& list = p.role == Role::kResult ? results : params;
      list += (list.empty() ? "" : ", ") + p.name() + (p.role == Role::kInOut ? "!: " : ": ") + FormatType(p);
    }
    return "(" + params + ") -> (" + results + ")";
  }

 private:
  const FuncNode& f_;
  std::map<const VarNode*, std::string> dims_;
  std::map<std::string, int> taken_;

  [[noreturn]] void Refuse(const std::string& what, const char* expected) const {
    KP_THROW(ValueError) << f_.name << ": " << what << ": a signature needs " << expected
                         << "; give the function one yourself";
  }

  std::string FormatType(const Param& p) {
    if (!p.buffer) {
      const Type t = p.var->type;
      return IsBool(t) ? "bool" : IsInteger(t) ? "int" : "float";
    }
    std::string shape;
    for (const Expr& e : p.buffer->shape) shape += (shape.empty() ? "" : ", ") + Extent(e, p.name());
    return TypeName(p.buffer->element) + "[" + shape + "]";
  }

  std::string Extent(const Expr& e, const std::string& param) {
    int64_t value = 0;
    if (IsConstInt(e, &value)) return std::to_string(value);
    if (e->op == Op::kVar) {
      if (e->var()->leading) return "...";
      const auto found = dims_.find(e->var().get());
      if (found != dims_.end()) return found->second;
      for (const Param& p : f_.params) {
        if (p.var == e->var() && IsInteger(p.var->type)) return p.name();
      }
    }
    if (e->op == Op::kCast && IsInteger(e->args[0]->type)) return Extent(e->args[0], param);
    const char* infix = e->op == Op::kAdd        ? " + "
                        : e->op == Op::kSub      ? " - "
                        : e->op == Op::kMul      ? " * "
                        : e->op == Op::kFloorDiv ? " // "
                        : e->op == Op::kFloorMod ? " % "
                                                 : nullptr;
    if (infix) return "(" + Extent(e->args[0], param) + infix + Extent(e->args[1], param) + ")";
    if (e->op == Op::kMin || e->op == Op::kMax) {
      return std::string(OpName(e->op)) + "(" + Extent(e->args[0], param) + ", " + Extent(e->args[1], param) + ")";
    }
    Refuse(param, "extents of dims, int parameters, +, -, *, floordiv, floormod, min and max");
  }
};

// Checks that the signature marks exactly the parameters that the function writes.
void CheckMarks(const FuncNode& f, const signature::View& program) {
  for (int i = 0; i < program.NumParams() && static_cast<size_t>(i) < f.params.size(); ++i) {
    const Param& p = f.params[static_cast<size_t>(i)];
    if (signature::IsMarkedCompact(program.Param(i))) {
      KP_THROW(ValueError) << f.name << ": " << p.name()
                           << ": its signature marks it 'compact', but generated code makes no copies: take the mark "
                              "out, and callers pass contiguous tensors";
    }
    const bool marked = (signature::GetFlags(program.Param(i)) & KP_PARAM_MUTATED) != 0;
    if (marked == (p.role != Role::kInput)) continue;
    KP_THROW(ValueError) << f.name << ": " << p.name() << ": "
                         << (marked ? "its signature marks it as written, the function doesn't: declare it '"
                                    : "the function writes it, its signature doesn't say so: write '")
                         << p.name() << (marked ? "!:', or take the '!' out of the signature" : "!: ...' there");
  }
}

}  // namespace

std::string DeriveSignature(const FuncNode& function) { return Deriver(function).Run(); }

std::string SignatureOf(const FuncNode& f) {
  std::string text = f.signature.empty() ? DeriveSignature(f) : f.signature;
  CheckMarks(f, signature::View{CompileSignature(f.name, text).data()});
  return text;
}

}  // namespace kernpack::sdk::ir
