// The contract of a program that is called as a function.
#ifndef KERNPACK_SDK_SRC_EXECUTE_SIGNATURE_H_
#define KERNPACK_SDK_SRC_EXECUTE_SIGNATURE_H_

#include "execute/prepared.h"

namespace kernpack::sdk::program {

// "(x: f32[N, 8], a: float) -> (z: f32[N, 8])" of the entry. ValueError naming the value whose type no signature can say.
std::string DeriveSignature(const Prepared& prepared);
// The target kind of code for where the entry's tensors are; "" on the host.
std::string TargetKindOf(const Program& program);
// ValueError unless a module may have that name, and a function of that name.
void CheckNames(const std::string& module, const std::string& name);

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_SRC_EXECUTE_SIGNATURE_H_
