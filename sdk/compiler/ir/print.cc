#include <kernpack/sdk/ir/text.h>

#include "ir/print_expr.h"

namespace kernpack::sdk::ir {
namespace {

class Printer {
 public:
  std::string Function(const FuncNode& f) {
    std::string params, results;
    for (const Param& p : f.params)
      names_.Define(p.buffer ? static_cast<const void*>(p.buffer.get()) : p.var.get(), p.name());
    for (const Var& v : ShapeVars(f)) names_.Define(v.get(), v->name);
    for (const Param& p : f.params) {
      std::string& list = p.role == Role::kResult ? results : params;
      list += (list.empty() ? "" : ", ") + OneParam(p);
    }
    out_ = std::string(f.is_private ? "private " : "") + "func " + f.name + "(" + params + ") -> (" + results + ")";
    if (!f.target.empty()) out_ += " target " + Quote(f.target);
    if (!f.signature.empty()) out_ += " signature " + Quote(f.signature);
    if (!f.gradient.empty()) out_ += " grad " + Quote(f.gradient);
    out_ += " ";
    Body(f.body);
    return out_ + "\n";
  }

 private:
  Names names_{IsReservedWord};
  std::string out_;
  int indent_ = 0;

  std::string Expr_(const Expr& e) { return PrintExpr(e, &names_); }

  std::string Tensor(const BufferNode& b) { return TypeName(b.element) + "[" + PrintList(b.shape, &names_) + "]"; }

  std::string OneParam(const Param& p) {
    if (!p.buffer) return names_.Get(p.var.get(), p.name()) + ": " + TypeName(p.var->type);
    const std::string head = names_.Get(p.buffer.get(), p.name()) + (p.role == Role::kInOut ? "!: " : ": ");
    if (!p.has_any_rank()) return head + Tensor(*p.buffer);
    const std::vector<Expr>& shape = p.buffer->shape;
    const std::string rest = PrintList({shape.begin() + 1, shape.end()}, &names_);
    return head + TypeName(p.buffer->element) + "[" + Expr_(shape[0]) + "..." + (rest.empty() ? "" : ", ") + rest + "]";
  }

  void Body(const Block& block) {
    out_ += "{\n";
    indent_ += 2;
    for (const Stmt& s : block) {
      out_.append(static_cast<size_t>(indent_), ' ');
      Statement(*s);
      out_ += "\n";
    }
    indent_ -= 2;
    out_.append(static_cast<size_t>(indent_), ' ');
    out_ += "}";
  }

  void Alloc_(const BufferNode& b) {
    const std::string tensor = Tensor(b);
    out_ += "alloc " + names_.Define(&b, b.name) + ": " + tensor + " " + ScopeName(b.scope);
    if (b.scope == Scope::kPersistent) out_ += "(" + Quote(b.key) + (b.zeroed ? ", zeroed)" : ")");
  }

  void For_(const StmtNode& s) {
    switch (s.for_kind) {
      case ForKind::kSerial:
        out_ += "for ";
        break;
      case ForKind::kParallel:
        out_ += s.lanes ? "parallel(" + std::to_string(s.lanes) + ") " : "parallel ";
        break;
      case ForKind::kVectorized:
        out_ += "vectorized(" + std::to_string(s.lanes) + (s.tail == Tail::kMasked ? ", masked) " : ") ");
        break;
      case ForKind::kUnrolled:
        out_ += "unrolled ";
        break;
    }
    const std::string range = Expr_(s.args[0]) + ".." + Expr_(s.args[1]);
    out_ += names_.Define(s.var.get(), s.var->name) + " in " + range + " ";
    Body(s.body);
  }

  void Launch_(const StmtNode& s) {
    const auto at = [&s](int i) { return s.args.begin() + i; };
    out_ += "launch grid(" + PrintList({at(0), at(3)}, &names_) + ") block(" + PrintList({at(3), at(6)}, &names_) +
            ") shared(" + Expr_(s.args[6]) + ") ";
    Body(s.body);
  }

  void Call_(const StmtNode& s) {
    std::string list;
    for (const Buffer& b : s.buffers) list += (list.empty() ? "" : ", ") + names_.Get(b.get(), b->name);
    if (!s.args.empty()) list += (list.empty() ? "" : ", ") + PrintList(s.args, &names_);
    out_ += "call " + s.name + "(" + list + ")";
  }

  void Statement(const StmtNode& s) {
    switch (s.kind) {
      case StmtKind::kLet: {
        const std::string value = Expr_(s.args[0]);
        out_ += "let " + names_.Define(s.var.get(), s.var->name) + ": " + TypeName(s.var->type) + " = " + value;
        break;
      }
      case StmtKind::kStore: {
        const std::vector<Expr> indices(s.args.begin(), s.args.end() - 1);
        out_ += names_.Get(s.buffer.get(), s.buffer->name) + "[" + PrintList(indices, &names_) +
                "] = " + Expr_(s.args.back());
        if (s.mask) out_ += " where " + Expr_(s.mask);
        break;
      }
      case StmtKind::kAlloc:
        Alloc_(*s.buffer);
        break;
      case StmtKind::kFor:
        For_(s);
        break;
      case StmtKind::kIf:
        out_ += "if " + Expr_(s.args[0]) + " ";
        Body(s.body);
        if (!s.otherwise.empty()) {
          out_ += " else ";
          Body(s.otherwise);
        }
        break;
      case StmtKind::kAssert:
        out_ += "assert " + Expr_(s.args[0]) + ", " + s.name + " " + Quote(s.text);
        for (size_t i = 1; i < s.args.size(); ++i) out_ += ", " + Expr_(s.args[i]);
        break;
      case StmtKind::kBarrier:
        out_ += "barrier";
        break;
      case StmtKind::kLaunch:
        Launch_(s);
        break;
      case StmtKind::kCall:
        Call_(s);
        break;
      case StmtKind::kEvaluate:
        out_ += "evaluate " + Expr_(s.args[0]);
        break;
      case StmtKind::kReturn:
        out_ += "return";
        break;
      case StmtKind::kWhile:
        out_ += "while " + Expr_(s.args[0]) + " ";
        Body(s.body);
        break;
      case StmtKind::kBreak:
        out_ += "break";
        break;
      case StmtKind::kContinue:
        out_ += "continue";
        break;
    }
  }
};

}  // namespace

std::string Print(const FuncNode& function) { return Printer().Function(function); }

std::string Print(const IRModule& module) {
  std::string out = "module " + Quote(module.name);
  if (!module.target.empty()) out += " target " + Quote(module.target);
  if (module.checked) out += " checked";
  out += "\n";
  for (const PrimFunc& f : module.functions) out += "\n" + Print(*f);
  return out;
}

}  // namespace kernpack::sdk::ir
