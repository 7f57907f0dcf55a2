// Signatures as libkernpack keeps them, and the loader's way in.
#ifndef KERNPACK_SRC_SIGNATURE_SIGNATURE_H_
#define KERNPACK_SRC_SIGNATURE_SIGNATURE_H_

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

// The contract of a module's function. `program` (nullable, `words` long) is what the module's compiler wrote: it is kept only
// if this host would have written the same, so a newer, older or damaged program costs nothing but the text's compilation.
// `name` (nullable) is what the text's optional name must be. 0, or -1 with a ValueError raised.
int SignatureFromProgram(const uint32_t* program, uint32_t words, const char* text, const char* name,
                         const KpSignature** out);

// Raises through kp_raise.
extern const signature::Raiser kHostRaiser;

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_SIGNATURE_SIGNATURE_H_
