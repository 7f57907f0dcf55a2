// A number given where a rank-0 tensor is expected.
#ifndef KERNPACK_SIGNATURE_SCALAR_H_
#define KERNPACK_SIGNATURE_SCALAR_H_

#include <kernpack/signature/result.h>

KP_NAMESPACE_BEGIN
namespace signature {

struct ScalarBox {
  KpDLTensor tensor;
  alignas(16) unsigned char data[16];
};

// The 16 bits of a float in a format with `exponent` bits of exponent (5: f16, 8: bf16), rounded to nearest even.
KP_COLD inline uint16_t NarrowFloat(float value, int exponent) {
  uint32_t bits = 0;
  __builtin_memcpy(&bits, &value, 4);
  const uint32_t sign = bits >> 16 & 0x8000;
  uint32_t magnitude = bits & 0x7fffffff;
  const int drop = exponent == 5 ? 13 : 16;
  if (magnitude > 0x7f800000) return static_cast<uint16_t>(sign | (exponent == 5 ? 0x7e00 : 0x7fc0));
  if (exponent == 5) {
    if (magnitude >= 0x47800000) return static_cast<uint16_t>(sign | 0x7c00);
    if (magnitude < 0x38800000) {  // subnormal: adding 0.5 aligns the bits that stay
      float shifted = 0;
      __builtin_memcpy(&shifted, &magnitude, 4);
      shifted += 0.5f;
      __builtin_memcpy(&magnitude, &shifted, 4);
      return static_cast<uint16_t>(sign | (magnitude - 0x3f000000));
    }
    magnitude -= 112u << 23;
  }
  magnitude += (1u << (drop - 1)) - 1 + (magnitude >> drop & 1);
  return static_cast<uint16_t>(sign | magnitude >> drop);
}

// Stores an INT, FLOAT or BOOL as an element; false where the dtype cannot hold it.
KP_COLD inline bool StoreNumber(const KpAny& a, KpDLDataType t, void* out) {
  const bool real = a.type_index == KP_TYPE_FLOAT;
  const double value = real ? a.v.v_float : static_cast<double>(a.v.v_int);
  const float narrow = static_cast<float>(value);
  const int64_t whole = a.v.v_int;
  uint16_t half = 0;
  switch (t.code) {
    case KP_DTYPE_FLOAT:
    case KP_DTYPE_COMPLEX: {
      const int bits = t.code == KP_DTYPE_COMPLEX ? t.bits / 2 : t.bits;
      __builtin_memset(out, 0, 16);
      if (bits == 64) {
        __builtin_memcpy(out, &value, 8);
      } else if (bits == 32) {
        __builtin_memcpy(out, &narrow, 4);
      } else {
        half = NarrowFloat(narrow, 5);
        __builtin_memcpy(out, &half, 2);
      }
      return true;
    }
    case KP_DTYPE_BFLOAT:
      half = NarrowFloat(narrow, 8);
      __builtin_memcpy(out, &half, 2);
      return true;
    case KP_DTYPE_BOOL:
      if (a.type_index != KP_TYPE_BOOL) return false;
      break;
    case KP_DTYPE_INT:
      if (real || t.bits < 8 || (t.bits < 64 && (whole >> (t.bits - 1)) != (whole < 0 ? -1 : 0))) return false;
      break;
    case KP_DTYPE_UINT:
      if (real || t.bits < 8 || whole < 0 || (t.bits < 64 && whole >> t.bits != 0)) return false;
      break;
    default:
      return false;
  }
  __builtin_memcpy(out, &whole, t.bits / 8);
  return true;
}

// Makes *arg, a number given for parameter `index`, a rank-0 tensor on the CPU in *box. Refused where the tensors of the call
// live elsewhere, unless the parameter is @cpu, and where nothing tells the dtype or it does not hold the number.
KP_COLD inline int BoxScalar(const KpSigFrame& frame, int index, Complain say, ScalarBox* box, KpAny* arg) {
  const uint32_t* record = say.p.Param(index);
  const KpDLDataType dtype = ResultDType(frame, record[1]);
  const bool on_cpu = frame.device.device_type <= KP_DEVICE_CPU || (GetFlags(record) & KP_PARAM_ON_CPU);
  box->tensor = KpDLTensor{box->data, KpDLDevice{KP_DEVICE_CPU, 0}, 0, dtype, nullptr, nullptr, 0};
  if (on_cpu && dtype.lanes && StoreNumber(*arg, dtype, box->data)) {
    *arg = kp_none();
    arg->type_index = KP_TYPE_DLTENSOR_PTR;
    arg->v.v_tensor = &box->tensor;
    return 0;
  }
  say.who = index;
  return say.Raise("TypeError", "%S: expected a number that dtype %d on cpu holds, got %t: pass a tensor", dtype, arg);
}

}  // namespace signature
KP_NAMESPACE_END

#endif  // KERNPACK_SIGNATURE_SCALAR_H_
