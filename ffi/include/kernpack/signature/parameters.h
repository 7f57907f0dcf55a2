// Compiles the parameter list and the result list.
#ifndef KERNPACK_SIGNATURE_PARAMETERS_H_
#define KERNPACK_SIGNATURE_PARAMETERS_H_

#include <kernpack/signature/default.h>

KP_NAMESPACE_BEGIN
namespace signature {

struct Parameters : Defaults {
  using Defaults::Defaults;

  bool mutates = false;  // some parameter is marked '!'

  constexpr bool ReadParameters() {
    if (!Expect('(', Reason::kExpectedOpeningParenthesis)) return false;
    bool keyword_only = false;
    bool had_default = false;
    bool more = !Is(')');
    while (more) {
      if (!keyword_only && Accept('*')) {
        keyword_only = true;
        if (!Expect(',', Reason::kStarStartsKeywordOnly)) return false;
      }
      if (Is('*')) return Fail(Reason::kStarStartsKeywordOnly);
      const uint32_t begin = now.begin;
      if (!Parameter(keyword_only)) return false;
      const bool has_default = GetFlags(params + (num_params - 1) * kRecord) & KP_PARAM_HAS_DEFAULT;
      if (!keyword_only) {
        ++num_positional;
        if (had_default && !has_default) return Fail(Reason::kDefaultBeforeNoDefault, begin);
        had_default = has_default;
      }
      more = Accept(',');
    }
    return Expect(')', Reason::kExpectedClosingParenthesis) && CheckParameters();
  }

  constexpr bool ReadResults() {
    place = Place::kResults;
    if (!Expect('(', Reason::kExpectedOpeningParenthesis)) return false;
    if (!Is(')')) {
      do {
        if (!Result()) return false;
      } while (Accept(','));
    }
    return Expect(')', Reason::kExpectedClosingParenthesis);
  }

 private:
  uint32_t broadcast_at = kNotFound;  // first '~...'
  uint32_t type_dtype = 0;            // of the tensor type read last
  bool type_compact = false;          // likewise

  constexpr bool Parameter(bool keyword_only) {
    if (num_params == KP_SIG_MAX_PARAMS) return Fail(Reason::kTooManyParameters);
    if (!CheckNewName()) return false;
    const Token name = now;
    const uint32_t name_at = Intern(now);
    uint32_t flags = keyword_only ? KP_PARAM_KEYWORD_ONLY : 0;
    Next();
    const Token mark = now;
    if (Accept('!')) flags |= KP_PARAM_MUTATED;
    mutates |= (flags & KP_PARAM_MUTATED) != 0;
    if (!Expect(':', Reason::kExpectedColon)) return false;
    uint32_t kind = 0;
    uint32_t where = 0;
    if (IsWord("list")) {
      flags |= KP_PARAM_LIST;
      Next();
      if (!Expect('[', Reason::kExpectedType)) return false;
      if (IsWord("list")) return Fail(Reason::kListInList);
      if (!Type(&kind, &flags, &where)) return false;
      if (Is('?')) return Fail(Reason::kListInList);
      if (!Expect(']', Reason::kExpectedClosingBracket)) return false;
      if (IsWord("strided") || IsWord("compact") || Is('@')) return Fail(Reason::kMarkBehindList);
    } else if (!Type(&kind, &flags, &where)) {
      return false;
    }
    if (Is('?') && (flags & KP_PARAM_LIST)) return Fail(Reason::kListInList);
    if (Accept('?')) flags |= KP_PARAM_OPTIONAL;
    if ((flags & KP_PARAM_MUTATED) && kind != KP_PARAM_TENSOR) return Fail(Reason::kMutatedMustBeTensor, mark.begin);
    if (kind == KP_PARAM_TENSOR) Bind(!(flags & KP_PARAM_OPTIONAL));
    uint32_t default_at = 0;
    if (Accept('=')) {
      flags |= KP_PARAM_HAS_DEFAULT;
      if (!Default(kind, flags, kind == KP_PARAM_STR ? where : 0, &default_at)) return false;
    }
    uint32_t* record = params + num_params * kRecord;
    record[0] = name_at | kind << 16 | flags << 24;
    if (kind == KP_PARAM_TENSOR && type_compact) record[0] |= kCompactMark;
    record[1] = kind == KP_PARAM_TENSOR ? type_dtype : 0;
    record[2] = where;
    record[3] = default_at;
    param_names[num_params++] = name;
    return true;
  }

  // A tensor or scalar type. *where: its shape or choices.
  constexpr bool Type(uint32_t* kind, uint32_t* flags, uint32_t* where) {
    struct Word {
      char name[7];
      uint32_t kind;
    };
    constexpr Word kScalars[] = {{"int", KP_PARAM_INT},       {"float", KP_PARAM_FLOAT}, {"dtype", KP_PARAM_DTYPE},
                                 {"device", KP_PARAM_DEVICE}, {"str", KP_PARAM_STR},     {"bool", KP_PARAM_BOOL}};
    if (now.kind != Tok::kName && now.kind != Tok::kVar) return Fail(Reason::kExpectedType);
    for (const Word& word : kScalars) {
      if (!SpellsPadded(word.name)) continue;
      // "bool" is a dtype as well: a shape tells which.
      if (word.kind == KP_PARAM_BOOL && now.end < size && text[now.end] == '[') break;
      *kind = word.kind;
      Next();
      return word.kind != KP_PARAM_STR || !IsWord("in") || Choices(where);
    }
    return Tensor(kind, flags, where);
  }

  constexpr bool SpellsPadded(const char (&word)[7]) const {
    for (uint32_t i = 0; i < now.end - now.begin; ++i) {
      if (i == 7 || text[now.begin + i] != word[i]) return false;
    }
    return !word[now.end - now.begin];
  }

  constexpr bool Choices(uint32_t* where) {
    Next();
    if (!Expect('{', Reason::kExpectedOpeningBrace)) return false;
    uint32_t found[64]{};
    uint32_t count = 0;
    do {
      const uint32_t begin = Here();
      uint32_t offset = 0;
      if (!TakeString(&offset)) return false;
      for (uint32_t i = 0; i < count; ++i) {
        if (found[i] == offset) return Fail(Reason::kDuplicateChoice, begin);
      }
      if (count == 64) return Fail(Reason::kTooManyChoices, begin);
      found[count++] = offset;
    } while (Accept(','));
    *where = used;
    Emit(count);
    for (uint32_t i = 0; i < count; ++i) Emit(found[i]);
    return Expect('}', Reason::kExpectedClosingBrace);
  }

  constexpr bool Tensor(uint32_t* kind, uint32_t* flags, uint32_t* where) {
    *kind = KP_PARAM_TENSOR;
    if (now.kind == Tok::kVar) {
      uint32_t i = 0;
      if (!AddVariable(&dtypes, KP_SIG_MAX_DTYPES, Reason::kTooManyDTypeVariables, &i)) return false;
      type_dtype = i | static_cast<uint32_t>(DTypeForm::kVar) << 16;
    } else {
      type_dtype = FindDType();
      if (type_dtype == kNotFound) return Fail(UnknownDType());
    }
    Next();
    const uint32_t shape_at = now.begin;
    if (!Shape(where)) return false;
    if (shape_batch == Batch::kBroadcast && broadcast_at == kNotFound) broadcast_at = shape_at;
    if (!Strides(flags)) return false;
    if (Accept('@')) {
      if (!IsWord("cpu")) return Fail(Reason::kExpectedCpuAfterAt);
      *flags |= KP_PARAM_ON_CPU;
      Next();
    }
    const bool rank0 = shape_rank == 0 && shape_batch == Batch::kNone;
    if (rank0 && !(*flags & KP_PARAM_MUTATED)) *flags |= KP_PARAM_SCALAR_OK;
    return true;
  }

  // Both marks let any strides in; of `compact` the kernel gets a copy where they aren't row-major (kernpack/compact.h).
  constexpr bool Strides(uint32_t* flags) {
    type_compact = IsWord("compact");
    if (type_compact && (*flags & KP_PARAM_MUTATED)) return Fail(Reason::kWrittenIsNotCompact);
    if (IsWord("strided") || type_compact) {
      *flags |= KP_PARAM_STRIDED;
      Next();
      if (IsWord("strided") || IsWord("compact")) return Fail(Reason::kStridedOrCompact);
    }
    return !IsWord("aligned") || Fail(Reason::kReservedMark);
  }

  constexpr void Bind(bool sure) {
    dims.bound |= shape_dims;
    stars.bound |= shape_stars;
    const bool var = GetForm(type_dtype) == DTypeForm::kVar;
    if (var) dtypes.bound |= 1u << (type_dtype & 0xff);
    batch_bound |= shape_batch == Batch::kSame;
    if (!sure) return;
    dims.sure |= shape_dims;
    stars.sure |= shape_stars;
    // A number given for a rank-0 tensor has no dtype of its own, so it cannot bind one.
    const bool rank0 = shape_rank == 0 && shape_batch == Batch::kNone;
    if (var && !rank0) dtypes.sure |= 1u << (type_dtype & 0xff);
    batch_sure |= shape_batch == Batch::kSame;
  }

  constexpr bool CheckParameters() {
    for (uint32_t i = 0; i < dims.size; ++i) {
      if (!(dims.bound >> i & 1)) return Fail(Reason::kDimNeverBound, dims.at[i].begin);
      if (Find(dtypes, dims.at[i]) != kNotFound) return Fail(Reason::kVariableIsBothDTypeAndDim, dims.at[i].begin);
    }
    for (uint32_t i = 0; i < ints.size; ++i) {
      if (!ResolveInt(i)) return false;
    }
    return broadcast_at == kNotFound || batch_bound || Fail(Reason::kBroadcastBatchWithoutBatch, broadcast_at);
  }

  constexpr bool Result() {
    if (num_results == KP_SIG_MAX_RESULTS) return Fail(Reason::kTooManyResults);
    if (!CheckNewName()) return false;
    const Token name = now;
    const uint32_t name_at = Intern(now);
    Next();
    if (!Expect(':', Reason::kExpectedColon)) return false;
    uint32_t dtype = 0;
    result_dtype_at[num_results] = now.begin;
    if (!ResultDType(&dtype)) return false;
    uint32_t where = 0;
    if (!Shape(&where)) return false;
    uint32_t flags = 0;
    if (IsWord("sum")) {
      flags |= KP_RESULT_SUM;
      Next();
    }
    if (IsWord("aux")) {
      flags |= KP_RESULT_AUX;
      Next();
    }
    uint32_t* record = results + num_results * kRecord;
    record[0] = name_at | flags << 24;
    record[1] = dtype;
    record[2] = where;
    result_names[num_results++] = name;
    return true;
  }

  constexpr bool ResultDType(uint32_t* out) {
    if (now.kind == Tok::kVar) return ResultVariable(DTypeForm::kVar, out);
    if (now.kind != Tok::kName) return Fail(Reason::kExpectedType);
    *out = FindDType();
    if (*out != kNotFound) {
      Next();
      return true;
    }
    const Token name = now;
    const bool real = IsWord("real");
    if (real || IsWord("complex")) {
      Next();
      if (Accept('(')) {
        return ResultVariable(real ? DTypeForm::kRealOf : DTypeForm::kComplexOf, out) &&
               Expect(')', Reason::kExpectedClosingParenthesis);
      }
    } else {
      Next();
    }
    const uint32_t p = FindParam(name);
    if (p == kNotFound || GetKind(params + p * kRecord) != KP_PARAM_DTYPE ||
        (GetFlags(params + p * kRecord) & (KP_PARAM_OPTIONAL | KP_PARAM_LIST))) {
      return Fail(p != kNotFound       ? Reason::kNotADTypeParameter
                  : IsBlockDType(name) ? Reason::kReservedBlockDType
                                       : Reason::kUnknownDType,
                  name.begin);
    }
    *out = p | static_cast<uint32_t>(DTypeForm::kParam) << 16;
    return true;
  }

  constexpr bool ResultVariable(DTypeForm form, uint32_t* out) {
    const uint32_t i = now.kind == Tok::kVar ? Find(dtypes, now) : kNotFound;
    if (i == kNotFound) return Fail(Reason::kDTypeVariableNeverUsed);
    if (!(dtypes.sure >> i & 1)) return Fail(Reason::kDTypeMayBeAbsent);
    *out = i | static_cast<uint32_t>(form) << 16;
    Next();
    return true;
  }
};

}  // namespace signature
KP_NAMESPACE_END

#endif  // KERNPACK_SIGNATURE_PARAMETERS_H_
