// Compiles a signature's text to a program: in a constant expression when it is a literal, or at run time. One code.
#ifndef KERNPACK_SIGNATURE_COMPILE_H_
#define KERNPACK_SIGNATURE_COMPILE_H_

#include <kernpack/signature/clauses.h>

KP_NAMESPACE_BEGIN
namespace signature {

struct Compiler : Clauses {
  using Clauses::Clauses;

  constexpr Status Compile() {
    // The pool starts with the function's own name, "" where the text gives none.
    if (size > kMaxText) {
      Fail(Reason::kTextTooLong, kMaxText);
    } else {
      Next();
      Read();
    }
    if (reason == Reason::kNone) Finish();
    if (reason != Reason::kNone) return {reason, position, 0};
    return {Reason::kNone, 0, used};
  }

 private:
  // The ABI that a text is written for, "1.1 (x: ...) -> ...": a host that is older refuses the function by name, where
  // it would complain of words that it does not know.
  constexpr bool ReadVersion() {
    uint32_t parts[2]{};
    uint32_t part = 0;
    for (uint32_t i = now.begin; i < now.end; ++i) {
      if (text[i] == '.' && part == 0 && i != now.begin) {
        part = 1;
      } else if (!IsDigit(text[i]) || parts[part] > 999) {
        return Fail(Reason::kMalformedVersion);
      } else {
        parts[part] = parts[part] * 10 + static_cast<uint32_t>(text[i] - '0');
      }
    }
    if (part == 0) return Fail(Reason::kMalformedVersion);
    if (parts[0] != KP_ABI_MAJOR || parts[1] > KP_ABI_MINOR) return Fail(Reason::kOfAnotherAbi);
    Since(parts[1]);
    Next();
    return true;
  }

  constexpr bool Read() {
    if (now.kind == Tok::kNumber && !ReadVersion()) return false;
    const bool named = now.kind == Tok::kName;
    Intern(named ? now.begin : 0, named ? now.end : 0);
    if (named) {
      if (!CheckNewName()) return false;
      Next();
    }
    if (!ReadParameters()) return false;
    if (now.kind != Tok::kArrow) return Fail(Reason::kExpectedArrow);
    Next();
    if (!ReadResults() || !ReadWhere() || !ReadWith()) return false;
    if (now.kind != Tok::kEnd) return Fail(Reason::kExpectedEndWhereOrWith);
    return CheckDTypes();
  }

  constexpr void EmitTable(uint32_t head, const uint32_t* from, uint32_t count) {
    const uint32_t at = used;
    for (uint32_t i = 0; i < count; ++i) Emit(from[i]);
    if (reason == Reason::kNone) words[head] = at;
  }

  constexpr void EmitNames(uint32_t head, const Table& table) {
    uint32_t names[KP_SIG_MAX_DIMS]{};
    for (uint32_t i = 0; i < table.size; ++i) names[i] = Intern(table.at[i]);
    EmitTable(head, names, table.size);
  }

  constexpr void Finish() {
    EmitTable(kHeadParams, params, num_params * kRecord);
    EmitTable(kHeadResults, results, num_results * kRecord);
    EmitNames(kHeadDims, dims);
    EmitNames(kHeadStars, stars);
    EmitTable(kHeadDTypes, dtype_sets, dtypes.size);
    EmitTable(kHeadInts, int_params, ints.size);
    EmitTable(kHeadConditions, conditions, num_conditions);
    if (props & KP_PROP_INVARIANT) Emit(invariant);
    const uint32_t pool_at = used;
    for (uint32_t i = 0; i < pool_used; i += 4) {
      uint32_t word = 0;
      for (uint32_t j = 0; j < 4 && i + j < pool_used; ++j) {
        word |= static_cast<uint32_t>(static_cast<unsigned char>(pool[i + j])) << (8 * j);
      }
      Emit(word);
    }
    if (reason != Reason::kNone) return;
    words[kHeadMagic] = kMagic | KP_ABI_MAJOR << 8 | since;
    words[kHeadWords] = used;
    words[kHeadCounts] = num_params | num_positional << 8 | num_results << 16 | dtypes.size << 24;
    words[kHeadMoreCounts] = dims.size | stars.size << 8 | ints.size << 16 | num_conditions << 24;
    words[kHeadProps] = props | (mutates ? kWrites : 0);
    words[kHeadWorkspace] = workspace;
    words[kHeadIndependent] = independent;
    words[kHeadNondiff] = nondiff;
    words[kHeadPool] = pool_at;
  }
};

// Enough room for the program and the pool of any text of `size` bytes.
constexpr uint32_t ProgramCapacity(uint32_t size) { return 3 * size + 64; }
constexpr uint32_t PoolCapacity(uint32_t size) { return 2 * size + 16; }

// `words` has ProgramCapacity(size), `pool` (scratch) PoolCapacity(size) elements.
constexpr Status Compile(const char* text, uint32_t size, uint32_t* words, char* pool) {
  return Compiler(text, size, words, ProgramCapacity(size), pool, PoolCapacity(size)).Compile();
}

// Instantiated for a literal that does not compile: the compiler prints the reason and the position (from 0) in the text.
template <Reason reason, uint32_t position_in_text>
struct Diagnose {
  static_assert(reason == Reason::kNone, "kernpack: this signature does not compile: see reason and position_in_text");
  static constexpr bool kCompiles = reason == Reason::kNone;
};

template <uint32_t N>
struct Words {
  uint32_t words[N];
};

// The program of a literal. `Text` is a class with `static constexpr const char* kText` and `static constexpr uint32_t kSize`
// (without the NUL). Only the trimmed copy, `kProgram`, reaches the object file.
template <class Text>
class Compiled {
  struct Buffer {
    uint32_t words[ProgramCapacity(Text::kSize)]{};
    char pool[PoolCapacity(Text::kSize)]{};
    Status status{};
  };
  static constexpr Buffer Run() {
    Buffer b{};
    b.status = Compile(Text::kText, Text::kSize, b.words, b.pool);
    return b;
  }
  static constexpr Buffer kBuffer = Run();
  static_assert(Diagnose<kBuffer.status.reason, kBuffer.status.position>::kCompiles);

 public:
  static constexpr uint32_t kWords = kBuffer.status.reason == Reason::kNone ? kBuffer.status.words : 1;

 private:
  static constexpr Words<kWords> Trim() {
    Words<kWords> out{};
    for (uint32_t i = 0; i < kWords; ++i) out.words[i] = kBuffer.words[i];
    return out;
  }

 public:
  static constexpr Words<kWords> kProgram = Trim();
  static constexpr const uint32_t* Program() { return kProgram.words; }
};

}  // namespace signature
KP_NAMESPACE_END

#endif  // KERNPACK_SIGNATURE_COMPILE_H_
