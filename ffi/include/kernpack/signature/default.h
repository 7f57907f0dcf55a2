// Compiles default values.
#ifndef KERNPACK_SIGNATURE_DEFAULT_H_
#define KERNPACK_SIGNATURE_DEFAULT_H_

#include <kernpack/signature/shape.h>

KP_NAMESPACE_BEGIN
namespace signature {

struct Defaults : Shapes {
  using Shapes::Shapes;

  // `choices`: word offset of the allowed strings, or 0.
  constexpr bool Default(uint32_t kind, uint32_t flags, uint32_t choices, uint32_t* out_offset) {
    if (IsWord("None")) {
      if (!(flags & KP_PARAM_OPTIONAL)) return Fail(Reason::kNoneNeedsOptional);
      Next();
      return Store(KP_TYPE_NONE, 0, out_offset);
    }
    if (flags & KP_PARAM_LIST) return List(kind, choices, out_offset);
    return Item(kind, flags, choices, out_offset);
  }

 private:
  constexpr bool Store(uint32_t tag, uint64_t payload, uint32_t* out_offset) {
    *out_offset = used;
    Emit(tag);
    Emit(static_cast<uint32_t>(payload));
    Emit(static_cast<uint32_t>(payload >> 32));
    return true;
  }

  constexpr bool List(uint32_t kind, uint32_t choices, uint32_t* out_offset) {
    if (!Expect('[', Reason::kDefaultDoesNotFit)) return false;
    const uint32_t head = used;
    uint32_t count = 0;
    Emit(kListDefault);
    if (!Is(']')) {
      do {
        uint32_t ignored = 0;
        if (!Item(kind, 0, choices, &ignored)) return false;
        ++count;
      } while (Accept(','));
    }
    if (!Expect(']', Reason::kExpectedClosingBracket)) return false;
    words[head] = kListDefault | count << 8;
    *out_offset = head;
    return true;
  }

  constexpr bool Item(uint32_t kind, uint32_t flags, uint32_t choices, uint32_t* out) {
    const uint32_t begin = Here();
    const bool number = now.kind == Tok::kNumber || Is('-') || IsWord("inf") || IsWord("nan");
    if (number) {
      if (kind == KP_PARAM_INT) return Int(out);
      if (kind == KP_PARAM_FLOAT || (flags & KP_PARAM_SCALAR_OK)) return Float(out);
      return Fail(Reason::kDefaultDoesNotFit);
    }
    if (now.kind == Tok::kString) {
      if (kind != KP_PARAM_STR) return Fail(Reason::kDefaultDoesNotFit);
      uint32_t offset = 0;
      if (!TakeString(&offset)) return false;
      if (choices && !Allowed(choices, offset)) return Fail(Reason::kDefaultNotAmongChoices, begin);
      return Store(KP_TYPE_RAW_STR, offset, out);
    }
    if (IsWord("True") || IsWord("False")) {
      if (kind != KP_PARAM_BOOL) return Fail(Reason::kDefaultDoesNotFit);
      const bool value = IsWord("True");
      Next();
      return Store(KP_TYPE_BOOL, value, out);
    }
    if (now.kind == Tok::kName && FindDType() != kNotFound) {
      if (kind != KP_PARAM_DTYPE) return Fail(Reason::kDefaultDoesNotFit);
      const uint32_t dtype = FindDType();
      Next();
      return Store(KP_TYPE_DTYPE, dtype | 1u << 16, out);  // one lane
    }
    return Fail(Is('[') || IsWord("None") ? Reason::kDefaultDoesNotFit : Reason::kExpectedDefault);
  }

  constexpr bool Allowed(uint32_t choices, uint32_t offset) const {
    for (uint32_t i = 0; i < words[choices]; ++i) {
      if (words[choices + 1 + i] == offset) return true;
    }
    return false;
  }

  constexpr bool Int(uint32_t* out) {
    const uint32_t begin = now.begin;
    const bool negative = Accept('-');
    if (now.kind != Tok::kNumber) return Fail(Reason::kDefaultDoesNotFit, begin);
    const Decimal d = ReadDecimal(text, now.begin, now.end);
    if (d.is_float) return Fail(Reason::kDefaultDoesNotFit, begin);
    if (!d.fits || d.digits > 0x7fffffffffffffffu + (negative ? 1u : 0u)) return Fail(Reason::kNumberOutOfRange, begin);
    Next();
    return Store(KP_TYPE_INT, negative ? 0 - d.digits : d.digits, out);
  }

  constexpr bool Float(uint32_t* out) {
    const uint32_t begin = now.begin;
    uint64_t bits = Accept('-') ? kSignBit : 0;
    if (IsWord("inf")) {
      bits |= kInfinityBits;
    } else if (IsWord("nan")) {
      bits |= kNanBits;
    } else if (now.kind == Tok::kNumber) {
      const Decimal d = ReadDecimal(text, now.begin, now.end);
      if (!d.fits) return Fail(Reason::kTooManyDigits, begin);
      const uint64_t magnitude = DoubleBits(d);
      if (magnitude == kInfinityBits) return Fail(Reason::kNumberOutOfRange, begin);
      bits |= magnitude;
    } else {
      return Fail(Reason::kExpectedDefault);
    }
    Next();
    return Store(KP_TYPE_FLOAT, bits, out);
  }
};

}  // namespace signature
KP_NAMESPACE_END

#endif  // KERNPACK_SIGNATURE_DEFAULT_H_
