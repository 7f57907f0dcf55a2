#include "ptx/lexer.h"

#include <cstdlib>
#include <cstring>

#include "ptx/syntax.h"

namespace kernpack::emulator {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Tables, as each character of a text is looked up.
struct Characters {
  bool word[256] = {}, space[256] = {};
};
constexpr Characters kCharacters = [] {
  Characters out;
  for (unsigned c = 'a'; c <= 'z'; ++c) out.word[c] = out.word[c - 'a' + 'A'] = true;
  for (unsigned c = '0'; c <= '9'; ++c) out.word[c] = true;
  for (const char c : {'_', '$', '.', '%'}) out.word[static_cast<unsigned char>(c)] = true;
  for (const char c : {' ', '\t', '\n', '\v', '\f', '\r'}) out.space[static_cast<unsigned char>(c)] = true;
  return out;
}();
bool InWord(char c) { return kCharacters.word[static_cast<unsigned char>(c)]; }
bool IsSpace(char c) { return kCharacters.space[static_cast<unsigned char>(c)]; }

std::string Shown(const Token& token) {
  return token.kind == Token::Kind::kEnd ? "the end of the text" : "'" + std::string(token.text.substr(0, 60)) + "'";
}

}  // namespace

Token Lexer::Take() {
  Token taken = next_;
  Advance();
  return taken;
}

bool Lexer::Accept(std::string_view what) {
  if (!next_.Is(what)) return false;
  Advance();
  return true;
}

Token Lexer::Expect(std::string_view what) {
  if (!next_.Is(what)) throw PtxError(next_.line, "expected '" + std::string(what) + "', got " + Shown(next_));
  return Take();
}

Token Lexer::ExpectWord(const char* what) {
  if (next_.kind != Token::Kind::kWord)
    throw PtxError(next_.line, std::string("expected ") + what + ", got " + Shown(next_));
  return Take();
}

int64_t Lexer::ExpectInteger(const char* what) {
  const bool minus = Accept("-");
  if (next_.kind != Token::Kind::kInteger) {
    throw PtxError(next_.line, std::string("expected ") + what + ", got " + Shown(next_));
  }
  const int64_t value = Take().value;
  return minus ? static_cast<int64_t>(0 - static_cast<uint64_t>(value)) : value;
}

void Lexer::SkipBlank() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '\n') ++line_;
    if (IsSpace(c)) {
      ++at_;
    } else if (c != '/') {
      return;
    } else if (text_.substr(at_, 2) == "//") {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    } else if (text_.substr(at_, 2) == "/*") {
      const uint32_t begin = line_;
      const size_t end = text_.find("*/", at_ + 2);
      if (end == std::string_view::npos) throw PtxError(begin, "a comment that begins here does not end");
      for (; at_ < end; ++at_) line_ += text_[at_] == '\n';
      at_ += 2;
    } else {
      return;
    }
  }
}

void Lexer::Advance() {
  SkipBlank();
  next_ = Token();
  next_.line = line_;
  if (at_ >= text_.size() || text_[at_] == '\0') return;
  const char c = text_[at_];
  if (IsDigit(c)) return Number();
  if (c == '"') {
    const size_t end = text_.find('"', at_ + 1);
    if (end == std::string_view::npos) throw PtxError(line_, "a string that begins here does not end");
    next_.kind = Token::Kind::kString;
    next_.text = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return;
  }
  if (InWord(c)) return Word();
  next_.kind = Token::Kind::kPunctuation;
  next_.text = text_.substr(at_++, 1);
}

// "shared::cta" is one word, "$L:" a label and its colon.
void Lexer::Word() {
  const size_t begin = at_;
  while (at_ < text_.size()) {
    if (InWord(text_[at_])) {
      ++at_;
    } else if (text_.substr(at_, 2) == "::" && at_ + 2 < text_.size() && InWord(text_[at_ + 2])) {
      at_ += 2;
    } else {
      break;
    }
  }
  next_.kind = Token::Kind::kWord;
  next_.text = text_.substr(begin, at_ - begin);
}

void Lexer::Number() {
  const size_t begin = at_;
  const std::string rest(text_.substr(at_, 64));
  const char kind = rest.size() > 1 ? rest[1] : '\0';
  char* end = nullptr;
  if (rest[0] == '0' && (kind == 'f' || kind == 'F' || kind == 'd' || kind == 'D')) {
    const size_t digits = (kind == 'f' || kind == 'F') ? 8 : 16;
    const std::string hex = rest.substr(2, digits);
    next_.value = static_cast<int64_t>(std::strtoull(hex.c_str(), &end, 16));
    if (hex.size() != digits || *end != '\0')
      throw PtxError(line_, "expected " + std::to_string(digits) + " hexadecimal digits after 0" + kind);
    next_.kind = Token::Kind::kFloat;
    next_.float_bytes = static_cast<uint8_t>(digits / 2);
    at_ += 2 + digits;
  } else {
    const bool binary = rest[0] == '0' && (kind == 'b' || kind == 'B');
    next_.kind = Token::Kind::kInteger;
    next_.value =
        static_cast<int64_t>(binary ? std::strtoull(rest.c_str() + 2, &end, 2) : std::strtoull(rest.c_str(), &end, 0));
    if ((*end == '.' && IsDigit(end[1])) || ((*end == 'e' || *end == 'E') && kind != 'x' && kind != 'X')) {
      const double value = std::strtod(rest.c_str(), &end);
      std::memcpy(&next_.value, &value, sizeof value);
      next_.kind = Token::Kind::kFloat;
      next_.float_bytes = 8;
    } else if (*end == 'U') {
      ++end;
    }
    at_ += static_cast<size_t>(end - rest.c_str());
  }
  next_.text = text_.substr(begin, at_ - begin);
}

}  // namespace kernpack::emulator
