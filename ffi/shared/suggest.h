// The suggestion in an error about an unknown name. C++17, header-only: the host and the SDK speak alike.
#ifndef KERNPACK_SHARED_SUGGEST_H_
#define KERNPACK_SHARED_SUGGEST_H_

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace kernpack::host {

// Insertions, deletions, replacements and swaps of neighbours that turn one text into the other.
inline size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1);
  std::vector<size_t> last(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

// "; did you mean 'arch'?", or "" when nothing known is near. `known`: any range of text.
template <class Names>
std::string Suggest(std::string_view name, const Names& known) {
  constexpr size_t kLongest = 100;  // a longer name isn't a typing mistake
  if (name.size() > kLongest) return "";
  std::string_view best;
  size_t best_distance = std::max<size_t>(1, name.size() / 3) + 1;
  for (const auto& candidate : known) {
    const size_t size = std::string_view(candidate).size();
    if (std::max(size, name.size()) - std::min(size, name.size()) >= best_distance) continue;
    const size_t distance = EditDistance(name, candidate);
    if (distance >= best_distance || distance >= name.size()) continue;  // of one letter nothing is near
    best = candidate;
    best_distance = distance;
  }
  return best.empty() ? "" : "; did you mean '" + std::string(best) + "'?";
}

}  // namespace kernpack::host

#endif  // KERNPACK_SHARED_SUGGEST_H_
