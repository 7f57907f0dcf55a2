// Splits a signature's text into tokens. constexpr; keeps the first error and then yields nothing but the end.
#ifndef KERNPACK_SIGNATURE_LEXER_H_
#define KERNPACK_SIGNATURE_LEXER_H_

#include <kernpack/signature/reason.h>

KP_NAMESPACE_BEGIN
namespace signature {

enum class Tok : uint8_t {
  kEnd,
  kName,    // lower-case word
  kVar,     // word with a capital first
  kNumber,  // digits, maybe with a fraction and an exponent
  kString,  // begin and end are inside the quotes
  kChar,    // one punctuation character
  kEllipsis,
  kBroadcast,    // ~...
  kArrow,        // ->
  kFloorDivide,  // //
  kLessEqual,
  kGreaterEqual,
  kEqual,
  kNotEqual,
};

struct Token {
  Tok kind;
  char ch;  // of kChar
  uint32_t begin;
  uint32_t end;
};

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
constexpr bool IsLower(char c) { return (c >= 'a' && c <= 'z') || c == '_'; }
constexpr bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }

struct Lexer {
  const char* text;
  uint32_t size;
  Token now{Tok::kEnd, 0, 0, 0};
  uint32_t previous_end = 0;  // of the token before `now`
  Reason reason = Reason::kNone;
  uint32_t position = 0;

  // Always false, so that parsers can `return Fail(...)`.
  constexpr bool Fail(Reason why, uint32_t where) {
    if (reason == Reason::kNone) {
      reason = why;
      position = where;
      now = {Tok::kEnd, 0, size, size};
    }
    return false;
  }
  // Where the token at hand starts, its quote included.
  constexpr uint32_t Here() const { return now.begin - (now.kind == Tok::kString ? 1 : 0); }
  constexpr bool Fail(Reason why) { return Fail(why, Here()); }

  constexpr void Next() {
    previous_end = now.end;
    if (reason != Reason::kNone) return;
    uint32_t i = now.end;
    while (i < size && (text[i] == ' ' || text[i] == '\n' || text[i] == '\t' || text[i] == '\r')) ++i;
    now = {Tok::kEnd, 0, i, i};
    if (i == size) return;
    const char c = text[i];
    if (IsLower(c) || IsUpper(c)) {
      ReadWord(i);
    } else if (IsDigit(c)) {
      ReadNumber(i);
    } else if (c == '"' || c == '\'') {
      ReadString(i);
    } else {
      ReadMark(i);
    }
  }

  constexpr bool Is(char c) const { return now.kind == Tok::kChar && now.ch == c; }
  constexpr bool Accept(char c) {
    if (!Is(c)) return false;
    Next();
    return true;
  }
  constexpr bool Expect(char c, Reason why) { return Accept(c) || Fail(why); }
  template <uint32_t N>
  constexpr bool Spells(const Token& t, const char (&word)[N]) const {
    if (t.end - t.begin != N - 1) return false;
    for (uint32_t i = 0; i < N - 1; ++i) {
      if (text[t.begin + i] != word[i]) return false;
    }
    return true;
  }
  template <uint32_t N>
  constexpr bool IsWord(const char (&word)[N]) const {
    return (now.kind == Tok::kName || now.kind == Tok::kVar) && Spells(now, word);
  }
  constexpr bool Same(const Token& a, const Token& b) const {
    if (a.end - a.begin != b.end - b.begin) return false;
    for (uint32_t i = 0; i < a.end - a.begin; ++i) {
      if (text[a.begin + i] != text[b.begin + i]) return false;
    }
    return true;
  }

 private:
  constexpr void ReadWord(uint32_t i) {
    now.kind = IsUpper(text[i]) ? Tok::kVar : Tok::kName;
    bool capitals = false;
    for (; i < size && (IsLower(text[i]) || IsUpper(text[i]) || IsDigit(text[i])); ++i) capitals |= IsUpper(text[i]);
    now.end = i;
    if (now.kind == Tok::kName && capitals) Fail(Reason::kNameMustBeLowerCase);
  }

  constexpr void ReadNumber(uint32_t i) {
    now.kind = Tok::kNumber;
    while (i < size && IsDigit(text[i])) ++i;
    if (i + 1 < size && text[i] == '.' && IsDigit(text[i + 1])) {
      ++i;
      while (i < size && IsDigit(text[i])) ++i;
    }
    if (i < size && (text[i] == 'e' || text[i] == 'E')) {
      ++i;
      if (i < size && (text[i] == '+' || text[i] == '-')) ++i;
      if (i == size || !IsDigit(text[i])) {
        Fail(Reason::kMalformedNumber);
        return;
      }
      while (i < size && IsDigit(text[i])) ++i;
    }
    now.end = i;
    if (i < size && (IsLower(text[i]) || IsUpper(text[i]))) Fail(Reason::kMalformedNumber);
  }

  constexpr void ReadString(uint32_t i) {
    const char quote = text[i++];
    now.kind = Tok::kString;
    now.begin = i;
    for (; i < size && text[i] != quote; ++i) {
      char c = text[i];
      if (c == '\\' && i + 1 < size) {
        c = text[++i];
        if (c != '\\' && c != '"' && c != '\'' && c != 'n' && c != 't') {
          Fail(Reason::kBadCharacterInString, i);
          return;
        }
      } else if ((static_cast<unsigned char>(c) < 0x20) || c == 0x7f) {
        Fail(Reason::kBadCharacterInString, i);
        return;
      }
    }
    if (i == size) {
      Fail(Reason::kUnterminatedString, now.begin - 1);
      return;
    }
    string_end = i;
    now.end = i + 1;
  }

  constexpr char At(uint32_t i) const { return i < size ? text[i] : '\0'; }

  constexpr void ReadMark(uint32_t i) {
    const char c = text[i];
    const char d = At(i + 1);
    uint32_t length = 2;
    if (c == '.' && d == '.' && At(i + 2) == '.') {
      now.kind = Tok::kEllipsis;
      length = 3;
    } else if (c == '~' && d == '.' && At(i + 2) == '.' && At(i + 3) == '.') {
      now.kind = Tok::kBroadcast;
      length = 4;
    } else if (c == '-' && d == '>') {
      now.kind = Tok::kArrow;
    } else if (c == '/' && d == '/') {
      now.kind = Tok::kFloorDivide;
    } else if (c == '<' && d == '=') {
      now.kind = Tok::kLessEqual;
    } else if (c == '>' && d == '=') {
      now.kind = Tok::kGreaterEqual;
    } else if (c == '=' && d == '=') {
      now.kind = Tok::kEqual;
    } else if (c == '!' && d == '=') {
      now.kind = Tok::kNotEqual;
    } else {
      for (const char* p = "()[]{},:*!=?@<>+-%"; *p; ++p) {
        if (*p == c) now.kind = Tok::kChar;
      }
      if (now.kind != Tok::kChar) {
        Fail(Reason::kUnexpectedCharacter);
        return;
      }
      now.ch = c;
      length = 1;
    }
    now.end = i + length;
  }

 public:
  uint32_t string_end = 0;  // where the text of the last string token ends, before its quote
};

}  // namespace signature
KP_NAMESPACE_END

#endif  // KERNPACK_SIGNATURE_LEXER_H_
