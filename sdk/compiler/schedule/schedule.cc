#include <kernpack/error.h>
#include <kernpack/sdk/ir/verify.h>
#include <kernpack/sdk/schedule/schedule.h>

#include "schedule/state.h"

namespace kernpack::sdk::ir {
namespace {

struct NamedPrimitive {
  const char* name;
  std::string (*apply)(ScheduleState* state, const Args& args);
};
constexpr NamedPrimitive kPrimitives[] = {
    {"split", SplitAxis},
    {"fuse", FuseAxes},
    {"reorder", ReorderAxes},
    {"parallel", MarkParallel},
    {"vectorize", MarkVectorized},
    {"unroll", MarkUnrolled},
    {"bind", BindAxis},
    {"compute_at", ComputeStageAt},
    {"cache_read", CacheReads},
    {"cache_write", CacheWrites},
    {"pack", PackReads},
};

const char* TailName(Tail tail) { return tail == Tail::kMasked ? "masked" : "peeled"; }

std::string Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \t\r") - first + 1));
}

Primitive ParsePrimitive(std::string_view line) {
  const std::string text = Trimmed(line);
  const size_t open = text.find('(');
  if (open == std::string::npos || text.back() != ')')
    KP_THROW(ValueError) << "expected primitive(argument, ...), got '" << text << '\'';
  Primitive p{Trimmed(text.substr(0, open)), {}};
  std::string_view rest = std::string_view(text).substr(open + 1, text.size() - open - 2);
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    p.args.push_back(Trimmed(rest.substr(0, comma)));
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  return p;
}

}  // namespace

Schedule::Schedule(StageProgram program) : state_(std::make_unique<ScheduleState>()) {
  state_->function = std::move(program.function);
  for (Stage& s : program.stages) state_->stages.push_back(MakeStageState(std::move(s)));
}
Schedule::~Schedule() = default;
Schedule::Schedule(Schedule&&) noexcept = default;
Schedule& Schedule::operator=(Schedule&&) noexcept = default;

std::string Schedule::Do(const Primitive& primitive) {
  for (const NamedPrimitive& e : kPrimitives) {
    if (primitive.name != e.name) continue;
    ScheduleState next = *state_;
    std::string made = e.apply(&next, primitive.args);
    for (const StageState& s : next.stages) {
      if (s.IsAttached()) CheckAttachment(next, s);
    }
    *state_ = std::move(next);
    trace_.push_back(primitive);
    return made;
  }
  std::string names;
  for (const NamedPrimitive& e : kPrimitives) names += (names.empty() ? "" : ", ") + std::string(e.name);
  KP_THROW(ValueError) << "there is no primitive '" << primitive.name << "'; there are " << names;
}

std::pair<std::string, std::string> Schedule::Split(const std::string& stage, const std::string& axis, int64_t factor,
                                                    Tail tail) {
  const std::string outer = Do({"split", {stage, axis, std::to_string(factor), TailName(tail)}});
  const StageState& s = *state_->Named(stage);
  return {outer, s.axes[s.relations.back().inner].name};
}

std::string Schedule::Fuse(const std::string& stage, const std::string& outer, const std::string& inner) {
  return Do({"fuse", {stage, outer, inner}});
}

void Schedule::Reorder(const std::string& stage, const std::vector<std::string>& axes) {
  Primitive p{"reorder", {stage}};
  p.args.insert(p.args.end(), axes.begin(), axes.end());
  Do(p);
}

void Schedule::Parallel(const std::string& stage, const std::string& axis, int grain) {
  Do({"parallel", {stage, axis, std::to_string(grain)}});
}
void Schedule::Vectorize(const std::string& stage, const std::string& axis, int lanes, Tail tail) {
  Do({"vectorize", {stage, axis, std::to_string(lanes), TailName(tail)}});
}
void Schedule::Unroll(const std::string& stage, const std::string& axis) { Do({"unroll", {stage, axis}}); }
void Schedule::Bind(const std::string& stage, const std::string& axis, const std::string& index) {
  Do({"bind", {stage, axis, index}});
}
void Schedule::ComputeAt(const std::string& stage, const std::string& consumer, const std::string& axis) {
  Do({"compute_at", {stage, consumer, axis}});
}
std::string Schedule::CacheRead(const std::string& source, const std::string& reader) {
  return Do({"cache_read", {source, reader}});
}
std::string Schedule::CacheWrite(const std::string& stage) { return Do({"cache_write", {stage}}); }
std::string Schedule::Pack(const std::string& source, const std::string& reader, int dim, int64_t factor) {
  return Do({"pack", {source, reader, std::to_string(dim), std::to_string(factor)}});
}

void Schedule::Apply(const Primitive& primitive) { Do(primitive); }

std::string Schedule::Trace() const {
  std::string out;
  for (const Primitive& p : trace_) {
    out += p.name + "(";
    for (size_t i = 0; i < p.args.size(); ++i) out += (i ? ", " : "") + p.args[i];
    out += ")\n";
  }
  return out;
}

void Schedule::Replay(std::string_view trace) {
  for (size_t line = 1; !trace.empty(); ++line) {
    const size_t end = trace.find('\n');
    const std::string text = Trimmed(trace.substr(0, end));
    trace = end == std::string_view::npos ? std::string_view() : trace.substr(end + 1);
    if (text.empty()) continue;
    try {
      Do(ParsePrimitive(text));
    } catch (const Error& e) {
      const std::string message = "line " + std::to_string(line) + ": " + e.what();
      throw Error("ValueError", KpBytes{message.data(), message.size()});
    }
  }
}

std::vector<std::string> Schedule::Axes(const std::string& stage) const {
  const StageState& s = state_->FindStage("axes", stage);
  std::vector<std::string> names;
  for (const size_t a : s.leaves) names.push_back(s.axes[a].name);
  return names;
}

PrimFunc LowerUnverified(const Schedule& schedule) { return LowerSchedule(*schedule.state_); }

PrimFunc Schedule::Lower() const {
  PrimFunc f = LowerSchedule(*state_);
  Verify(IRModule{f->name, "", {f}});
  return f;
}

}  // namespace kernpack::sdk::ir
