#include <kernpack/error.h>
#include <kernpack/sdk/ir/builder.h>

namespace kernpack::sdk::ir {

FunctionBuilder::FunctionBuilder(std::string name) : open_(1) { function_.name = std::move(name); }

Expr FunctionBuilder::Dim(std::string_view name) { return Expr(MakeDim(name)); }

Buffer FunctionBuilder::AddTensor(std::string name, Type element, std::vector<Expr> shape, Role role) {
  Param p;
  p.buffer = MakeBuffer(std::move(name), element, std::move(shape));
  p.role = role;
  function_.params.push_back(p);
  return p.buffer;
}

Buffer FunctionBuilder::Input(std::string name, Type element, std::vector<Expr> shape) {
  return AddTensor(std::move(name), element, std::move(shape), Role::kInput);
}
Buffer FunctionBuilder::InOut(std::string name, Type element, std::vector<Expr> shape) {
  return AddTensor(std::move(name), element, std::move(shape), Role::kInOut);
}
Buffer FunctionBuilder::Result(std::string name, Type element, std::vector<Expr> shape) {
  return AddTensor(std::move(name), element, std::move(shape), Role::kResult);
}

Expr FunctionBuilder::Scalar(std::string name, Type type) {
  Param p;
  p.var = MakeVar(std::move(name), type);
  function_.params.push_back(p);
  return Expr(p.var);
}

FunctionBuilder& FunctionBuilder::Private() {
  function_.is_private = true;
  return *this;
}
FunctionBuilder& FunctionBuilder::Target(std::string canonical) {
  function_.target = std::move(canonical);
  return *this;
}
FunctionBuilder& FunctionBuilder::Signature(std::string text) {
  function_.signature = std::move(text);
  return *this;
}
FunctionBuilder& FunctionBuilder::Gradient(std::string function) {
  function_.gradient = std::move(function);
  return *this;
}

void FunctionBuilder::Add(Stmt statement) { open_.back().push_back(std::move(statement)); }

Block FunctionBuilder::Collect(const std::function<void()>& body) {
  open_.emplace_back();
  try {
    if (body) body();
  } catch (...) {
    open_.pop_back();
    throw;
  }
  Block block = std::move(open_.back());
  open_.pop_back();
  return block;
}

void FunctionBuilder::For(std::string name, Expr begin, Expr end, const Body& body, ForKind kind, int lanes,
                          Tail tail) {
  const Var var = MakeVar(std::move(name), begin->type);
  Block block = Collect([&] { body(Expr(var)); });
  Add(ir::For(var, std::move(begin), std::move(end), std::move(block), kind, lanes, tail));
}
void FunctionBuilder::Parallel(std::string name, Expr begin, Expr end, const Body& body) {
  For(std::move(name), std::move(begin), std::move(end), body, ForKind::kParallel);
}
void FunctionBuilder::Vectorized(std::string name, Expr begin, Expr end, int lanes, const Body& body, Tail tail) {
  For(std::move(name), std::move(begin), std::move(end), body, ForKind::kVectorized, lanes, tail);
}
void FunctionBuilder::Unrolled(std::string name, Expr begin, Expr end, const Body& body) {
  For(std::move(name), std::move(begin), std::move(end), body, ForKind::kUnrolled);
}

void FunctionBuilder::While(Expr condition, const std::function<void()>& body) {
  Block block = Collect(body);
  Add(ir::While(std::move(condition), std::move(block)));
}
void FunctionBuilder::Break() { Add(ir::Break()); }
void FunctionBuilder::Continue() { Add(ir::Continue()); }

void FunctionBuilder::If(Expr condition, const std::function<void()>& then, const std::function<void()>& otherwise) {
  Block body = Collect(then);
  Block alternative = Collect(otherwise);
  Add(ir::If(std::move(condition), std::move(body), std::move(alternative)));
}

void FunctionBuilder::Launch(std::vector<Expr> grid, std::vector<Expr> block, const std::function<void()>& body,
                             Expr dynamic_shared) {
  Block inner = Collect(body);
  Add(ir::Launch(std::move(grid), std::move(block), std::move(dynamic_shared), std::move(inner)));
}

Expr FunctionBuilder::Let(std::string name, Expr value) {
  const Var var = MakeVar(std::move(name), value->type);
  Add(ir::Let(var, std::move(value)));
  return Expr(var);
}

Expr FunctionBuilder::Reduce(Op op, std::string name, Expr begin, Expr end, int lanes,
                             const std::function<Expr(Expr)>& body) {
  const Var var = MakeVar(std::move(name), begin->type);
  return ir::Reduce(op, var, std::move(begin), std::move(end), lanes, body(Expr(var)));
}

Buffer FunctionBuilder::Alloc(std::string name, Type element, std::vector<Expr> shape, Scope scope, std::string key,
                              bool zeroed) {
  Buffer buffer = MakeBuffer(std::move(name), element, std::move(shape), scope, std::move(key), zeroed);
  Add(ir::Alloc(buffer));
  return buffer;
}

void FunctionBuilder::Store(Buffer buffer, std::vector<Expr> indices, Expr value, Expr mask) {
  Add(ir::Store(std::move(buffer), std::move(indices), std::move(value), std::move(mask)));
}

void FunctionBuilder::Assert(Expr condition, std::string message, std::string kind, std::vector<Expr> values) {
  Add(ir::Assert(std::move(condition), std::move(message), std::move(kind), std::move(values)));
}

PrimFunc FunctionBuilder::Finish() const {
  if (open_.size() != 1) KP_THROW(RuntimeError) << function_.name << ": Finish() inside an open block";
  return WithBody(function_, open_.front());
}

}  // namespace kernpack::sdk::ir
