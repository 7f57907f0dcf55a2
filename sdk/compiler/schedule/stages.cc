// Primitives that add stages or move them: compute_at, cache_read, cache_write, pack.
#include <kernpack/error.h>
#include <kernpack/sdk/ir/visitor.h>

#include <algorithm>

#include "schedule/arguments.h"
#include "schedule/arithmetic.h"

namespace kernpack::sdk::ir {
namespace {

void CheckUnscheduled(const std::string& primitive, const StageState& s) {
  const bool marked = std::any_of(s.axes.begin(), s.axes.end(), [](const AxisState& a) { return !a.mark.IsSerial(); });
  if (s.relations.empty() && !marked && !s.IsAttached()) return;
  KP_THROW(ValueError) << primitive << ": stage '" << s.name() << "' is scheduled already; do this first";
}

std::string FreeName(const ScheduleState& state, const std::string& wanted) {
  const auto taken = [&](const std::string& name) {
    return state.Named(name) || std::any_of(state.function.params.begin(), state.function.params.end(),
                                            [&](const Param& p) { return p.name() == name; });
  };
  std::string name = wanted;
  for (int n = 1; taken(name); ++n) name = wanted + std::to_string(n);
  return name;
}

// A buffer that `reader` reads, by name.
Buffer FindSource(const std::string& primitive, const StageState& reader, const std::string& source) {
  std::string names;
  for (const Buffer& b : CollectBuffers(reader.stage.body)) {
    if (b->name == source) return b;
    names += (names.empty() ? "" : ", ") + b->name;
  }
  KP_THROW(ValueError) << primitive << ": stage '" << reader.name() << "' does not read '" << source << "'; it reads "
                       << (names.empty() ? "nothing" : names);
}

std::vector<StageAxis> AxesLike(const Buffer& source) {
  std::vector<StageAxis> axes;
  for (size_t d = 0; d < source->shape.size(); ++d)
    axes.push_back({MakeVar("a" + std::to_string(d), kI64), source->shape[d]});
  return axes;
}

std::vector<Expr> GetValues(const std::vector<StageAxis>& axes) {
  std::vector<Expr> out;
  for (const StageAxis& a : axes) out.emplace_back(a.var);
  return out;
}

Buffer BufferFor(const std::string& name, Type element, const std::vector<StageAxis>& axes) {
  std::vector<Expr> shape;
  for (const StageAxis& a : axes) shape.push_back(a.extent);
  return MakeBuffer(name, element, std::move(shape), Scope::kWorkspace);
}

// Loads of one buffer become loads of another, at indices that come from theirs.
class Redirect : public Mutator {
 public:
  using Indices = std::function<std::vector<Expr>(std::vector<Expr>)>;
  Redirect(Buffer from, Buffer to, Indices indices)
      : from_(std::move(from)), to_(std::move(to)), indices_(std::move(indices)) {}

  Expr MutateExpr(const Expr& e) override {
    const bool masked = e->op == Op::kMaskedLoad;
    if ((e->op != Op::kLoad && !masked) || e->buffer() != from_) return Mutator::MutateExpr(e);
    std::vector<Expr> args = MutateAll(e->args);
    if (!masked) return Load(to_, indices_(std::move(args)));
    const Expr otherwise = args.back(), mask = args[args.size() - 2];
    args.resize(args.size() - 2);
    return MaskedLoad(to_, indices_(std::move(args)), mask, otherwise);
  }

 private:
  Buffer from_, to_;
  Indices indices_;
};

// Puts a stage before the one of this name.
void InsertBefore(ScheduleState* state, const std::string& reader, Stage stage) {
  const auto at =
      std::find_if(state->stages.begin(), state->stages.end(), [&](const StageState& s) { return s.name() == reader; });
  state->stages.insert(at, MakeStageState(std::move(stage)));
}

}  // namespace

void CheckAttachment(const ScheduleState& state, const StageState& s) {
  const StageState& consumer = *state.Named(s.consumer);
  const std::string place =
      "compute_at: stage '" + s.name() + "' at axis '" + s.consumer_axis + "' of stage '" + consumer.name() + "': ";
  if (s.stage.is_result) KP_THROW(ValueError) << place << "it is a result of the function, and must be computed whole";
  const size_t axis = FindAxis("compute_at", consumer, s.consumer_axis);
  const AxisState& loop = consumer.axes[axis];
  if (loop.mark.kind == ForKind::kVectorized) KP_THROW(ValueError) << place << "that loop is vectorized";
  if (loop.is_reduction && consumer.OrderMatters() && consumer.stage.combine->lanes) {
    KP_THROW(ValueError) << place << "order any " << consumer.stage.combine->lanes
                         << " keeps that reduction whole; choose a spatial axis, or declare the order sequential";
  }
  bool read = false;
  for (const StageState& reader : state.stages) {
    const std::vector<Buffer> buffers = CollectBuffers(reader.stage.body);
    if (!std::count(buffers.begin(), buffers.end(), s.stage.buffer)) continue;
    read = true;
    // The reader's loops must lie inside the consumer's, from that axis on.
    const std::vector<const StageState*> chain = Enclosing(state, reader);
    bool inside = &reader == &consumer;
    for (size_t i = 0; i + 1 < chain.size() && !inside; ++i) {
      inside = chain[i + 1] == &consumer &&
               consumer.GetPlace(FindAxis("compute_at", consumer, chain[i]->consumer_axis)) >= consumer.GetPlace(axis);
    }
    if (!inside) {
      KP_THROW(ValueError) << place << "stage '" << reader.name()
                           << "' reads it too, outside that loop; compute that stage there first";
    }
  }
  if (!read) KP_THROW(ValueError) << place << "no stage reads it";
}

std::string ComputeStageAt(ScheduleState* state, const Args& args) {
  CheckCount("compute_at", args, 3, 3, "stage, consumer, axis of the consumer");
  StageState& s = state->FindStage("compute_at", args[0]);
  const StageState& consumer = state->FindStage("compute_at", args[1]);
  FindAxis("compute_at", consumer, args[2]);
  for (const StageState* outer : Enclosing(*state, consumer)) {
    if (outer == &s)
      KP_THROW(ValueError) << "compute_at: stage '" << s.name() << "' encloses '" << args[1] << "' or is the same";
  }
  for (const size_t a : s.leaves) {
    const Mark& mark = s.axes[a].mark;
    if (mark.kind == ForKind::kParallel || (mark.index >= 0 && mark.index < 3)) {
      KP_THROW(ValueError) << "compute_at: stage '" << s.name() << "': axis '" << s.axes[a].name << "' is "
                           << MarkName(mark) << ", which cannot be inside another stage";
    }
  }
  s.consumer = args[1];
  s.consumer_axis = args[2];
  return "";
}

std::string CacheReads(ScheduleState* state, const Args& args) {
  CheckCount("cache_read", args, 2, 2, "source, reader");
  StageState& reader = state->FindStage("cache_read", args[1]);
  const Buffer source = FindSource("cache_read", reader, args[0]);
  Stage copy;
  copy.name = FreeName(*state, args[0] + "_cache");
  copy.spatial = AxesLike(source);
  copy.body = Load(source, GetValues(copy.spatial));
  copy.buffer = BufferFor(copy.name, source->element, copy.spatial);
  Redirect redirect(source, copy.buffer, [](std::vector<Expr> indices) { return indices; });
  reader.stage.body = redirect.MutateExpr(reader.stage.body);
  const std::string name = copy.name;
  InsertBefore(state, args[1], std::move(copy));
  return name;
}

std::string CacheWrites(ScheduleState* state, const Args& args) {
  CheckCount("cache_write", args, 1, 1, "stage");
  StageState& s = state->FindStage("cache_write", args[0]);
  CheckUnscheduled("cache_write", s);
  for (const StageState& other : state->stages) {
    if (other.consumer == args[0])
      KP_THROW(ValueError) << "cache_write: stage '" << other.name() << "' is computed at '" << args[0]
                           << "'; do this before compute_at";
  }
  Stage inner = s.stage, copy;
  inner.name = FreeName(*state, args[0] + "_local");
  inner.buffer = BufferFor(inner.name, s.stage.buffer->element, inner.spatial);
  inner.is_result = false;
  copy.name = args[0];
  copy.buffer = s.stage.buffer;
  copy.is_result = s.stage.is_result;
  for (const StageAxis& a : s.stage.spatial) copy.spatial.push_back({MakeVar(a.var->name, kI64), a.extent});
  copy.body = Load(inner.buffer, GetValues(copy.spatial));
  s = MakeStageState(std::move(copy));
  const std::string name = inner.name;
  InsertBefore(state, args[0], std::move(inner));
  return name;
}

std::string PackReads(ScheduleState* state, const Args& args) {
  CheckCount("pack", args, 4, 4, "source, reader, dimension, factor");
  StageState& reader = state->FindStage("pack", args[1]);
  const Buffer source = FindSource("pack", reader, args[0]);
  const int64_t rank = static_cast<int64_t>(source->shape.size());
  const int64_t dim = ParseInteger("pack: dimension", args[2]), factor = ParseInteger("pack: factor", args[3]);
  if (dim < 0 || dim >= rank)
    KP_THROW(ValueError) << "pack: '" << args[0] << "' has " << rank << " dimensions, got dimension " << dim;
  if (factor < 1 || factor > (1 << 20)) KP_THROW(ValueError) << "pack: expected a factor from 1, got " << factor;
  const size_t cut = static_cast<size_t>(dim);
  const Expr extent = source->shape[cut];

  Stage copy;
  copy.name = FreeName(*state, args[0] + "_pack");
  const StageAxis panel{MakeVar("panel", kI64), CeilDiv(extent, factor)}, lane{MakeVar("lane", kI64), Expr(factor)};
  std::vector<StageAxis> others = AxesLike(source);
  std::vector<Expr> indices = GetValues(others);
  others.erase(others.begin() + static_cast<long>(cut));
  indices[cut] = Expr(panel.var) * Expr(factor) + Expr(lane.var);
  copy.spatial.push_back(panel);
  copy.spatial.insert(copy.spatial.end(), others.begin(), others.end());
  copy.spatial.push_back(lane);
  int64_t constant = 0;
  const bool whole = IsConstInt(extent, &constant) && constant % factor == 0;
  copy.body =
      whole ? Load(source, indices) : MaskedLoad(source, indices, indices[cut] < extent, Const(source->element, 0));
  copy.buffer = BufferFor(copy.name, source->element, copy.spatial);

  Redirect redirect(source, copy.buffer, [&](std::vector<Expr> at) {
    const Expr index = at[cut];
    at.erase(at.begin() + static_cast<long>(cut));
    at.insert(at.begin(), index / Expr(factor));
    at.push_back(index % Expr(factor));
    return at;
  });
  reader.stage.body = redirect.MutateExpr(reader.stage.body);
  const std::string name = copy.name;
  InsertBefore(state, args[1], std::move(copy));
  return name;
}

}  // namespace kernpack::sdk::ir
