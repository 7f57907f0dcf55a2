// Plain values as the ABI passes them, for any test.
#ifndef KERNPACK_TESTS_CPP_VALUES_H_
#define KERNPACK_TESTS_CPP_VALUES_H_

#include <kernpack/abi.h>

namespace kernpack_test {

inline KpAny Int(int64_t value) {
  KpAny any = kp_none();
  any.type_index = KP_TYPE_INT;
  any.v.v_int = value;
  return any;
}

inline KpAny Float(double value) {
  KpAny any = kp_none();
  any.type_index = KP_TYPE_FLOAT;
  any.v.v_float = value;
  return any;
}

inline KpAny RawStr(const char* text) {
  KpAny any = kp_none();
  any.type_index = KP_TYPE_RAW_STR;
  any.v.v_c_str = text;
  return any;
}

}  // namespace kernpack_test

#endif  // KERNPACK_TESTS_CPP_VALUES_H_
