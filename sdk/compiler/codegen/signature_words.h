// Compiling the text of a contract (docs/signature.md).
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_SIGNATURE_WORDS_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_SIGNATURE_WORDS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace kernpack::sdk {

// The words that signature::View reads. ValueError "<function>: signature '...', position 7: ...".
std::vector<uint32_t> CompileSignature(const std::string& function, const std::string& text);

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_SIGNATURE_WORDS_H_
