// Random stage programs with random schedules: what is accepted changes no result.
#pragma once

#include "differential/cases.h"
#include "differential/features.h"
#include "schedule/random_program.h"

namespace ir_test {

inline std::vector<std::string> SplitLines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

inline PrimFunc Named(const PrimFunc& f, const std::string& name) {
  FuncNode renamed = *f;
  renamed.name = name;
  return std::make_shared<const FuncNode>(std::move(renamed));
}

// The program as a schedule leaves it. Nothing: a parallel loop that is legal, but that the verifier cannot see to be, or
// axes that are bound and not the outermost, which only the whole schedule shows.
inline PrimFunc LoweredIfProved(const Schedule& schedule) {
  try {
    return schedule.Lower();
  } catch (const kernpack::Error& e) {
    const std::string message = e.what();
    if (message.find("may touch the same elements") == std::string::npos && message.rfind("bind: ", 0) != 0) throw;
    return nullptr;
  }
}

inline Draw StageCases(Place place) {
  return [place](uint64_t seed) {
    schedule_test::Random random(seed);
    schedule_test::RandomProgram drawn(&random);
    const StageProgram program = drawn.Make();
    const std::string name = "stages" + std::to_string(seed);
    Schedule schedule(program);
    schedule_test::ApplyRandom(&random, 12, drawn.stages, &schedule, place == Place::kDevice);
    RandomCase made;
    made.seed = seed;
    made.plain = {name, "", {Named(Schedule(program).Lower(), name)}};
    made.scheduled = made.plain;
    const PrimFunc f = LoweredIfProved(schedule);
    if (f && (place == Place::kHost || FitsADevice({name, "", {f}}))) {
      made.scheduled.functions = {Named(f, name)};
      made.trace = SplitLines(schedule.Trace());
    }
    made.reschedule = [program, name, plain = made.plain](const IRModule& m, const std::vector<std::string>& trace) {
      std::optional<IRModule> again;
      if (trace.empty()) again = m;
      if (trace.empty() || !Equal(m, plain)) return again;  // not a stage program any more: no schedule
      try {
        Schedule fewer(program);
        fewer.Replay(Lines(trace));
        if (const PrimFunc f = LoweredIfProved(fewer)) again = IRModule{name, "", {Named(f, name)}};
      } catch (const kernpack::Error&) {
      }
      return again;
    };
    return made;
  };
}

}  // namespace ir_test
