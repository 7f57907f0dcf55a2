// Stage programs: functions without loops, as formulas for their elements.
//
//   StageBuilder p("softmax");
//   const Expr n = p.Dim("N"), d = p.Dim("D");
//   const Buffer x = p.Input("x", kF32, {n, d});
//   const Buffer m = p.Reduce("m", Op::kMax, 16, {n}, {d}, [&](auto i, auto k) { return Load(x, {i[0], k[0]}); });
//   const Buffer e = p.Compute("e", {n, d}, [&](auto i) { return Unary(Op::kExp, Load(x, i) - Load(m, {i[0]})); });
//   ...
//   p.Result(e);
//   PrimFunc f = Schedule(p.Finish()).Lower();
#ifndef KERNPACK_SDK_SCHEDULE_STAGE_H_
#define KERNPACK_SDK_SCHEDULE_STAGE_H_

#include <kernpack/sdk/ir/stmt.h>

#include <functional>
#include <optional>

namespace kernpack::sdk::ir {

// How a stage combines the values along its reduction axes.
struct Combine {
  Op op;
  int lanes;  // 0: sequential; else the order is "any": this many partial results, joined as a tree
};

// An axis of a stage: a variable (i64) that counts from 0 to its extent.
struct StageAxis {
  Var var;
  Expr extent;
};

// One tensor and how each of its elements is computed.
struct Stage {
  std::string name;
  Buffer buffer;  // represents the elements; the schedule decides where they are stored
  std::vector<StageAxis> spatial;  // one for each dimension of the buffer
  std::vector<StageAxis> reduced;  // values are joined in row-major order of these
  Expr body;  // uses the axes' variables, inputs, and earlier stages
  std::optional<Combine> combine;  // set if there are reduction axes
  bool is_result = false;
};

struct StageProgram {
  FuncNode function;  // name, and the inputs; results come from the stages, in their order
  std::vector<Stage> stages;  // none uses a later one
};

// Functions throw TypeError or ValueError for invalid arguments, as in expr.h. Use it in one thread at a time.
class StageBuilder {
 public:
  using Axes = std::vector<Expr>;

  explicit StageBuilder(std::string name);

  // A variable (i64) for extents, as MakeDim; some input must have it as an extent by itself.
  Expr Dim(std::string_view name);
  Buffer Input(std::string name, Type element, std::vector<Expr> shape);
  Expr Scalar(std::string name, Type type);

  // element [i, j, ...] is body({i, j, ...}). Axes are called i, j, k, ... unless named.
  Buffer Compute(std::string name, std::vector<Expr> shape, const std::function<Expr(const Axes&)>& body,
                 std::vector<std::string> axis_names = {});
  // element [i, ...] is body({i, ...}, {r, ...}) joined over the reduction axes, the last one fastest. lanes as in
  // Combine. Reduction axes are named after the spatial ones.
  Buffer Reduce(std::string name, Op op, int lanes, std::vector<Expr> shape, std::vector<Expr> reduced,
                const std::function<Expr(const Axes&, const Axes&)>& body, std::vector<std::string> axis_names = {});
  // Makes a stage a result of the function, under its name.
  void Result(const Buffer& stage);

  // The program so far. ValueError if there is no result, or a variable has no value.
  StageProgram Finish() const;

 private:
  StageProgram program_;

  Buffer Add(Stage stage);
};

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_SCHEDULE_STAGE_H_
