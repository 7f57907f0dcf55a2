#include <kernpack/sdk/target_match.h>

#include "shared/target/target_match.h"

namespace kernpack::sdk {

TargetMatch Matches(const Target& code, const Target& machine) {
  const std::string wanted = code.FullText();
  const std::string has = machine.FullText();
  host::TargetWords code_words;
  host::TargetWords machine_words;
  host::CpuSpec processor;
  std::string problem = host::ReadTargetWords(wanted, &code_words);
  if (!problem.empty()) return {-1, std::move(problem)};
  problem = host::ReadTargetWords(has, &machine_words);
  if (problem.empty()) problem = host::ReadCpuSpec(machine_words, &processor);
  if (!problem.empty()) return {-1, "of the machine: " + problem};
  host::TargetMatch match = host::MatchWords(code_words, machine_words, &processor);
  return {match.rank, std::move(match.reason)};
}

bool Supports(const Target& code, const Target& machine) { return static_cast<bool>(Matches(code, machine)); }

BestMatch PickBest(std::span<const Target> variants, const Target& machine) {
  BestMatch best;
  int32_t rank = -1;
  for (const Target& variant : variants) {
    TargetMatch match = Matches(variant, machine);
    if (match.rank > rank) {
      rank = match.rank;
      best.index = best.matches.size();
    }
    best.matches.push_back(std::move(match));
    best.variants.push_back(variant.str());
  }
  return best;
}

std::string BestMatch::Explain() const {
  std::string out;
  for (size_t i = 0; i < matches.size(); ++i) {
    const bool chosen = index == i;
    const char* verdict = chosen ? "* " : "  ";
    out += verdict + variants[i] + ": " + (matches[i] ? "" : "refused, ") + matches[i].reason + "\n";
  }
  return out;
}

}  // namespace kernpack::sdk
