// The options of a CPU target for its processor: -mtriple, -mcpu, -mattr.
#ifndef KERNPACK_SHARED_TARGET_CPU_SPEC_H_
#define KERNPACK_SHARED_TARGET_CPU_SPEC_H_

#include <string>
#include <string_view>
#include <vector>

#include "shared/target/cpu_arch.h"
#include "shared/target_text.h"

namespace kernpack::host {

struct CpuSpec {
  const CpuArch* arch = nullptr;  // NULL: none named, or one that we know no features of
  CpuFeatures features;           // with all they bring
  std::string foreign;            // the architecture of a triple that we know no features of
};

// A processor or feature that isn't known: what the SDK's advice is about.
struct UnknownCpuName {
  std::string_view name;  // "" when all are known
  bool is_feature = false;
  const CpuArch* arch = nullptr;  // where it was looked for; NULL: everywhere
};

// "" and *out, or what is wrong: a processor or feature that the architecture does not have, then also in *unknown unless that is
// NULL; a feature both asked for and taken away. `attributes`: "+avx2", "-fma", or "avx2" for "+avx2". Of a triple that we know no
// features of, any processor and feature is taken as it is.
std::string ReadCpuSpec(std::string_view triple, std::string_view cpu, const std::vector<std::string_view>& attributes,
                        CpuSpec* out, UnknownCpuName* unknown = nullptr);
// From the words of a CPU target.
std::string ReadCpuSpec(const TargetWords& target, CpuSpec* out);

// The highest x86-64 level that it has all of, "x86-64-v3"; NULL when there is none.
const CpuEntry* NearestLevel(const CpuSpec& cpu);
// As text; of a processor without levels, its architecture.
std::string NearestCpuLevel(const CpuSpec& cpu);

}  // namespace kernpack::host

#endif  // KERNPACK_SHARED_TARGET_CPU_SPEC_H_
