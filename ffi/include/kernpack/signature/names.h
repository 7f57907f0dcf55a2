// The names that the compiler has seen so far: parameters, results, dims, dims tuples, dtype variables.
#ifndef KERNPACK_SIGNATURE_NAMES_H_
#define KERNPACK_SIGNATURE_NAMES_H_

#include <kernpack/dtype.h>
#include <kernpack/signature/emit.h>

KP_NAMESPACE_BEGIN
namespace signature {

inline constexpr char kReservedNames[][10] = {
    "and",    "as",   "assert", "async",  "await",    "break", "class", "continue", "def",
    "del",    "elif", "else",   "except", "finally",  "for",   "from",  "global",   "if",
    "import", "in",   "is",     "lambda", "nonlocal", "not",   "or",    "pass",     "raise",
    "return", "try",  "while",  "with",   "yield",    "_",     "self",  "dtypes",   "__debug__",
};
inline constexpr char kReservedVars[][6] = {"True", "False", "None"};

// Which clause is being read; it decides what an expression may name.
enum class Place { kParams, kResults, kWhere, kWorkspace };

struct Names : Emitter {
  using Emitter::Emitter;
  static constexpr uint32_t kMaxInts = 32;
  static constexpr uint32_t kNotFound = ~0u;

  Place place = Place::kParams;
  Token param_names[KP_SIG_MAX_PARAMS]{};
  uint32_t params[KP_SIG_MAX_PARAMS * kRecord]{};
  uint32_t num_params = 0;
  uint32_t num_positional = 0;
  Token result_names[KP_SIG_MAX_RESULTS]{};
  uint32_t results[KP_SIG_MAX_RESULTS * kRecord]{};
  uint32_t result_dtype_at[KP_SIG_MAX_RESULTS]{};
  uint32_t num_results = 0;

  // A set bit in `bound`: some parameter binds it; in `sure`: one that must be present does.
  struct Table {
    Token at[KP_SIG_MAX_DIMS]{};
    uint32_t size = 0;
    uint32_t bound = 0;
    uint32_t sure = 0;
  };
  Table dims{};
  Table stars{};
  Table dtypes{};
  Table ints{};  // names that expressions use, before it is known that they are int parameters
  uint32_t int_params[KP_SIG_MAX_DIMS]{};
  uint32_t int_items[KP_SIG_MAX_DIMS]{};  // of a list: how many items expressions need; 0: it is one int
  uint32_t dtype_sets[KP_SIG_MAX_DTYPES]{};  // word offsets; 0: not constrained yet
  bool batch_bound = false;
  bool batch_sure = false;

  constexpr uint32_t Find(const Table& table, const Token& name) const {
    for (uint32_t i = 0; i < table.size; ++i) {
      if (Same(table.at[i], name)) return i;
    }
    return kNotFound;
  }
  constexpr uint32_t FindParam(const Token& name) const {
    for (uint32_t i = 0; i < num_params; ++i) {
      if (Same(param_names[i], name)) return i;
    }
    return kNotFound;
  }

  // Before its first use, which clang's constant evaluation asks for. `word` may be padded with NULs.
  template <uint32_t N>
  constexpr bool Spelled(const Token& t, const char (&word)[N]) const {
    const uint32_t length = t.end - t.begin;
    if (length > N) return false;
    for (uint32_t i = 0; i < length; ++i) {
      if (text[t.begin + i] != word[i]) return false;
    }
    return length == N || !word[length];
  }

  // Finds or adds the variable at hand; false when it is something else already, or there are too many.
  constexpr bool AddVariable(Table* table, uint32_t limit, Reason too_many, uint32_t* out) {
    for (const auto& word : kReservedVars) {
      if (Spelled(now, word)) return Fail(Reason::kReservedName);
    }
    if (table != &dims && Find(dims, now) != kNotFound) return Fail(Reason::kVariableIsBothDTypeAndDim);
    if (table != &stars && Find(stars, now) != kNotFound) return Fail(Reason::kVariableIsBothDTypeAndDim);
    if (table != &dtypes && Find(dtypes, now) != kNotFound) return Fail(Reason::kVariableIsBothDTypeAndDim);
    *out = Find(*table, now);
    return *out != kNotFound || Append(table, limit, too_many, out);
  }
  constexpr bool Append(Table* table, uint32_t limit, Reason too_many, uint32_t* out) {
    if (table->size == limit) return Fail(too_many);
    *out = table->size;
    table->at[table->size++] = now;
    return true;
  }

  // The packed dtype that the name at hand spells, or kNotFound.
  constexpr uint32_t FindDType() const {
    for (const DTypeName& t : kDTypeNames) {
      if (Spelled(now, t.name)) return PackDType(t.dtype);
    }
    return kNotFound;
  }

  constexpr bool IsDType(const Token& name) const {
    for (const DTypeName& t : kDTypeNames) {
      if (Spelled(name, t.name)) return true;
    }
    return false;
  }

  // "q4", "q8_0", ...: what quantised blocks will be called.
  constexpr bool IsBlockDType(const Token& t) const {
    const uint32_t length = t.end - t.begin;
    return length >= 2 && text[t.begin] == 'q' && (text[t.begin + 1] == '4' || text[t.begin + 1] == '8') &&
           (length == 2 || text[t.begin + 2] == '_');
  }
  constexpr Reason UnknownDType() const {
    return IsBlockDType(now) ? Reason::kReservedBlockDType : Reason::kUnknownDType;
  }

  // Checks that the name at hand may be given to a parameter or result.
  constexpr bool CheckNewName() {
    if (now.kind == Tok::kVar) return Fail(Reason::kNameMustBeLowerCase);
    if (now.kind != Tok::kName) return Fail(Reason::kExpectedName);
    for (const auto& word : kReservedNames) {
      if (Spelled(now, word)) return Fail(Reason::kReservedName);
    }
    if (FindDType() != kNotFound || IsWord("q4") || IsWord("q8")) return Fail(Reason::kReservedName);
    if (FindParam(now) != kNotFound) return Fail(Reason::kDuplicateName);
    for (uint32_t i = 0; i < num_results; ++i) {
      if (Same(result_names[i], now)) return Fail(Reason::kDuplicateName);
    }
    return true;
  }

  // The int parameter, or the list of ints, that reference `i` names; only once all parameters are known. A list's record says how
  // many items it must have.
  constexpr bool ResolveInt(uint32_t i) {
    const uint32_t p = FindParam(ints.at[i]);
    const bool is_item = int_items[i] != 0;
    if (p == kNotFound || GetKind(params + p * kRecord) != KP_PARAM_INT ||
        (GetFlags(params + p * kRecord) & KP_PARAM_OPTIONAL)) {
      return Fail(is_item ? Reason::kNotAListOfInts : Reason::kNotAnIntParameter, ints.at[i].begin);
    }
    const bool is_list = (GetFlags(params + p * kRecord) & KP_PARAM_LIST) != 0;
    if (is_list != is_item) {
      return Fail(is_item ? Reason::kNotAListOfInts : Reason::kListNeedsAnIndex, ints.at[i].begin);
    }
    int_params[i] = p;
    uint32_t* record = params + p * kRecord;
    if (is_item && record[2] < int_items[i]) record[2] = int_items[i];
    const bool has_default = (GetFlags(record) & KP_PARAM_HAS_DEFAULT) != 0;
    return !has_default || !is_item || words[record[3]] >> 8 >= int_items[i] ||
           Fail(Reason::kDefaultTooShort, ints.at[i].begin);
  }
};

}  // namespace signature
KP_NAMESPACE_END

#endif  // KERNPACK_SIGNATURE_NAMES_H_
