// Where the compiler writes: the words of the program and the pool of its strings.
#ifndef KERNPACK_SIGNATURE_EMIT_H_
#define KERNPACK_SIGNATURE_EMIT_H_

#include <kernpack/signature/lexer.h>
#include <kernpack/signature/program.h>

KP_NAMESPACE_BEGIN
namespace signature {

struct Emitter : Lexer {
  static constexpr uint32_t kMaxStrings = 512;

  uint32_t* words;
  uint32_t capacity;
  uint32_t used = kHeadSize;
  char* pool;
  uint32_t pool_capacity;
  uint32_t pool_used = 0;
  uint32_t starts[kMaxStrings]{};  // of the strings in the pool
  uint32_t num_strings = 0;
  uint32_t since = 0;  // the ABI minor that brought the latest word of the text

  // The word at hand is one of that minor.
  constexpr void Since(uint32_t minor) {
    if (minor > since) since = minor;
  }

  constexpr Emitter(const char* text_, uint32_t size_, uint32_t* words_, uint32_t capacity_, char* pool_,
                    uint32_t pool_capacity_)
      : Lexer{text_, size_}, words(words_), capacity(capacity_), pool(pool_), pool_capacity(pool_capacity_) {}

  constexpr void Emit(uint32_t word) {
    if (used == capacity) {
      Fail(Reason::kProgramTooLarge);
    } else {
      words[used++] = word;
    }
  }
  constexpr void Emit(Op op, uint32_t operand = 0) { Emit(static_cast<uint32_t>(op) | operand << 8); }

  // Copies text[begin, end) to the pool, once; returns its offset there.
  constexpr uint32_t Intern(uint32_t begin, uint32_t end, bool escapes = false) {
    const uint32_t start = pool_used;
    if (end - begin + 1 > pool_capacity - pool_used || num_strings == kMaxStrings) {
      Fail(Reason::kProgramTooLarge);
      return 0;
    }
    for (uint32_t i = begin; i < end; ++i) {
      char c = text[i];
      if (escapes && c == '\\') {
        c = text[++i];
        if (c == 'n') c = '\n';
        if (c == 't') c = '\t';
      }
      pool[pool_used++] = c;
    }
    pool[pool_used++] = '\0';
    for (uint32_t i = 0; i < num_strings; ++i) {
      if (SamePooled(starts[i], start)) {
        pool_used = start;
        return starts[i];
      }
    }
    starts[num_strings++] = start;
    return start;
  }
  constexpr uint32_t Intern(const Token& t) { return Intern(t.begin, t.end); }

  // Takes the string token at hand.
  constexpr bool TakeString(uint32_t* out_offset) {
    if (now.kind != Tok::kString) return Fail(Reason::kExpectedString);
    *out_offset = Intern(now.begin, string_end, true);
    Next();
    return true;
  }

 private:
  constexpr bool SamePooled(uint32_t a, uint32_t b) const {
    while (pool[a] == pool[b]) {
      if (!pool[a]) return true;
      ++a;
      ++b;
    }
    return false;
  }
};

}  // namespace signature
KP_NAMESPACE_END

#endif  // KERNPACK_SIGNATURE_EMIT_H_
