// Statements.
#include "codegen/c_family/body.h"

#include <kernpack/error.h>

#include <algorithm>

namespace kernpack::sdk::ir {
namespace {

// Larger local buffers are not for the stack.
constexpr int64_t kStackBytes = 16384;

}  // namespace

CBody::CBody(const FuncNode& f, Helpers* helpers)
    : f_(f),
      h_(*helpers),
      dialect_(helpers->dialect()),
      names_([d = &helpers->dialect()](std::string_view name) { return d->IsReserved(name); }),
      ranges_(f),
      registers_(FindRegisters(f.body)) {}

void CBody::Special(const StmtNode&) { Refuse("a statement that only the host can run"); }

void CBody::Refuse(const std::string& what) const {
  KP_THROW(NotImplementedError) << f_.name << ": the kind " << dialect_.Kind() << " cannot generate " << what;
}

const std::string& CBody::Define(const Var& var) {
  Introduce(var.get());
  return names_.Define(var.get(), var->name);
}
const std::string& CBody::Define(const Buffer& buffer) {
  Introduce(buffer.get());
  return names_.Define(buffer.get(), buffer->name);
}
std::string CBody::Name(const Var& var) {
  Mention(var);
  return names_.Get(var.get(), var->name);
}
std::string CBody::Name(const Buffer& buffer) {
  Mention(buffer);
  return names_.Get(buffer.get(), buffer->name);
}

bool CBody::IsInput(const Buffer& buffer) const {
  return std::any_of(f_.params.begin(), f_.params.end(),
                     [&buffer](const Param& p) { return p.buffer == buffer && p.role == Role::kInput; });
}
std::string CBody::Pointer(const Buffer& b) const {
  return (IsInput(b) ? "const " : "") + dialect_.Space(b->scope) + CMemory(b->element) + "* " + dialect_.Restrict();
}

int64_t CBody::ConstantSize(const BufferNode& b) {
  int64_t n = 1;
  for (const Expr& e : b.shape) {
    int64_t extent = 0;
    if (!IsConstInt(e, &extent) || __builtin_mul_overflow(n, extent, &n)) return -1;
  }
  return n;
}

void CBody::Line(const std::string& text) {
  out_.append(static_cast<size_t>(indent_), ' ');
  out_ += text + "\n";
}
void CBody::Lines(const Block& block) {
  for (const Stmt& s : block) Statement(*s);
}
void CBody::Indented(const Block& block) {
  indent_ += 2;
  Lines(block);
  indent_ -= 2;
}

void CBody::Statement(const StmtNode& s) {
  switch (s.kind) {
    case StmtKind::kLet: {
      const std::string value = Bare(E(s.args[0]));
      h_.Need(s.var->type);
      ranges_.Bind(s);
      return Line("const " + CType(s.var->type) + " " + Define(s.var) + " = " + value + ";");
    }
    case StmtKind::kStore:
      return StoreLine(s);
    case StmtKind::kAlloc:
      return AllocLine(s);
    case StmtKind::kFor:
      return s.for_kind == ForKind::kParallel ? Special(s) : ForLines(s);
    case StmtKind::kIf:
      return IfLines(s);
    case StmtKind::kWhile:
      Line("while (" + Bare(E(s.args[0])) + ") {");
      Indented(s.body);
      return Line("}");
    case StmtKind::kBreak:
      return Line("break;");
    case StmtKind::kContinue:
      return Line("continue;");
    case StmtKind::kEvaluate:
      return Line("(void)" + E(s.args[0]) + ";");
    case StmtKind::kBarrier:
      return Line(dialect_.Barrier());
    default:
      return Special(s);
  }
}

void CBody::StoreLine(const StmtNode& s) {
  const std::vector<Expr> indices(s.args.begin(), s.args.end() - 1);
  const Expr& value = s.args.back();
  const std::string text = E(value);
  if (registers_.count(s.buffer.get())) return Line(Name(s.buffer) + " = " + Bare(text) + ";");
  if (value->type.lanes > 1) return Line(h_.Store(value->type, GetPlace(s.buffer, indices, s.mask), text) + ";");
  const std::string cell = Name(s.buffer) + "[" + Linear(s.buffer, indices) + "]";
  const std::string store = cell + " = " + Bare(Helpers::ToMemory(value->type, text)) + ";";
  Line(s.mask ? "if (" + Bare(E(s.mask)) + ") " + store : store);
}

void CBody::AllocLine(const StmtNode& s) {
  const BufferNode& b = *s.buffer;
  const int64_t n = ConstantSize(b);
  if (registers_.count(&b)) {
    const Type whole = WithLanes(b.element, static_cast<int>(n));
    h_.Need(whole);
    return Line(CType(whole) + " " + Define(s.buffer) + ";");
  }
  if (b.scope != Scope::kLocal || n < 0 || n > kStackBytes / (b.element.bits / 8)) return Special(s);
  Line(CMemory(b.element) + " " + Define(s.buffer) + "[" + std::to_string(std::max<int64_t>(n, 1)) + "];");
}

void CBody::ForLines(const StmtNode& s) {
  const std::string c = CElement(s.var->type), begin = Bare(E(s.args[0])), end = E(s.args[1]);
  const std::string i = Define(s.var);
  ranges_.Count(s);
  std::string last = end;
  if (!IsConst(s.args[1]) && s.args[1]->op != Op::kVar) {
    last = names_.Fresh(i + "_end");
    Line("const " + c + " " + last + " = " + Bare(end) + ";");
  }
  Line("for (" + c + " " + i + " = " + begin + "; " + i + " < " + last + "; ++" + i + ") {");
  Indented(s.body);
  Line("}");
}

void CBody::IfLines(const StmtNode& s) {
  Line("if (" + Bare(E(s.args[0])) + ") {");
  Indented(s.body);
  if (!s.otherwise.empty()) {
    Line("} else {");
    Indented(s.otherwise);
  }
  Line("}");
}

}  // namespace kernpack::sdk::ir
