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

#include <kernpack/error.h>
#include <kernpack/sdk/ir/stmt.h>

namespace kernpack::sdk::ir {

// Variables with the same name in one scope are renamed.
std::string Print(const IRModule& module);
std::string Print(const FuncNode& function);
std::string Print(const Expr& e);  // an expression without its function: names aren't changed

// An error in a text, a ValueError or TypeError: "line 3, column 9: expected ..., got ...".
class TextError : public Error {
 public:
  TextError(const char* kind, Position position, const std::string& message, const std::string& file = "");

  Position position() const { return position_; }
  const std::string& message() const { return message_; }  // without the position

 private:
  Position position_;
  std::string message_;
};

// Throws TextError.
IRModule Parse(std::string_view text);

// A function without statements, of that name; `header`: "(x: f32[N], k: f32) -> (out: f32[N])". TextError with positions
// in `header`; ValueError if `name` isn't a valid function name.
FuncNode ParseHeader(const std::string& name, std::string_view header);

// A constant as the text form writes it.
std::string PrintConst(Type type, uint64_t bits);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_IR_TEXT_H_
