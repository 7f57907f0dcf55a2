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

// The contract of a module's function, compiled from its text. The module's own `program` (nullable, `words` long) is not read:
// it may be newer, older or damaged, and compiling the text takes microseconds, once. `name` (nullable) is what the text's
// optional name must be. 0, or -1 with a ValueError raised.
int SignatureFromProgram(const uint32_t* program, uint32_t words, const char* text, const char* name,
                         const KpSignature** out);

// Raises through kp_raise.
extern const signature::Raiser kHostRaiser;

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_SIGNATURE_SIGNATURE_H_
