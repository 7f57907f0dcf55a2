#include "exec/tensor_form.h"

#include "exec/fault.h"
#include "exec/group_operand.h"
#include "exec/taint.h"
#include "exec/warp.h"

namespace kernpack::emulator {
namespace {

constexpr uint32_t kMostColumnsOfD = 256;

bool IsScaled(TensorKind kind) { return kind >= TensorKind::kMxf8f6f4; }

}  // namespace

uint32_t TensorForm::BitsInUnit(Element element) {
  if (element == Element::kE2m1) return 4;
  return element == Element::kE3m2 || element == Element::kE2m3 ? 6 : 8;
}

TensorOperands::TensorOperands(const Warp& warp, const Instruction& i, uint32_t lane)
    : warp_(warp), i_(i), lane_(lane) {
  for (const uint32_t slot : i.op) {
    if (!warp.taint.empty() && slot != kNoOperand) NeedUntainted(warp, i, slot, 1U << lane, "takes an operand from");
  }
}

uint32_t TensorOperands::Word(int operand) const {
  return reinterpret_cast<const uint32_t*>(warp_.registers + i_.op[operand])[lane_];
}

uint64_t TensorOperands::Descriptor(int operand, const char* what) const {
  const uint64_t value = reinterpret_cast<const uint64_t*>(warp_.registers + i_.op[operand])[lane_];
  const char* wrong = nullptr;
  if ((value >> 46 & 7) != 1) {
    wrong = "bits 46 to 48 have to be 0b001";
  } else if ((value >> 61 & 1) != 0) {
    wrong = "swizzles of 128 bytes with atoms of 32 bytes (bits 61 to 63) aren't emulated, and neither are odd ones";
  } else if (GroupOperand::GetBaseOffset(value) != 0 &&
             value >> 61 != 0) {  // it matters to swizzles alone; Triton always sets it
    wrong =
        "a base offset (bits 49 to 51) isn't emulated: let the matrix begin at a multiple of 8 rows of the "
        "swizzle's width";
  } else if ((value >> 52 & 1) != 0) {
    wrong = "an absolute address of the leading dimension (bit 52) isn't emulated";
  } else if ((value >> 53 & 0xff) != 0) {
    wrong = "bits 53 to 60 have to be 0";
  }
  if (wrong != nullptr) {
    Fail(warp_, i_, lane_, Fault::Kind::kIllegalAddress,
         Text("has the descriptor 0x%llx of %s: %s", static_cast<unsigned long long>(value), what, wrong));
  }
  return value;
}

void TensorOperands::Wrong(const char* what) const {
  Fail(warp_, i_, lane_, Fault::Kind::kIllegalAddress,
       Text("has the instruction descriptor 0x%08x: %s", Word(3), what));
}

Element TensorOperands::FormatAt(uint32_t at) const {
  const uint32_t type = Field(at, 3);
  switch (kind()) {
    case TensorKind::kF16:
      if (type > 1) Wrong("the types of A and B (bits 7 to 12) have to be 0 (f16) or 1 (bf16)");
      return type == 0 ? Element::kHalf : Element::kBrain;
    case TensorKind::kTf32:
      if (type != 2) Wrong("the types of A and B (bits 7 to 12) have to be 2, which is tf32");
      return Element::kTf32;
    case TensorKind::kI8:
      if (type > 1) Wrong("the types of A and B (bits 7 to 12) have to be 0 (u8) or 1 (s8)");
      return type == 0 ? Element::kUnsigned8 : Element::kSigned8;
    case TensorKind::kMxf4:
    case TensorKind::kMxf4nvf4:
      if (type != 1) Wrong("the types of A and B (bits 7 to 12) have to be 1, which is e2m1");
      return Element::kE2m1Packed;
    case TensorKind::kF8f6f4:
    case TensorKind::kMxf8f6f4:
      break;
  }
  constexpr Element kFormats[] = {Element::kE4m3, Element::kE5m2, Element::kE4m3,
                                  Element::kE2m3, Element::kE3m2, Element::kE2m1};
  if (type == 2 || type > 5)
    Wrong("the types of A and B (bits 7 to 12) have to be 0 (e4m3), 1 (e5m2), 3 (e2m3), 4 (e3m2) or 5 (e2m1)");
  return kFormats[type];
}

// M and N, as the manual's table of shapes has them for each kind (PTX ISA 9.0, 9.7.16.2.1).
void TensorOperands::NeedSize(const TensorForm& form) const {
  if (IsScaled(kind())) {
    if (form.rows != kTensorLanes) Wrong("M (bits 24 to 28, without 4 bits) has to be 128 with scales");
  } else if (form.rows != 64 && form.rows != kTensorLanes) {
    Wrong("M (bits 24 to 28, without 4 bits) has to be 64 or 128");
  }
  const bool sixteens = form.rows == kTensorLanes && !IsScaled(kind());
  if (form.columns == 0 || form.columns > kMostColumnsOfD || (sixteens && form.columns % 16 != 0)) {
    Wrong(IsScaled(kind())
              ? "N (bits 17 to 22, without 3 bits) has to be a multiple of 8 up to 256"
              : "N (bits 17 to 22, without 3 bits) has to be a multiple of 8 up to 256, of 16 if M is 128");
  }
  if (kind() == TensorKind::kI8 && form.columns > 32 && form.columns % 16 != 0)
    Wrong("N (bits 17 to 22, without 3 bits) above 32 has to be a multiple of 16 with integers");
}

TensorForm TensorOperands::Form(uint32_t scales) const {
  const bool scaled = IsScaled(kind()), integers = kind() == TensorKind::kI8, tf32 = kind() == TensorKind::kTf32;
  if (Field(2, 1) != 0) Wrong("a sparse A (bit 2) isn't emulated");
  if (Field(3, 1) != 0 && !integers) Wrong("bit 3 is for integers alone");
  if (!scaled && Field(4, 2) != (integers ? 2U : 1U)) {
    Wrong(integers                    ? "bits 4 and 5 have to be 2, which is D of s32"
          : Field(4, 2) == 0 && !tf32 ? "D of f16 (bits 4 and 5) isn't emulated; f32 is"
                                      : "bits 4 and 5 have to be 1, which is D of f32");
  }
  if (kind() == TensorKind::kF16 && Field(7, 3) != Field(10, 3)) Wrong("A and B have different types (bits 7 to 12)");
  TensorForm out;
  out.rows = Field(24, 5) << 4, out.columns = Field(17, 6) << 3;
  out.a = FormatAt(7), out.b = FormatAt(10);
  out.d = integers ? Element::kInteger : Element::kFloat;
  out.negates_a = Field(13, 1) != 0, out.negates_b = Field(14, 1) != 0;
  out.transposes_a = Field(15, 1) != 0, out.transposes_b = Field(16, 1) != 0;
  out.clamps = Field(3, 1) != 0;
  if (scaled) {
    if (Field(31, 1) != 0) Wrong("K of 96 (bit 31) isn't emulated");
    if (Field(6, 1) != 0) Wrong("the bit 6 has to be 0");
    out.scale_type = Field(23, 1) != 0 ? ScaleType::kUe8m0 : ScaleType::kUe4m3;
    if ((out.scale_type == ScaleType::kUe4m3) != (scales == 4)) {
      Wrong(scales == 4 ? "the type of the scales (bit 23) has to be 0 (ue4m3) with four scales of a row"
                        : "the type of the scales (bit 23) has to be 1 (ue8m0) with one or two scales of a row");
    }
    out.scale_of_b = Field(4, 2), out.scale_of_a = Field(29, 2);
    if (out.scale_of_a % scales != 0 || out.scale_of_b % scales != 0) {
      Wrong(scales == 2
                ? "the bytes of the first scales (bits 29 and 30 of A, 4 and 5 of B) have to be 0 or 2 with two "
                  "scales of a row"
                : "the bytes of the first scales (bits 29 and 30 of A, 4 and 5 of B) have to be 0 with four "
                  "scales of a row");
    }
  } else if (Field(6, 1) + Field(23, 1) + Field(29, 3) != 0) {
    Wrong("the bits 6, 23 and 29 to 31 have to be 0");
  }
  if (integers && (out.negates_a || out.negates_b)) Wrong("integers can't be negated (bits 13 and 14)");
  NeedSize(out);
  if (tf32 && (out.transposes_a || out.transposes_b)) Wrong("a transposed matrix of tf32 isn't emulated");
  const auto may_transpose = [](Element of) { return of != Element::kE2m1Packed && TensorForm::BitsInUnit(of) == 8; };
  if ((out.transposes_a && !may_transpose(out.a)) || (out.transposes_b && !may_transpose(out.b)))
    Wrong("a matrix of 4 or 6 bits can't be transposed (bits 15 and 16)");
  return out;
}

}  // namespace kernpack::emulator
