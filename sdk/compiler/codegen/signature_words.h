// Contracts (docs/signature.md): compiling their text, and the header of an IR function that has one.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_SIGNATURE_WORDS_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_SIGNATURE_WORDS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace kernpack::sdk {

// The words that signature::View reads. ValueError "<function>: signature '...', position 7: ...".
std::vector<uint32_t> CompileSignature(const std::string& function, const std::string& text);

namespace ir {

// "(x: f32[N, D], k: f64) -> (y: f32[N, D])", for ParseHeader(); a float is an f64, an int an i64. ValueError for a contract that
// doesn't compile; NotImplementedError for a contract that no such function can have: of several dtypes, optional arguments, lists.
std::string HeaderOfContract(const std::string& function, const std::string& contract);

}  // namespace ir
}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_SIGNATURE_WORDS_H_
