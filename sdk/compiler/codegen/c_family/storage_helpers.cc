// f16, bf16 and f8 by integer arithmetic: no header, no compiler support, the same bits everywhere.
#include "codegen/c_family/helpers.h"

namespace kernpack::sdk::ir {
namespace {

struct Conversions {
  Type storage;
  const char* from;  // the body of a function of the stored bits `a` that gives a float
  const char* to;  // the body of a function of the float `a`, whose bits are `b` and magnitude's bits `m`
};

constexpr Conversions kConversions[] = {
    {bf16, "return kp_bits_f32_u32((uint32_t)a << 16);",
     "return (uint16_t)(m > 0x7f800000u ? 0x7fc0u : (b + 0x7fffu + (b >> 16 & 1u)) >> 16);"},
    {f16,
     "const uint32_t m = a & 0x7fffu;\n"
     "  const uint32_t v = m >= 0x7c00u ? m << 13 | 0x7f800000u : kp_widen(m, 10, 15);\n"
     "  return kp_bits_f32_u32(v | (uint32_t)(a & 0x8000u) << 16);",
     "if (m > 0x7f800000u) return 0x7e00u;\n"
     "  const uint32_t out = m >= 0x477ff000u ? 0x7c00u : kp_narrow(m, 10, 15);\n"
     "  return (uint16_t)(out | (b >> 16 & 0x8000u));"},
    {f8_e4m3fn,
     "const uint32_t m = a & 0x7fu;\n"
     "  const uint32_t v = m == 0x7fu ? 0x7fc00000u : kp_widen(m, 3, 7);\n"
     "  return kp_bits_f32_u32(v | (uint32_t)(a & 0x80u) << 24);",
     "const uint32_t out = m >= 0x7f800000u ? 0x7fu : kp_narrow(m, 3, 7);\n"
     "  return (uint8_t)(out < 0x7fu ? out | (b >> 24 & 0x80u) : 0x7fu);"},
    {f8_e5m2,
     "const uint32_t m = a & 0x7fu;\n"
     "  const uint32_t v = m >= 0x7cu ? m << 21 | 0x7f800000u : kp_widen(m, 2, 15);\n"
     "  return kp_bits_f32_u32(v | (uint32_t)(a & 0x80u) << 24);",
     "if (m > 0x7f800000u) return 0x7eu;\n"
     "  const uint32_t out = m >= 0x7f800000u ? 0x7cu : kp_narrow(m, 2, 15);\n"
     "  return (uint8_t)((out < 0x7cu ? out : 0x7cu) | (b >> 24 & 0x80u));"},
};

}  // namespace

void Helpers::StorageConversions(Type storage) {
  const std::string s = TypeName(storage), c = CElement(storage), head = dialect_.Inline();
  if (!First("storage " + s)) return;
  constexpr Type kBits(KP_DTYPE_UINT, 32);
  ScalarBitcast(kF32, kBits, "");
  ScalarBitcast(kBits, kF32, "");
  if (storage != bf16 && First("kp_narrow")) {
    scalars_ +=
        "// The bits of the float that a finite magnitude with fewer bits of mantissa and another exponent bias is. "
        "No\n"
        "// operand is subnormal: the thread, or the device, may take such floats for zero.\n" +
        head +
        "uint32_t kp_widen(uint32_t m, uint32_t mantissa, uint32_t bias) {\n"
        "  const uint32_t unit = (151u - bias - mantissa) << 23;\n"
        "  const uint32_t subnormal = kp_bits_u32_f32(kp_bits_f32_u32(unit | m) - kp_bits_f32_u32(unit));\n"
        "  return m < 1u << mantissa ? subnormal : (m << (23u - mantissa)) + ((127u - bias) << 23);\n"
        "}\n"
        "// The bits of a finite, positive float with fewer bits of mantissa and another exponent bias: to nearest, "
        "ties to "
        "even.\n" +
        head +
        "uint32_t kp_narrow(uint32_t m, uint32_t mantissa, uint32_t bias) {\n"
        "  const uint32_t drop = 23u - mantissa;\n"
        "  if (m < (128u - bias) << 23) {\n"
        "    const uint32_t unit = (128u - bias + drop) << 23;\n"
        "    return kp_bits_u32_f32(kp_bits_f32_u32(m) + kp_bits_f32_u32(unit)) - unit;\n"
        "  }\n"
        "  return ((m + (1u << (drop - 1u)) - 1u + (m >> drop & 1u)) >> drop) - ((127u - bias) << mantissa);\n"
        "}\n";
  }
  for (const Conversions& k : kConversions) {
    if (k.storage != storage) continue;
    scalars_ += head + "float kp_f32_from_" + s + "(" + c + " a) {\n  " + k.from + "\n}\n" + head + c + " kp_" + s +
                "_from_f32(float a) {\n  const uint32_t b = kp_bits_u32_f32(a), m = b & 0x7fffffffu;\n  " + k.to +
                "\n}\n";
  }
}

}  // namespace kernpack::sdk::ir
