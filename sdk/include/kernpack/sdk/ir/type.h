// Types of values: a scalar dtype and a number of lanes.
#ifndef KERNPACK_SDK_IR_TYPE_H_
#define KERNPACK_SDK_IR_TYPE_H_

#include <kernpack/dtype.h>

#include <string>
#include <string_view>

namespace kernpack::sdk::ir {

// bool, i8 ... i64, u8 ... u64, f32 and f64 support arithmetic. f16, bf16, f8_e4m3fn and f8_e5m2 are storage types:
// they can only be loaded, stored, moved and cast. Lanes: 1, or a power of two up to kMaxLanes.
using Type = DType;
inline constexpr int kMaxLanes = 64;

inline constexpr Type kBool = bool_, kI32 = i32, kI64 = i64, kF32 = f32, kF64 = f64;

constexpr Type WithLanes(Type t, int lanes) { return Type(t.code, t.bits, static_cast<uint16_t>(lanes)); }
constexpr Type ElementOf(Type t) { return WithLanes(t, 1); }
constexpr bool IsBool(Type t) { return t.code == KP_DTYPE_BOOL; }
constexpr bool IsSigned(Type t) { return t.code == KP_DTYPE_INT; }
constexpr bool IsUnsigned(Type t) { return t.code == KP_DTYPE_UINT; }
constexpr bool IsInteger(Type t) { return IsSigned(t) || IsUnsigned(t); }
// f32 or f64: floats that support arithmetic.
constexpr bool IsFloat(Type t) { return t.code == KP_DTYPE_FLOAT && t.bits >= 32; }
constexpr bool IsStorage(Type t) { return t.is_floating_point() && !IsFloat(t); }
// The types of loop variables and indices.
constexpr bool IsIndex(Type t) { return IsSigned(t) && t.bits >= 32; }
// True if the IR has this type.
bool IsSupported(Type t);

// "f32", "f32x8".
std::string TypeName(Type t);
// Sets *out to the type of that name; false if the IR has no such type.
bool TypeFromName(std::string_view name, Type* out);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_IR_TYPE_H_
