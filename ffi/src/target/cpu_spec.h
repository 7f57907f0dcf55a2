// What a CPU target says about its processor: -mtriple, -mcpu, -mattr.
#ifndef KERNPACK_SRC_TARGET_CPU_SPEC_H_
#define KERNPACK_SRC_TARGET_CPU_SPEC_H_

#include <string>
#include <string_view>
#include <vector>

#include "target/cpu_arch.h"

namespace kernpack::host {

struct CpuSpec {
  const CpuArch* arch = nullptr;  // NULL: none named, or one that we know no features of
  CpuFeatures features;           // with all they bring
  std::string foreign;            // the architecture of a triple that we know no features of
};

// "" and *out, or what is wrong: a processor or feature that the architecture does not have, with `advise` the nearest that it
// has and all of them; a feature both asked for and taken away. `attributes`: "+avx2", "-fma", or "avx2" for "+avx2". Of a
// triple that we know no features of, any processor and feature is taken as it is.
std::string ReadCpuSpec(std::string_view triple, std::string_view cpu, const std::vector<std::string_view>& attributes,
                        bool advise, CpuSpec* out);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_TARGET_CPU_SPEC_H_
