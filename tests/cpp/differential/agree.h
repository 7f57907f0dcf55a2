// Compares a generator with the interpreter on many random functions; for tests of any generator.
//
// KERNPACK_DIFFERENTIAL_ROUNDS=20 runs twenty times as many functions; KERNPACK_DIFFERENTIAL_SEED=5000 begins elsewhere;
// KERNPACK_DIFFERENTIAL_ONLY=5017 runs that one function, as the message of a failure says.
#pragma once

#include <gtest/gtest.h>

#include <kernpack/host/host.h>

#include "differential/cases.h"
#include "differential/random_loops.h"
#include "differential/random_stages.h"

namespace ir_test {

// Functions a module, and modules a round.
constexpr uint64_t kBatch = 25, kStageBatch = 20;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr uint64_t kBatches = 4, kStageBatches = 1;  // the generated code is not instrumented: some batches do
#else
constexpr uint64_t kBatches = 8, kStageBatches = 2;  // `make differential` runs many rounds
#endif

inline IRModule Batch(uint64_t first, const std::string& name) {
  return Together(Cases(first, kBatch, LoopCases(Place::kHost)), name, false);
}

// The error of a case; "" if there is none.
inline std::string Disagreement(const RandomCase& c, const Column& column, const Runner& want, const Runner& got) {
  for (const PrimFunc& f : c.plain.functions) {
    if (f->is_private) continue;
    const std::optional<std::string> difference = Difference(*f, want, got);
    if (!difference) return Report(c, f->name + " isn't a function to compare: the interpreter raises an error");
    if (difference->empty()) continue;
    const std::string what = column.name + " and the interpreter differ on " + f->name + ", " + *difference;
    return Report(c, what) + Smaller(c, column);
  }
  return "";
}

// The error of some functions in one module; "" if there is none.
inline std::string Disagreement(const std::vector<RandomCase>& cases, const std::string& name, const Column& column) {
  Runner got;
  try {
    got = column.compile(Together(cases, name, true));
  } catch (const std::exception& all) {
    for (const RandomCase& c : cases) {
      try {
        column.compile(Fresh(c.scheduled));
      } catch (const std::exception& e) {
        return Report(c, column.name + " doesn't build it: " + e.what());
      }
    }
    return name + " doesn't build, but each of its functions does: " + all.what();
  }
  // Math functions are what their expansion says, so that is what is interpreted.
  const Runner want = Interpreted(Lower(Together(cases, name, false)));
  for (const RandomCase& c : cases) {
    const std::string problem = Disagreement(c, column, want, got);
    if (!problem.empty()) return problem;
  }
  return "";
}

// Which seeds a batch of a round has.
struct Seeds {
  uint64_t count, batches;
  uint64_t First(uint64_t round, uint64_t batch) const {
    const uint64_t begin = FromEnvironment("KERNPACK_DIFFERENTIAL_SEED", 0);
    return begin + (round * batches + batch) * count;
  }
};

// One batch of each round. `tag`: for the names of modules.
inline void ExpectAgreementOn(const std::string& tag, uint64_t batch, const Column& column, Seeds seeds,
                              const Draw& draw) {
  kp_set_num_threads(static_cast<int32_t>(1 + batch % 4));  // no result depends on how many there are
  uint64_t rounds = FromEnvironment("KERNPACK_DIFFERENTIAL_ROUNDS", 1);
  const uint64_t only = FromEnvironment(kOnly, ~uint64_t{0});
  if (only != ~uint64_t{0}) rounds = seeds.count = 1;
  for (uint64_t round = 0; round < rounds; ++round) {
    const uint64_t first = only != ~uint64_t{0} ? only : seeds.First(round, batch);
    const CrashNote note("a crash on one of the functions of the seeds from " + std::to_string(first) + " to " +
                         std::to_string(first + seeds.count - 1) + "; replay one of them: " + ReplayCommand(first));
    const std::vector<RandomCase> cases = Cases(first, seeds.count, draw);
    const std::string problem = Disagreement(cases, "random_" + tag + "_" + std::to_string(first), column);
    if (!problem.empty()) FAIL() << problem;
  }
}
// Of random functions, some with random schedules of their loops.
inline void ExpectAgreementOn(const std::string& tag, uint64_t batch, const Column& column,
                              Place place = Place::kHost) {
  ExpectAgreementOn(tag, batch, column, {kBatch, kBatches}, LoopCases(place));
}
// Of random stage programs with random schedules.
inline void ExpectStagesAgreeOn(const std::string& tag, uint64_t batch, const Column& column,
                                Place place = Place::kHost) {
  ExpectAgreementOn(tag + "_stages", batch, column, {kStageBatch, kStageBatches}, StageCases(place));
}

}  // namespace ir_test
