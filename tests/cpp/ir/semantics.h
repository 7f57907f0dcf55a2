// The table of docs/ir.md, row by row: what an operation gives for given operands. The interpreter runs it, and so
// does every generator.
#pragma once

#include <string>
#include <vector>

#include "ir/support.h"

namespace ir_test {

// `expr` of a and b, both of type `in`, is `want`, of type `out`.
struct Row {
  const char* name;
  const char* in;
  const char* a;
  const char* b;
  const char* expr;
  const char* out;
  const char* want;
};
inline void PrintTo(const Row& row, std::ostream* out) { *out << row.expr; }

inline constexpr Row kRows[] = {
    {"add_wraps", "i8", "127", "1", "a + b", "i8", "-128"},
    {"sub_wraps", "u16", "0", "1", "a - b", "u16", "65535"},
    {"mul_wraps", "i32", "65536", "65537", "a * b", "i32", "65536"},
    {"mul_wraps_u16", "u16", "65535", "65535", "a * b", "u16", "1"},
    {"mul_wraps_i64", "i64", "9223372036854775807", "2", "a * b", "i64", "-2"},
    {"neg_wraps", "i32", "-2147483648", "0", "-a", "i32", "-2147483648"},
    {"abs_wraps", "i64", "-9223372036854775808", "0", "abs(a)", "i64", "-9223372036854775808"},
    {"div_truncates", "i32", "-7", "2", "a / b", "i32", "-3"},
    {"rem_has_the_sign_of_the_dividend", "i32", "-7", "2", "a % b", "i32", "-1"},
    {"floordiv_floors", "i32", "-7", "2", "floordiv(a, b)", "i32", "-4"},
    {"floormod_has_the_sign_of_the_divisor", "i32", "-7", "2", "floormod(a, b)", "i32", "1"},
    {"floormod_negative_divisor", "i64", "7", "-2", "floormod(a, b)", "i64", "-1"},
    {"div_by_zero_is_zero", "i32", "5", "0", "a / b", "i32", "0"},
    {"rem_by_zero_is_zero", "u8", "5", "0", "a % b", "u8", "0"},
    {"floordiv_by_zero_is_zero", "i64", "-5", "0", "floordiv(a, b)", "i64", "0"},
    {"floormod_by_zero_is_zero", "i16", "-5", "0", "floormod(a, b)", "i16", "0"},
    {"div_of_min_by_minus_one_wraps", "i32", "-2147483648", "-1", "a / b", "i32", "-2147483648"},
    {"rem_of_min_by_minus_one_is_zero", "i64", "-9223372036854775808", "-1", "a % b", "i64", "0"},
    {"floordiv_of_min_by_minus_one_wraps", "i8", "-128", "-1", "floordiv(a, b)", "i8", "-128"},
    {"shl_count_modulo_width", "i32", "3", "33", "a << b", "i32", "6"},
    {"shl_negative_count_modulo_width", "i32", "1", "-1", "a << b", "i32", "-2147483648"},
    {"shl_wraps", "u8", "255", "4", "a << b", "u8", "240"},
    {"shr_signed_copies_the_sign", "i16", "-256", "4", "a >> b", "i16", "-16"},
    {"or_of_shifts_is_no_swap_of_bytes", "i32", "8388608", "0", "i32(i16(i32(u32(a) >> 8u32) | (a << 8i32)))", "i32",
     "-32768"},
    {"or_of_product_and_quotient_is_no_swap_of_bytes", "u32", "8388608", "0", "u32(u16(a / 256u32 | a * 256u32))",
     "u32", "32768"},
    {"sum_of_shifts_is_no_swap_of_bytes", "u32", "8388608", "0",
     "u32(i16(((a & 16776960u32) << 8u32) + ((a & 16776960u32) >> 8u32)))", "u32", "4294934528"},
    {"or_of_shifts_of_64_bits_is_no_swap_of_bytes", "u64", "8388608", "0", "(a >> 8u64 | a << 8u64) & 65535u64", "u64",
     "32768"},
    {"shr_unsigned_brings_zeros", "u16", "65280", "20", "a >> b", "u16", "4080"},
    {"not_flips_bits", "u8", "15", "0", "~a", "u8", "240"},
    {"compare_signed", "i64", "-1", "1", "a < b", "bool", "true"},
    {"compare_unsigned", "u64", "18446744073709551615", "1", "a < b", "bool", "false"},
    {"compare_with_nan_is_false", "f32", "nan", "1.0", "a >= b | a < b | a == b", "bool", "false"},
    {"nan_differs", "f64", "nan", "nan", "a != b", "bool", "true"},
    {"zeros_are_equal", "f32", "-0.0", "0.0", "a == b", "bool", "true"},
    {"float_div_by_zero", "f32", "-1.0", "0.0", "a / b", "f32", "-inf"},
    {"float_zero_over_zero", "f64", "0.0", "0.0", "a / b", "f64", "nan"},
    {"min_ignores_nan_left", "f32", "nan", "2.0", "min(a, b)", "f32", "2.0"},
    {"min_ignores_nan_right", "f32", "2.0", "nan", "min(a, b)", "f32", "2.0"},
    {"max_ignores_nan_left", "f64", "nan", "2.0", "max(a, b)", "f64", "2.0"},
    {"max_ignores_nan_right", "f64", "2.0", "nan", "max(a, b)", "f64", "2.0"},
    {"min_of_zeros_is_the_second", "f32", "-0.0", "0.0", "min(a, b)", "f32", "0.0"},
    {"max_of_zeros_is_the_second", "f32", "0.0", "-0.0", "max(a, b)", "f32", "-0.0"},
    {"minimum_propagates_nan_left", "f32", "nan", "2.0", "minimum(a, b)", "f32", "nan"},
    {"minimum_propagates_nan_right", "f32", "2.0", "nan", "minimum(a, b)", "f32", "nan"},
    {"maximum_propagates_nan_left", "f64", "nan", "2.0", "maximum(a, b)", "f64", "nan"},
    {"maximum_propagates_nan_right", "f64", "2.0", "nan", "maximum(a, b)", "f64", "nan"},
    {"int_min", "i8", "-3", "2", "min(a, b)", "i8", "-3"},
    {"int_max_unsigned", "u8", "253", "2", "max(a, b)", "u8", "253"},
    {"neg_flips_the_sign_of_zero", "f32", "0.0", "0.0", "-a", "f32", "-0.0"},
    {"abs_of_minus_zero", "f32", "-0.0", "0.0", "abs(a)", "f32", "0.0"},
    {"sqrt_of_negative_is_nan", "f32", "-1.0", "0.0", "sqrt(a)", "f32", "nan"},
    {"sqrt_of_minus_zero", "f64", "-0.0", "0.0", "sqrt(a)", "f64", "-0.0"},
    {"floor", "f32", "-1.5", "0.0", "floor(a)", "f32", "-2.0"},
    {"ceil_keeps_the_sign_of_zero", "f32", "-0.5", "0.0", "ceil(a)", "f32", "-0.0"},
    {"trunc", "f64", "-1.7", "0.0", "trunc(a)", "f64", "-1.0"},
    {"round_half_to_even", "f32", "2.5", "0.0", "round(a)", "f32", "2.0"},
    {"round_of_known_nan", "f32", "1.0", "0.0", "round(nan * a)", "f32", "nan"},
    {"round_of_known_nan_f64", "f64", "1.0", "2.0", "max(round(nan_f64 * a), b)", "f64", "2.0"},
    {"ceil_of_known_nan", "f32", "1.0", "0.0", "ceil(nan * a)", "f32", "nan"},
    {"trunc_of_known_nan", "f32", "1.0", "0.0", "trunc(nan * a)", "f32", "nan"},
    {"round_half_to_even_negative", "f64", "-3.5", "0.0", "round(a)", "f64", "-4.0"},
    {"int_cast_wraps", "i32", "300", "0", "i8(a)", "i8", "44"},
    {"int_cast_extends_the_sign", "i8", "-1", "0", "u32(a)", "u32", "4294967295"},
    {"int_to_bool", "i32", "256", "0", "bool(a)", "bool", "true"},
    {"bool_to_float", "i32", "1", "1", "f32(a == b)", "f32", "1.0"},
    {"nan_to_bool_is_true", "f32", "nan", "0.0", "bool(a)", "bool", "true"},
    {"minus_zero_to_bool_is_false", "f32", "-0.0", "0.0", "bool(a)", "bool", "false"},
    {"float_to_int_truncates", "f32", "-2.9", "0.0", "i32(a)", "i32", "-2"},
    {"float_to_int_loses_the_sign_of_zero", "f32", "-0.25", "0.0", "f32(i16(a))", "f32", "0.0"},
    {"float_to_int_saturates", "f32", "1e20", "0.0", "i32(a)", "i32", "2147483647"},
    {"float_to_int_saturates_below", "f64", "-1e300", "0.0", "i64(a)", "i64", "-9223372036854775808"},
    {"float_to_narrow_int_saturates", "f32", "-1000.0", "0.0", "i8(a)", "i8", "-128"},
    {"float_to_unsigned_saturates", "f32", "-5.0", "0.0", "u8(a)", "u8", "0"},
    {"float_to_u64_saturates", "f64", "1e30", "0.0", "u64(a)", "u64", "18446744073709551615"},
    {"float_to_u64_above_i64", "f64", "1e19", "0.0", "u64(a)", "u64", "10000000000000000000"},
    {"nan_to_int_is_zero", "f32", "nan", "0.0", "i64(a)", "i64", "0"},
    {"int_to_float_rounds_to_even", "i32", "16777217", "0", "f32(a)", "f32", "16777216.0"},
    {"u64_to_float_rounds_once", "u64", "9223373136366403585", "0", "f32(a)", "f32", "9223373136366403584.0"},
    {"f64_to_f32_rounds", "f64", "0.1", "0.0", "f32(a)", "f32", "0.1"},
    {"f64_to_f32_overflows", "f64", "1e39", "0.0", "f32(a)", "f32", "inf"},
    {"f32_to_f16_rounds_to_even", "f32", "2049.0", "0.0", "f16(a)", "f16", "2048.0"},
    {"f32_to_f16_overflows", "f32", "65520.0", "0.0", "f16(a)", "f16", "inf"},
    {"f32_to_f16_subnormal", "f32", "6e-8", "0.0", "f16(a)", "f16", "6e-8"},
    {"f16_to_f32", "f16", "0.1", "0.0", "f32(a)", "f32", "0.099975586"},
    {"f32_to_bf16_rounds_to_even", "f32", "1.00390625", "0.0", "bf16(a)", "bf16", "1.0"},
    {"bf16_to_f64", "bf16", "-inf", "0.0", "f64(a)", "f64", "-inf"},
    {"f32_to_e4m3fn_has_no_infinity", "f32", "1000.0", "0.0", "f8_e4m3fn(a)", "f8_e4m3fn", "nan"},
    {"f32_to_e4m3fn_has_one_nan", "f32", "-1000.0", "0.0", "f8_e4m3fn(a)", "f8_e4m3fn", "nan"},
    {"f32_to_e4m3fn_rounds", "f32", "17.0", "0.0", "f8_e4m3fn(a)", "f8_e4m3fn", "16.0"},
    {"f32_to_e5m2_overflows", "f32", "1e6", "0.0", "f8_e5m2(a)", "f8_e5m2", "inf"},
    {"e5m2_to_f32", "f8_e5m2", "1.75", "0.0", "f32(a)", "f32", "1.75"},
    {"bitcast_keeps_bits", "f32", "-1.0", "0.0", "bitcast(i32, a)", "i32", "-1082130432"},
    {"bitcast_unsigned", "f64", "-0.0", "0.0", "bitcast(u64, a)", "u64", "9223372036854775808"},
    {"select_takes_the_first", "i32", "4", "5", "select(a < b, a, b)", "i32", "4"},
    {"ramp_wraps", "i32", "2147483647", "1", "lanes(min, ramp(a, b, 2))", "i32", "-2147483648"},
    {"shuffle_takes_lanes_of_both", "i32", "4", "7",
     "lanes(+, shuffle(broadcast(a, 2), broadcast(b, 2), [1, 2, 3, 3]))", "i32", "25"},
    {"lanes_join_halves", "f32", "1e8", "1.0",
     "lanes(+, shuffle(broadcast(a, 2), shuffle(broadcast(b, 2), broadcast(-a, 2), [0, 2]), [0, 2, 3, 2]))", "f32",
     "2.0"},
    {"reduce_sequential_is_in_order", "f32", "1e8", "1.0",
     "reduce(+, j in 0..4, sequential, select(j == 0, a, select(j == 2, -a, b)))", "f32", "1.0"},
    {"reduce_any_keeps_partial_results", "f32", "1e8", "1.0",
     "reduce(+, j in 0..4, any 2, select(j == 0, a, select(j == 2, -a, b)))", "f32", "2.0"},
    {"reduce_nothing_is_the_neutral_element", "f32", "3.0", "1.0", "reduce(max, j in 4..2, any 8, a)", "f32", "-inf"},
    {"reduce_nothing_adds_up_to_zero", "f32", "3.0", "1.0", "reduce(+, j in 0..0, sequential, a)", "f32", "0.0"},
    {"reduce_maximum_sees_nan", "f32", "nan", "1.0", "reduce(maximum, j in 0..7, any 4, select(j == 5, a, b))", "f32",
     "nan"},
    {"reduce_max_does_not", "f32", "nan", "1.0", "reduce(max, j in 0..7, any 4, select(j == 5, a, b))", "f32", "1.0"},
    {"reduce_max_keeps_the_first_zero", "f32", "-0.0", "0.0",
     "reduce(max, j in 0..7, sequential, select(j == 0, a, b))", "f32", "-0.0"},
    {"argmax_takes_the_first", "i32", "4", "7", "reduce(argmax, j in 0..6, sequential, select(j % 2 == 0, a, b))",
     "i64", "1"},
    {"argmin_counts_from_the_first_bound", "i32", "4", "7",
     "reduce(argmin, j in 0-3..2, sequential, select(j < 0, b, a))", "i64", "0"},
    {"argmax_is_where_the_first_nan_is", "f32", "nan", "9.0",
     "reduce(argmax, j in 0..6, sequential, select(j == 2 | j == 4, a, b))", "i64", "2"},
    {"argmin_is_where_the_first_nan_is", "f64", "nan", "-9.0",
     "reduce(argmin, j in 0..6, sequential, select(j >= 3, a, b))", "i64", "3"},
    {"argmax_of_zeros_is_the_first", "f32", "-0.0", "0.0", "reduce(argmax, j in 0..6, sequential, select(j < 3, a, b))",
     "i64", "0"},
    {"argmax_of_infinities", "f32", "-inf", "0.0", "reduce(argmax, j in 2..5, sequential, a)", "i64", "2"},
    {"argmax_of_nothing_is_minus_one", "i32", "4", "7", "reduce(argmax, j in 3..3, sequential, a)", "i64", "-1"},
    {"argmin_has_the_type_of_its_counter", "u8", "4", "3",
     "reduce(argmin, j in 0i32..3i32, sequential, select(j == 2i32, b, a))", "i32", "2"},
    {"strict_rounds_as_written", "f32", "2.5", "1.0", "strict(a + 12582912.0) - 12582912.0", "f32", "2.0"},
    {"strict_reduction_in_order", "f32", "0.5", "16777216.0", "strict(reduce(+, j in 0..4, sequential, a + b - b))",
     "f32", "0.0"},
    {"literal_is_of_the_other_type", "f64", "1.0", "0.1", "a * 0.1 - b", "f64", "0.0"},
    {"literal_is_what_it_is_cast_to", "f64", "0.1", "1.0", "f64(0.1) - a", "f64", "0.0"},
    {"reduce_product_of_bits", "i32", "6", "12", "reduce(&, j in 0..2, sequential, select(j == 0, a, b))", "i32", "4"},
};

// One function a row.
inline std::string FunctionOf(const Row& r) { return std::string("row_") + r.name; }
inline std::string SemanticsModule() {
  std::string text = "module \"semantics\"\n";
  for (const Row& r : kRows) {
    text += "func " + FunctionOf(r) + "(p: " + r.in + "[2]) -> (o: " + r.out +
            "[1]) { let a = p[0] let b = p[1] o[0] = " + r.expr + " }\n";
  }
  return text;
}

// The same for many elements at once, in vectors where the row has no vectors of its own.
inline std::string VectorSemanticsModule() {
  std::string text = "module \"vector_semantics\"\n";
  for (const Row& r : kRows) {
    text += "func " + FunctionOf(r) + "(p: " + r.in + "[2, N]) -> (o: " + r.out +
            "[N]) { vectorized(8, masked) i in 0..N { let a = p[0, i] let b = p[1, i] o[i] = " + r.expr + " } }\n";
  }
  return text;
}

// Operands and results of a row.
struct RowCase {
  Array operands, result;

  // n: how many times the same operands; 0: for SemanticsModule().
  explicit RowCase(const Row& r, int64_t n = 0)
      : operands(TypeOf(r.in), n ? std::vector<int64_t>{2, n} : std::vector<int64_t>{2}),
        result(TypeOf(r.out), {n ? n : 1}),
        want_(GetLane(r.out, r.want)) {
    const uint64_t lanes[] = {GetLane(r.in, r.a), GetLane(r.in, r.b)};
    const size_t size = static_cast<size_t>(operands.type.itemsize()), count = operands.bytes.size() / size;
    for (size_t i = 0; i < count; ++i) {
      std::memcpy(operands.bytes.data() + i * size, &lanes[i < count / 2 ? 0 : 1], size);
    }
  }
  std::vector<KpAny> Args() { return {operands.Value(), result.Value()}; }
  bool Ok() const {
    const size_t size = static_cast<size_t>(result.type.itemsize());
    for (size_t at = 0; at < result.bytes.size(); at += size) {
      if (!Same(result.bytes.data() + at)) return false;
    }
    return true;
  }

 private:
  uint64_t want_;

  bool Same(const std::byte* got_bytes) const {
    if (result.type == Type(kF32)) {  // any NaN will do
      float got, expected;
      std::memcpy(&got, got_bytes, 4);
      std::memcpy(&expected, &want_, 4);
      if (got != got && expected != expected) return true;
    }
    if (result.type == Type(kF64)) {
      double got, expected;
      std::memcpy(&got, got_bytes, 8);
      std::memcpy(&expected, &want_, 8);
      if (got != got && expected != expected) return true;
    }
    return std::memcmp(got_bytes, &want_, static_cast<size_t>(result.type.itemsize())) == 0;
  }
  static Type TypeOf(const char* name) {
    Type t;
    TypeFromName(name, &t);
    return t;
  }
};

}  // namespace ir_test
