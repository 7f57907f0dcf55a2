// A target's command-line form, taken apart but not checked against any kind.
#ifndef KERNPACK_SRC_TARGET_TARGET_WORDS_H_
#define KERNPACK_SRC_TARGET_TARGET_WORDS_H_

#include <string>
#include <string_view>
#include <vector>

#include "target/cpu_spec.h"

namespace kernpack::host {

struct TargetOption {
  std::string_view name;  // without its dashes
  std::string_view raw;   // still quoted; "true" where only the name stands
};

struct TargetWords {
  std::string_view kind;
  std::vector<TargetOption> options;

  // NULL: not given.
  const TargetOption* Find(std::string_view name) const;
};

// "" and *out, which borrows `text`; or what is wrong.
std::string ReadTargetWords(std::string_view text, TargetWords* out);
// The processor of a CPU target; as ReadCpuSpec, without advice.
std::string ReadCpuSpec(const TargetWords& target, CpuSpec* out);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_TARGET_TARGET_WORDS_H_
