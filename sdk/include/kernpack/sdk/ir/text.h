// The text form. Parse(Print(m)) is structurally equal to m for every module that verifies.
//
//   func scale(x: f32[N, D], k: f32) -> (out: f32[N, D]) {
//     parallel i in 0..N {
//       vectorized(8) j in 0..D {
//         out[i, j] = x[i, j] * k
//       }
//     }
//   }
//
// docs/ir.md has the grammar.
#ifndef KERNPACK_SDK_IR_TEXT_H_
#define KERNPACK_SDK_IR_TEXT_H_

#include <kernpack/sdk/ir/stmt.h>

namespace kernpack::sdk::ir {

// Names are made unique where two variables that live at once share one.
std::string Print(const IRModule& module);
std::string Print(const FuncNode& function);
std::string Print(const Expr& e);  // of an expression without its function: names as they are

// ValueError or TypeError: "line 3, column 9: expected ..., got ...".
IRModule Parse(std::string_view text);

// A constant as the text form writes it.
std::string PrintConst(Type type, uint64_t bits);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_IR_TEXT_H_
