// PTX's words.
#ifndef KERNPACK_SDK_EMULATOR_PTX_LEXER_H_
#define KERNPACK_SDK_EMULATOR_PTX_LEXER_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace kernpack::emulator {

struct Token {
  enum class Kind : uint8_t { kEnd, kWord, kInteger, kFloat, kString, kPunctuation };
  Kind kind = Kind::kEnd;
  std::string_view text;    // a word with its dots: ".reg", "%tid.x", "ld.global.f32"
  int64_t value = 0;        // of an integer; bits of a float
  uint8_t float_bytes = 0;  // 4 or 8
  uint32_t line = 1;

  bool Is(std::string_view what) const { return kind != Kind::kString && text == what; }
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) { Advance(); }

  const Token& Peek() const { return next_; }
  Token Take();
  // The next token if it is `what`.
  bool Accept(std::string_view what);
  // Throws PtxError, which says what was expected, unless the next token is `what`.
  Token Expect(std::string_view what);
  Token ExpectWord(const char* what);
  int64_t ExpectInteger(const char* what);

 private:
  std::string_view text_;
  size_t at_ = 0;
  uint32_t line_ = 1;
  Token next_;

  void Advance();
  void SkipBlank();
  void Number();
  void Word();
};

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_PTX_LEXER_H_
