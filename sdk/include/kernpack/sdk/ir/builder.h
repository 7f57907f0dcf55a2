// Writing functions in C++:
//
//   FunctionBuilder f("scale");
//   const Expr n = f.Dim("N");
//   const Buffer x = f.Input("x", kF32, {n}), out = f.Result("out", kF32, {n});
//   const Expr k = f.Scalar("k", kF32);
//   f.For("i", 0, n, [&](Expr i) { f.Store(out, {i}, Load(x, {i}) * k); });
//   IRModule m{"mine", "", {f.Finish()}};
#ifndef KERNPACK_SDK_IR_BUILDER_H_
#define KERNPACK_SDK_IR_BUILDER_H_

#include <kernpack/sdk/ir/stmt.h>

#include <functional>

namespace kernpack::sdk::ir {

// Adds statements to the innermost open block. Errors as in expr.h and stmt.h. Use it in one thread at a time.
class FunctionBuilder {
 public:
  explicit FunctionBuilder(std::string name);

  // A variable (i64) for extents, as MakeDim; some parameter must have it as an extent by itself.
  Expr Dim(std::string_view name);
  Buffer Input(std::string name, Type element, std::vector<Expr> shape);
  Buffer InOut(std::string name, Type element, std::vector<Expr> shape);
  Buffer Result(std::string name, Type element, std::vector<Expr> shape);
  Expr Scalar(std::string name, Type type);
  FunctionBuilder& Private();
  FunctionBuilder& Target(std::string canonical);
  FunctionBuilder& Signature(std::string text);
  FunctionBuilder& Gradient(std::string function);  // of the same module

  using Body = std::function<void(Expr)>;
  void For(std::string name, Expr begin, Expr end, const Body& body, ForKind kind = ForKind::kSerial, int lanes = 0,
           Tail tail = Tail::kPeeled);
  void Parallel(std::string name, Expr begin, Expr end, const Body& body);
  void Vectorized(std::string name, Expr begin, Expr end, int lanes, const Body& body, Tail tail = Tail::kPeeled);
  void Unrolled(std::string name, Expr begin, Expr end, const Body& body);
  // The condition is evaluated before each round.
  void While(Expr condition, const std::function<void()>& body);
  void Break();
  void Continue();
  void If(Expr condition, const std::function<void()>& then, const std::function<void()>& otherwise = {});
  void Launch(std::vector<Expr> grid, std::vector<Expr> block, const std::function<void()>& body,
              Expr dynamic_shared = {});
  Expr Let(std::string name, Expr value);
  Expr Reduce(Op op, std::string name, Expr begin, Expr end, int lanes, const std::function<Expr(Expr)>& body);
  Buffer Alloc(std::string name, Type element, std::vector<Expr> shape, Scope scope = Scope::kLocal,
               std::string key = {}, bool zeroed = false);
  void Store(Buffer buffer, std::vector<Expr> indices, Expr value, Expr mask = {});
  void Assert(Expr condition, std::string message, std::string kind = "ValueError", std::vector<Expr> values = {});
  void Add(Stmt statement);

  // The function so far. The builder may be used further.
  PrimFunc Finish() const;

 private:
  FuncNode function_;
  std::vector<Block> open_;

  Buffer AddTensor(std::string name, Type element, std::vector<Expr> shape, Role role);
  Block Collect(const std::function<void()>& body);
};

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_IR_BUILDER_H_
