// A program as a function of a module: its contract, its names, and its C source, which runs without the SDK.
#ifndef KERNPACK_SDK_PROGRAMS_EXECUTE_MODULE_PARTS_H_
#define KERNPACK_SDK_PROGRAMS_EXECUTE_MODULE_PARTS_H_

#include "execute/resolved_plan.h"

namespace kernpack::sdk::program {

// "(x: f32[N, 8], a: float) -> (z: f32[N, 8])" of the entry. ValueError naming the value whose type no signature can say.
std::string DeriveSignature(const ResolvedPlan& resolved);
// The target kind of code for where the entry's tensors are; "" on the host.
std::string GetTargetKind(const Program& program);
// ValueError unless a module may have that name, and a function of that name.
void CheckNames(const std::string& module, const std::string& name);

// See Executable::Source.
std::string WriteSource(const ResolvedPlan& resolved, const std::string& module, const std::string& version);

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAMS_EXECUTE_MODULE_PARTS_H_
