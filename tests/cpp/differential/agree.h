// Whether a generator agrees with the interpreter on many random functions; for tests of any generator.
//
// KERNPACK_DIFFERENTIAL_ROUNDS=20 runs twenty times as many functions; KERNPACK_DIFFERENTIAL_SEED=5000 begins elsewhere.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

#include "differential/columns.h"
#include "differential/random_function.h"
#include "differential/shrink.h"

namespace ir_test {

// Functions a module, and modules a round.
constexpr uint64_t kBatch = 50;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr uint64_t kBatches = 4;  // the generated code is not instrumented: some batches exercise the generators enough
#else
constexpr uint64_t kBatches = 40;
#endif

inline uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

inline IRModule Batch(uint64_t first, const std::string& name) {
  IRModule module{name, "", {}};
  for (uint64_t seed = first; seed < first + kBatch; ++seed) {
    for (PrimFunc& f : RandomFunction(seed).Make()) module.functions.push_back(std::move(f));
  }
  return module;
}

// The function, and what it calls.
inline IRModule Alone(const IRModule& module, size_t index) {
  IRModule one{module.name + "_alone", "", {}};
  if (index > 0 && module.functions[index - 1]->is_private) one.functions.push_back(module.functions[index - 1]);
  one.functions.push_back(module.functions[index]);
  return one;
}

// Whether its results depend on nothing that it has not stored.
inline bool IsDefined(const FuncNode& f, const IRModule& module) {
  return Difference(f, Interpreted(module), Interpreted(module, std::byte{0xa5})) == "";
}

inline void ExpectAgreement(const IRModule& module, const IRModule& reference, const Column& column) {
  const Runner want = Interpreted(reference), got = column.compile(module);
  int copies = 0;
  for (size_t i = 0; i < module.functions.size(); ++i) {
    const FuncNode& f = *module.functions[i];
    if (f.is_private) continue;
    const std::optional<std::string> difference = Difference(f, want, got);
    ASSERT_TRUE(difference) << f.name << " is no function to compare: it raises\n" << Print(f);
    if (difference->empty()) continue;
    const IRModule small = Shrink(
        Alone(module, i),
        [&](const IRModule& m) {
          IRModule fresh = m;  // a process loads a module of one name once
          fresh.name += "_" + std::to_string(++copies);
          const IRModule lowered = Lower(m);
          return IsDefined(*m.functions.back(), lowered) &&
                 !Difference(*m.functions.back(), Interpreted(lowered), column.compile(fresh)).value_or("").empty();
        },
        150);
    FAIL() << column.name << " and the interpreter differ on " << f.name << ", " << *difference << "; smaller:\n"
           << Print(small);
  }
}

// One batch of each round. `tag`: the generator's, for the names of modules.
inline void ExpectAgreementOn(const std::string& tag, uint64_t batch, const Column& column) {
  const uint64_t begin = FromEnvironment("KERNPACK_DIFFERENTIAL_SEED", 0);
  const uint64_t rounds = FromEnvironment("KERNPACK_DIFFERENTIAL_ROUNDS", 1);
  for (uint64_t round = 0; round < rounds; ++round) {
    const uint64_t first = begin + (round * kBatches + batch) * kBatch;
    const IRModule module = Batch(first, "random_" + tag + "_" + std::to_string(first));
    // Math functions are what their expansion says, so that is what is interpreted.
    ExpectAgreement(module, Lower(module), column);
  }
}

}  // namespace ir_test
