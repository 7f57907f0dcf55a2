// Writing the loops of a schedule.
#ifndef KERNPACK_SDK_COMPILER_SCHEDULE_LOWER_H_
#define KERNPACK_SDK_COMPILER_SCHEDULE_LOWER_H_

#include <kernpack/sdk/ir/visitor.h>

#include <array>

#include "schedule/region.h"

namespace kernpack::sdk::ir {

// Where the elements of a stage are kept while they are.
struct Kept {
  Buffer buffer;
  std::vector<Poly> low;  // the first element kept of each dimension
};

// The loops of one stage, as far as they are open.
struct Nest {
  const StageState* stage;
  std::vector<Expr> extent;  // of each axis
  std::vector<size_t> open;  // loops
  std::vector<bool> bound;  // axes that were fused and have their value
  std::vector<bool> tested;  // relations whose tail is dealt with
  std::vector<Poly> base;  // of each spatial axis that the stage began with
  Expr late;  // what is tested in the innermost loop
  bool is_initial = false;  // stores the neutral element, in the loops of spatial axes only
};

class Lowerer {
 public:
  explicit Lowerer(const ScheduleState& state) : state_(state), regions_(state), facts_(regions_.Base()) {}
  PrimFunc Run();

 private:
  const ScheduleState& state_;
  Regions regions_;
  Facts facts_;
  std::unordered_map<const BufferNode*, Kept> kept_;
  std::vector<Poly> not_negative_;  // of the whole steps of peeled loops that are open: how much is left after them
  std::array<Expr, 3> threads_;  // of the launch that is open; null outside one
  bool in_launch_ = false;

  // Stages: where their elements are, and which are computed.
  void EmitStage(const StageState& s, Block* out);
  void EmitAttached(const StageState& s, bool repeats, Block* out);
  Buffer MakeKept(const StageState& s, Scope scope);
  std::vector<Poly> Clip(const StageState& s, std::vector<Expr>* extents, Expr* test, Block* out);
  bool Fits(const Poly& low, const Poly& size, const Expr& extent);
  bool MayOverrun(const StageState& s);
  Nest Start(const StageState& s, const std::vector<Expr>& extents, std::vector<Poly> base);

  // Loops, from place `depth` inward.
  void EmitLaunch(Nest nest, Block* out);
  void EmitLoops(Nest nest, size_t depth, Block* out);
  void EmitLoop(Nest nest, size_t depth, Block* out);
  void EmitPeeled(Nest nest, size_t depth, const Relation& r, Block* out);
  // The loops from `first` to before `depth` have just been opened.
  void EmitInside(Nest nest, size_t first, size_t depth, Block* out);
  void EmitTested(Nest nest, size_t first, size_t depth, Block* out);
  void EmitEither(const Nest& nest, size_t first, size_t depth, const Relation& r, Block* out);
  const Relation* FusedSplit(const Nest& nest, size_t depth) const;
  void EmitBody(const Nest& nest, Block* out);
  void FillExtents(Nest* nest);
  bool IsPeeled(const StageState& s, const Relation& r) const;
  void BindFused(Nest* nest, Block* out);
  Expr Tails(Nest* nest);
  Expr PartsThatAreThere(const Nest& nest, size_t first, size_t depth);
  // The value of an axis whose loops are open.
  Expr GetValue(const Nest& nest, size_t axis);
  template <class F>
  void Counting(const StageState& s, size_t axis, F body);

  // The body of a stage: axes as their values, or what is given for them, and stages as loads of where they are kept.
  Expr WriteBody(const StageState& s, const std::vector<Poly>& base, std::unordered_map<const VarNode*, Expr> values);
  friend class BodyWriter;
};

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_SCHEDULE_LOWER_H_
