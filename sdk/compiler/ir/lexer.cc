#include "ir/lexer.h"

#include <kernpack/sdk/ir/text.h>

#include <cctype>

#include "ir/names.h"

namespace kernpack::sdk::ir {
namespace {

bool IsLetter(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool IsDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }

constexpr std::string_view kSigns[] = {"...", "->", "..", "<<", ">>", "==", "!=", "<=", ">="};

Error ErrorAt(const char* kind, Position position, const std::string& message, const std::string& file) {
  const std::string text = (file.empty() ? "" : file + ", ") + "line " + std::to_string(position.line) + ", column " +
                           std::to_string(position.column) + ": " + message;
  return Error(kind, KpBytes{text.data(), text.size()});
}

}  // namespace

TextError::TextError(const char* kind, Position position, const std::string& message, const std::string& file)
    : Error(ErrorAt(kind, position, message, file)), position_(position), message_(message) {}

void FailAt(Position position, const std::string& message, const char* kind, const std::string& file) {
  throw TextError(kind, position, message, file);
}

void Lexer::Step(size_t n) {
  for (; n; --n, ++at_) {
    if (text_[at_] == '\n') {
      ++position_.line;
      position_.column = 1;
    } else {
      ++position_.column;
    }
  }
}

void Lexer::SkipSpace() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '#') {
      while (at_ < text_.size() && text_[at_] != '\n') Step(1);
    } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      Step(1);
    } else {
      return;
    }
  }
}

size_t Lexer::LengthOfToken(TokenKind* kind) const {
  const std::string_view rest = text_.substr(at_);
  const auto is = [&rest](size_t i, auto test) { return i < rest.size() && test(rest[i]); };
  size_t n = 1;
  if (IsLetter(rest[0])) {
    *kind = TokenKind::kName;
    while (is(n, IsLetter) || is(n, IsDigit)) ++n;
    if (n > kLongestName) FailAt(position_, "a name of more than " + std::to_string(kLongestName) + " characters");
    return n;
  }
  if (IsDigit(rest[0])) {
    *kind = TokenKind::kNumber;
    while (is(n, IsDigit)) ++n;
    if (is(n, [](char c) { return c == '.'; }) && is(n + 1, IsDigit)) {
      for (++n; is(n, IsDigit);) ++n;
    }
    const bool exponent = is(n, [](char c) { return c == 'e' || c == 'E'; });
    const size_t sign = exponent && is(n + 1, [](char c) { return c == '+' || c == '-'; }) ? 1 : 0;
    if (exponent && is(n + 1 + sign, IsDigit)) {
      for (n += 1 + sign; is(n, IsDigit);) ++n;
    }
    while (is(n, IsLetter) || is(n, IsDigit)) ++n;  // the type behind it
    return n;
  }
  if (rest[0] == '"') {
    *kind = TokenKind::kString;
    while (n < rest.size() && rest[n] != '"' && rest[n] != '\n') n += rest[n] == '\\' && n + 1 < rest.size() ? 2 : 1;
    if (n >= rest.size() || rest[n] != '"') FailAt(position_, "a string that does not end on its line");
    return n + 1;
  }
  *kind = TokenKind::kSign;
  for (const std::string_view sign : kSigns) {
    if (rest.substr(0, sign.size()) == sign) return sign.size();
  }
  return 1;
}

void Lexer::Advance() {
  SkipSpace();
  now_ = Token{TokenKind::kEnd, {}, position_};
  if (at_ == text_.size()) return;
  const size_t n = LengthOfToken(&now_.kind);
  now_.text = text_.substr(at_, n);
  if (now_.kind == TokenKind::kString) now_.text = now_.text.substr(1, n - 2);
  Step(n);
}

Token Lexer::Take() {
  const Token t = now_;
  Advance();
  return t;
}

bool Lexer::Is(std::string_view sign_or_word) const {
  return (now_.kind == TokenKind::kName || now_.kind == TokenKind::kSign) && now_.text == sign_or_word;
}

bool Lexer::Accept(std::string_view sign_or_word) {
  if (!Is(sign_or_word)) return false;
  Advance();
  return true;
}

Token Lexer::Expect(std::string_view sign_or_word) {
  if (!Is(sign_or_word)) Expected("'" + std::string(sign_or_word) + "'");
  return Take();
}

Token Lexer::ExpectKind(TokenKind kind, const char* what) {
  if (now_.kind != kind) Expected(what);
  return Take();
}

void Lexer::Expected(const std::string& what) const {
  std::string got = now_.kind == TokenKind::kEnd ? "the end" : "'" + std::string(now_.text.substr(0, 40)) + "'";
  for (char& c : got) {
    if (static_cast<unsigned char>(c) < 32 || static_cast<unsigned char>(c) > 126) c = '?';
  }
  FailAt(now_.position, "expected " + what + ", got " + got);
}

std::string Lexer::TakeString() {
  const Token t = ExpectKind(TokenKind::kString, "a string in quotes");
  std::string out;
  const auto hex = [&t](size_t i) -> int {
    if (i >= t.text.size()) return -1;
    const char c = t.text[i];
    return IsDigit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  };
  for (size_t i = 0; i < t.text.size(); ++i) {
    if (t.text[i] != '\\') {
      out += t.text[i];
      continue;
    }
    const char c = ++i < t.text.size() ? t.text[i] : 0;
    if (c == '"' || c == '\\') {
      out += c;
    } else if (c == 'x' && hex(i + 1) >= 0 && hex(i + 1) < 8 && hex(i + 2) >= 0) {
      out += static_cast<char>(hex(i + 1) * 16 + hex(i + 2));
      i += 2;
    } else {
      FailAt(t.position, "expected \\\", \\\\ or \\x and two digits, up to \\x7f, in a string");
    }
  }
  return out;
}

}  // namespace kernpack::sdk::ir
