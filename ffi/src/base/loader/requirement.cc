// Requirements of wheels, as far as they are written for libraries: "name>=13.1,<14".
#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/loader/needs.h"

namespace kernpack::host {
namespace {

constexpr std::string_view kOperators = "<>=!~";

// The numbers of a release, without zeros at its end: "13.1.0.post2" is 13, 1.
std::vector<uint64_t> ReadRelease(std::string_view text) {
  std::vector<uint64_t> release;
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
    const size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
    uint64_t number = 0;
    for (const char digit : text.substr(0, end)) number = number * 10 + static_cast<uint64_t>(digit - '0');
    release.push_back(number);
    text.remove_prefix(end);
    if (text.size() < 2 || text.front() != '.') break;
    text.remove_prefix(1);
  }
  while (!release.empty() && release.back() == 0) release.pop_back();
  return release;
}

bool Holds(std::string_view clause, const std::vector<uint64_t>& version) {
  const size_t at = std::min(clause.find_first_not_of(kOperators), clause.size());
  const std::string_view op = clause.substr(0, at);
  const std::vector<uint64_t> bound =
      ReadRelease(clause.substr(std::min(clause.find_first_not_of(' ', at), clause.size())));
  if (op == ">=") return version >= bound;
  if (op == ">") return version > bound;
  if (op == "<=") return version <= bound;
  if (op == "<") return version < bound;
  if (op == "==" && clause.find('*') == std::string_view::npos) return version == bound;
  return true;  // pip judges the others when it installs
}

}  // namespace

std::string_view RequiredName(std::string_view requirement) {
  return requirement.substr(0, requirement.find_first_of("<>=!~ ;[("));
}

bool RequirementAllows(std::string_view requirement, std::string_view version) {
  const std::vector<uint64_t> release = ReadRelease(version);
  std::string_view rest = requirement.substr(RequiredName(requirement).size());
  rest = rest.substr(0, rest.find(';'));
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(','), rest.size());
    std::string_view clause = rest.substr(0, end);
    clause.remove_prefix(std::min(clause.find_first_not_of(' '), clause.size()));
    if (!clause.empty() && !Holds(clause, release)) return false;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return true;
}

}  // namespace kernpack::host
