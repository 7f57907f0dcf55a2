// Random schedules of plain loops: what is accepted changes no result.
#pragma once

#include <kernpack/error.h>
#include <kernpack/sdk/ir/visitor.h>
#include <kernpack/sdk/schedule/loops.h>

#include <algorithm>
#include <stdexcept>

#include "differential/cases.h"
#include "differential/random_function.h"

namespace ir_test {

// One primitive, in the form of a line of a trace: split_loop(i0, 4, masked).
struct LoopPrimitive {
  std::string name, loop;
  int64_t number = 0;
  Tail tail = Tail::kPeeled;

  std::string Line() const {
    const std::string tail_name = tail == Tail::kPeeled ? "peeled" : "masked";
    if (name == "unroll_loop") return name + "(" + loop + ")";
    if (name == "parallel_loop") return name + "(" + loop + ", " + std::to_string(number) + ")";
    return name + "(" + loop + ", " + std::to_string(number) + ", " + tail_name + ")";
  }
  IRModule Apply(const IRModule& module, const std::string& function) const {
    if (name == "split_loop") return SplitLoop(module, function, loop, number, tail);
    if (name == "unroll_loop") return UnrollLoop(module, function, loop);
    if (name == "parallel_loop") return ParallelLoop(module, function, loop, static_cast<int>(number));
    return VectorizeLoop(module, function, loop, static_cast<int>(number), tail);
  }
};

// Names of the loops that run in order.
inline std::vector<std::string> SerialLoops(const FuncNode& f) {
  struct Finder : Visitor {
    std::vector<std::string> names;
    void VisitStmt(const Stmt& s) override {
      if (s->kind == StmtKind::kFor && s->for_kind == ForKind::kSerial) names.push_back(s->var->name);
      Visitor::VisitStmt(s);
    }
  } finder;
  finder.VisitBlock(f.body);
  return finder.names;
}

inline LoopPrimitive RandomLoopPrimitive(Values* values, const std::vector<std::string>& loops) {
  const std::string& loop = loops[static_cast<size_t>(values->Below(static_cast<int64_t>(loops.size())))];
  const Tail tail = values->Below(2) ? Tail::kPeeled : Tail::kMasked;
  switch (values->Below(6)) {
    case 0:
    case 1:
      return {"split_loop", loop, 1 + values->Below(6), tail};
    case 2:
      return {"unroll_loop", loop, 0, tail};
    case 3:
      return {"parallel_loop", loop, values->Below(4), tail};
    default:
      return {"vectorize_loop", loop, int64_t{2} << values->Below(3), tail};
  }
}

// Applies what is legal of some random primitives; gives those. A refusal that isn't a ValueError is a mistake.
inline std::vector<LoopPrimitive> ScheduleLoops(uint64_t seed, const std::string& function, IRModule* module) {
  Values values(seed ^ 0x5c4ed01e);
  std::vector<LoopPrimitive> applied;
  for (int64_t left = 1 + values.Below(6); left > 0; --left) {
    const std::vector<std::string> loops = SerialLoops(*module->Find(function));
    if (loops.empty()) break;
    const LoopPrimitive p = RandomLoopPrimitive(&values, loops);
    try {
      *module = p.Apply(*module, function);
      applied.push_back(p);
    } catch (const kernpack::Error& e) {
      if (std::string(e.kind().data, e.kind().size) == "ValueError") continue;
      throw std::runtime_error(p.Line() + " is refused by another error than a ValueError: " + e.what());
    }
  }
  return applied;
}

// Of a hundred functions, so many have their loops scheduled.
inline constexpr int kScheduledPercent = 30;

inline Draw LoopCases(Place place) {
  return [place](uint64_t seed) {
    RandomCase made;
    made.seed = seed;
    made.plain = {"random_" + std::to_string(seed), "", RandomFunction(seed, place).Make()};
    made.scheduled = made.plain;
    std::vector<LoopPrimitive> primitives;
    if (seed % 100 < kScheduledPercent) primitives = ScheduleLoops(seed, made.function(), &made.scheduled);
    if (place == Place::kDevice && !primitives.empty() && !FitsADevice(made.scheduled)) {
      made.scheduled = made.plain;
      primitives.clear();
    }
    for (const LoopPrimitive& p : primitives) made.trace.push_back(p.Line());
    made.reschedule = [primitives, function = made.function()](IRModule m, const std::vector<std::string>& trace) {
      std::optional<IRModule> again;
      try {
        for (const LoopPrimitive& p : primitives) {
          if (std::find(trace.begin(), trace.end(), p.Line()) != trace.end()) m = p.Apply(m, function);
        }
        again = std::move(m);
      } catch (const kernpack::Error&) {
      }
      return again;
    };
    return made;
  };
}

}  // namespace ir_test
