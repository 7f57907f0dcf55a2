#include <kernpack/sdk/target_match.h>

#include "target/host.h"

namespace kernpack::sdk {

TargetMatch Matches(const Target& code, const Target& machine) {
  const std::string wanted = code.FullText();
  const std::string has = machine.FullText();
  TargetMatch match;
  HostValue reason;
  Check(TargetApi().match(BytesOf(wanted), BytesOf(has), &match.rank, reason.out()));
  match.reason = reason.str();
  return match;
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
