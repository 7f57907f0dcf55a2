// Signatures as libkernpack keeps them, and the loader's way in.
#ifndef KERNPACK_SRC_VALUES_SIGNATURE_SIGNATURE_H_
#define KERNPACK_SRC_VALUES_SIGNATURE_SIGNATURE_H_

#include <string>
#include <vector>

#include <kernpack/host/signature.h>
#include <kernpack/signature/check.h>

// Immortal, interned by text.
struct KpSignature {
  std::string text;
  std::vector<uint32_t> program;
};

namespace kernpack::host {

// The contract of a module's function, compiled from its text. Of the module's own `program` only the version is read: the rest
// may be older or damaged, and compiling the text takes microseconds, once. `name` is what the text's optional name must be,
// `abi` the ABI that the module was built for. 0, or -1 with an error raised: ValueError; ImportError where a later host
// understands what this one does not.
int ParseContract(const KpFunctionInfo& info, const char* name, uint32_t abi, const KpSignature** out);

// Raises through kp_raise.
extern const signature::Raiser kHostRaiser;

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_VALUES_SIGNATURE_SIGNATURE_H_
