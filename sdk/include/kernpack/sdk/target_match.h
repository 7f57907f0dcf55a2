// Which code runs on which machine: the rule by which modules choose among the variants of a function, for compilers.
#ifndef KERNPACK_SDK_TARGET_MATCH_H_
#define KERNPACK_SDK_TARGET_MATCH_H_

#include <kernpack/sdk/target.h>

#include <span>

namespace kernpack::sdk {

struct TargetMatch {
  int32_t rank = -1;   // below 0: it does not run there; else higher is more specific
  std::string reason;  // a fragment of a sentence

  explicit operator bool() const { return rank >= 0; }
};

// Decides if code that was built for `code` runs on the machine that `machine` describes, with the reason. Limits of the code
// (max_num_threads) must not exceed the machine's, its processor features must be among the machine's, its architecture must be one that the machine runs.
TargetMatch Matches(const Target& code, const Target& machine);
bool Supports(const Target& code, const Target& machine);

struct BestMatch {
  std::optional<size_t> index;  // of the most specific variant that runs, the first of equals; nullopt if none runs
  std::vector<TargetMatch> matches;  // of each
  std::vector<std::string> variants;  // of each, as text

  // One line per variant, "* llvm -mcpu=x86-64-v3: this processor is x86-64-v3"; the chosen one has the star.
  std::string Explain() const;
};

BestMatch PickBest(std::span<const Target> variants, const Target& machine);

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_TARGET_MATCH_H_
