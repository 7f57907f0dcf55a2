// Tokens of the text form.
#ifndef KERNPACK_SDK_COMPILER_IR_LEXER_H_
#define KERNPACK_SDK_COMPILER_IR_LEXER_H_

#include <kernpack/sdk/ir/expr.h>

namespace kernpack::sdk::ir {

enum class TokenKind : uint8_t { kName, kNumber, kString, kSign, kEnd };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;  // a string: between its quotes
  Position position;
};

// Throws TextError "line L, column C: <message>", behind "<file>, " where one is given.
[[noreturn]] void FailAt(Position position, const std::string& message, const char* kind = "ValueError",
                         const std::string& file = "");

// One token ahead. `text` must outlive it.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) { Advance(); }

  const Token& now() const { return now_; }
  Token Take();
  bool Is(std::string_view sign_or_word) const;
  bool Accept(std::string_view sign_or_word);
  Token Expect(std::string_view sign_or_word);
  Token ExpectKind(TokenKind kind, const char* what);
  [[noreturn]] void Expected(const std::string& what) const;
  // The string at hand without its escapes.
  std::string TakeString();

 private:
  std::string_view text_;
  size_t at_ = 0;
  Position position_{1, 1};
  Token now_;

  void Advance();
  void SkipSpace();
  size_t LengthOfToken(TokenKind* kind) const;
  void Step(size_t n);
};

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_IR_LEXER_H_
