// The header of an IR function that has a given contract.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_CONTRACT_HEADER_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_CONTRACT_HEADER_H_

#include <string>

namespace kernpack::sdk::ir {

// "(x: f32[N, D], k: f64) -> (y: f32[N, D])", for ParseHeader(); a float is an f64, an int an i64. ValueError for a contract that
// doesn't compile; NotImplementedError for a contract that no such function can have: of several dtypes, optional arguments, lists.
std::string HeaderOfContract(const std::string& function, const std::string& contract);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_CONTRACT_HEADER_H_
