#include <kernpack/error.h>
#include <kernpack/sdk/ir/stmt.h>

#include <algorithm>
#include <unordered_set>

namespace kernpack::sdk::ir {
namespace {

Stmt Make(StmtNode n) {
  for (const Block* block : {&n.body, &n.otherwise}) {
    for (const Stmt& s : *block) {
      if (!s) KP_THROW(ValueError) << "block: expected a statement, got none";
      n.depth = std::max(n.depth, s->depth + 1);
    }
  }
  if (n.depth > kMaxDepth) KP_THROW(ValueError) << "blocks are nested more than " << kMaxDepth << " deep";
  return std::make_shared<const StmtNode>(std::move(n));
}

StmtNode Of(StmtKind kind) {
  StmtNode n{};
  n.kind = kind;
  return n;
}

void CheckScalar(const Expr& e, Type t, std::string_view what) {
  if (!e || e->type != t) {
    KP_THROW(TypeError) << what << ": expected " << TypeName(t) << ", got " << (e ? TypeName(e->type) : "nothing");
  }
}

}  // namespace

Stmt Let(Var var, Expr value) {
  if (!var || !value || var->type != value->type) {
    KP_THROW(TypeError) << "let " << (var ? var->name : "?") << ": expected "
                        << (var ? TypeName(var->type) : "a variable") << ", got "
                        << (value ? TypeName(value->type) : "nothing");
  }
  StmtNode n = Of(StmtKind::kLet);
  n.var = std::move(var);
  n.args = {std::move(value)};
  return Make(std::move(n));
}

Stmt Store(Buffer buffer, std::vector<Expr> indices, Expr value, Expr mask) {
  const Expr place = Load(buffer, indices);  // checks the indices
  if (!value || ElementOf(value->type) != buffer->element) {
    KP_THROW(TypeError) << buffer->name << " holds " << TypeName(buffer->element) << ", got "
                        << (value ? TypeName(value->type) : "nothing") << "; cast it";
  }
  if (value->type.lanes == 1) value = Broadcast(value, place->type.lanes);
  if (value->type.lanes != place->type.lanes) {
    KP_THROW(TypeError) << buffer->name << ": indices have " << place->type.lanes << " lanes, the value "
                        << value->type.lanes;
  }
  if (mask) {
    if (!IsBool(mask->type))
      KP_THROW(TypeError) << buffer->name << ": mask: expected bool, got " << TypeName(mask->type);
    if (mask->type.lanes == 1) mask = Broadcast(mask, place->type.lanes);
    if (mask->type.lanes != place->type.lanes) {
      KP_THROW(TypeError) << buffer->name << ": indices have " << place->type.lanes << " lanes, the mask "
                          << mask->type.lanes;
    }
  }
  StmtNode n = Of(StmtKind::kStore);
  n.buffer = std::move(buffer);
  n.args = std::move(indices);
  n.args.push_back(std::move(value));
  n.mask = std::move(mask);
  return Make(std::move(n));
}

Stmt Alloc(Buffer buffer) {
  if (!buffer || buffer->scope == Scope::kGlobal) {
    KP_THROW(ValueError)
        << "alloc: expected memory that is local, shared, workspace or persistent; only parameters are global";
  }
  StmtNode n = Of(StmtKind::kAlloc);
  n.buffer = std::move(buffer);
  return Make(std::move(n));
}

Stmt For(Var var, Expr begin, Expr end, Block body, ForKind kind, int lanes, Tail tail) {
  if (!var || !IsIndex(var->type) || var->type.lanes != 1)
    KP_THROW(TypeError) << "for: the variable must be i32 or i64";
  CheckScalar(begin, var->type, "for " + var->name + ": first bound");
  CheckScalar(end, var->type, "for " + var->name + ": second bound");
  if (kind == ForKind::kVectorized && (lanes < 2 || !IsSupported(WithLanes(kF32, lanes)))) {
    KP_THROW(ValueError) << "vectorized " << var->name << ": expected 2, 4, ... or " << kMaxLanes << " lanes, got "
                         << lanes;
  }
  if (lanes < 0) KP_THROW(ValueError) << "parallel " << var->name << ": negative grain " << lanes;
  StmtNode n = Of(StmtKind::kFor);
  n.var = std::move(var);
  n.args = {std::move(begin), std::move(end)};
  n.body = std::move(body);
  n.for_kind = kind;
  n.lanes = kind == ForKind::kVectorized || kind == ForKind::kParallel ? lanes : 0;
  n.tail = kind == ForKind::kVectorized ? tail : Tail::kPeeled;
  return Make(std::move(n));
}

Stmt While(Expr condition, Block body) {
  CheckScalar(condition, kBool, "while");
  StmtNode n = Of(StmtKind::kWhile);
  n.args = {std::move(condition)};
  n.body = std::move(body);
  return Make(std::move(n));
}

Stmt Break() { return Make(Of(StmtKind::kBreak)); }
Stmt Continue() { return Make(Of(StmtKind::kContinue)); }

bool LeavesLoop(const Block& body) {
  return std::any_of(body.begin(), body.end(), [](const Stmt& s) {
    if (s->kind == StmtKind::kBreak || s->kind == StmtKind::kContinue) return true;
    return s->kind != StmtKind::kFor && s->kind != StmtKind::kWhile &&
           (LeavesLoop(s->body) || LeavesLoop(s->otherwise));
  });
}

Stmt If(Expr condition, Block body, Block otherwise) {
  CheckScalar(condition, kBool, "if");
  StmtNode n = Of(StmtKind::kIf);
  n.args = {std::move(condition)};
  n.body = std::move(body);
  n.otherwise = std::move(otherwise);
  return Make(std::move(n));
}

const char* ErrorKind(std::string_view name) {
  constexpr const char* kKinds[] = {"ValueError",        "TypeError",   "IndexError",
                                    "RuntimeError",      "KeyError",    "OverflowError",
                                    "ZeroDivisionError", "MemoryError", "NotImplementedError"};
  for (const char* kind : kKinds) {
    if (name == kind) return kind;
  }
  return nullptr;
}

namespace {

void CheckAssertValues(const std::string& message, std::vector<Expr>* values) {
  for (Expr& e : *values) {
    if (!e || e->type.lanes != 1 || !IsInteger(e->type)) {
      KP_THROW(TypeError) << "assert: expected integers as the message's values, got "
                          << (e ? TypeName(e->type) : "nothing");
    }
    if (e->type != kI64) e = Cast(kI64, e);
  }
  size_t places = 0;
  for (size_t at = message.find("{}"); at != std::string::npos; at = message.find("{}", at + 2)) ++places;
  if (values->size() > kMostAssertValues || (!values->empty() && places != values->size())) {
    KP_THROW(ValueError) << "assert: the message '" << message << "' has " << places << " places {} for "
                         << values->size() << " values; expected as many, and " << kMostAssertValues << " at most";
  }
}

}  // namespace

Stmt Assert(Expr condition, std::string message, std::string error_kind, std::vector<Expr> values) {
  CheckScalar(condition, kBool, "assert");
  CheckAssertValues(message, &values);
  if (!ErrorKind(error_kind)) {
    KP_THROW(ValueError) << "assert: expected ValueError, TypeError, IndexError, RuntimeError or the like, got '"
                         << error_kind << '\'';
  }
  StmtNode n = Of(StmtKind::kAssert);
  n.args = {std::move(condition)};
  n.args.insert(n.args.end(), values.begin(), values.end());
  n.text = std::move(message);
  n.name = std::move(error_kind);
  return Make(std::move(n));
}

Stmt Barrier() { return Make(Of(StmtKind::kBarrier)); }

Stmt Launch(std::vector<Expr> grid, std::vector<Expr> block, Expr dynamic_shared, Block body) {
  grid.resize(3, Expr(1));
  block.resize(3, Expr(1));
  StmtNode n = Of(StmtKind::kLaunch);
  n.args = std::move(grid);
  n.args.insert(n.args.end(), block.begin(), block.end());
  n.args.push_back(dynamic_shared ? std::move(dynamic_shared) : Expr(0));
  for (Expr& e : n.args) CheckScalar(e, kI64, "launch");
  n.body = std::move(body);
  return Make(std::move(n));
}

Stmt Call(std::string function, std::vector<Expr> scalars, std::vector<Buffer> buffers) {
  StmtNode n = Of(StmtKind::kCall);
  n.name = std::move(function);
  n.args = std::move(scalars);
  n.buffers = std::move(buffers);
  for (const Expr& e : n.args) {
    if (!e || e->type.lanes != 1) KP_THROW(TypeError) << "call " << n.name << ": expected scalars";
  }
  return Make(std::move(n));
}

Stmt Evaluate(Expr value) {
  if (!value) KP_THROW(ValueError) << "evaluate: expected an expression, got none";
  StmtNode n = Of(StmtKind::kEvaluate);
  n.args = {std::move(value)};
  return Make(std::move(n));
}

Stmt Return() { return Make(Of(StmtKind::kReturn)); }

Stmt At(Position position, const Stmt& s) {
  StmtNode n = *s;
  n.position = position;
  return std::make_shared<const StmtNode>(std::move(n));
}

const FuncNode* IRModule::Find(std::string_view function) const {
  for (const PrimFunc& f : functions) {
    if (f->name == function) return f.get();
  }
  return nullptr;
}

bool Param::has_any_rank() const {
  return buffer && !buffer->shape.empty() && buffer->shape[0]->op == Op::kVar && buffer->shape[0]->var()->leading;
}

std::vector<Var> ShapeVars(const FuncNode& function) {
  std::vector<Var> vars;
  std::unordered_set<Var> known;  // scalar parameters bind nothing
  for (const Param& p : function.params) known.insert(p.var);
  for (const Param& p : function.params) {
    if (!p.buffer || p.role == Role::kResult) continue;
    for (const Expr& e : p.buffer->shape) {
      if (e->op == Op::kVar && known.insert(e->var()).second) vars.push_back(e->var());
    }
  }
  return vars;
}

PrimFunc WithBody(const FuncNode& function, Block body) {
  FuncNode copy = function;
  copy.body = std::move(body);
  return std::make_shared<const FuncNode>(std::move(copy));
}

}  // namespace kernpack::sdk::ir
