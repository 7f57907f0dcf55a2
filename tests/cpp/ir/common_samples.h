// Functions that use what any generator can get wrong, to be parsed behind those of one generator. `calls` calls a function
// `scale`, which each brings: a private one, loops as that generator wants them.
#pragma once

namespace ir_test {

inline constexpr char kCommonSamples[] =
    R"(func calls(x: f32[N], k: f32) -> (o: f32[N]) { alloc t: f32[N] workspace call scale(x, t, k) call scale(t, o, 2.0) }
func every_scalar(a: bool, b: i8, c: i16, d: i32, e: i64, f: u8, g: u16, h: u32, i: u64, x: f32[N]) -> (o: i64[9]) {
  o[0] = i64(a) o[1] = i64(b) o[2] = i64(c) o[3] = i64(d) o[4] = e o[5] = i64(f) o[6] = i64(g) o[7] = i64(h)
  o[8] = i64(i)
}
func every_float(a: f16, b: bf16, c: f32, d: f64, e: f8_e4m3fn, f: f8_e5m2, x: f32[N]) -> (o: f64[6]) {
  o[0] = f64(a) o[1] = f64(b) o[2] = f64(c) o[3] = d o[4] = f64(e) o[5] = f64(f)
}
func storage(x: f16[N], y: bf16[N], z: f8_e4m3fn[N], w: f8_e5m2[N]) -> (o: bf16[N], p: f8_e5m2[N], q: f16[N]) {
  vectorized(8) i in 0..N { o[i] = bf16(x[i]) p[i] = f8_e5m2(f32(y[i]) + f32(z[i])) q[i] = f16(w[i]) }
}
func nested(x: i32[N, 3]) -> (o: i32[N, 3]) {
  let k = 5i32
  parallel i in 0..N {
    alloc big: i32[N + 1, 5000] local
    parallel j in 0..3 { o[i, j] = x[i, j] * k + i32(i) }
    big[i, 4999] = o[i, 0]
    o[i, 0] = big[i, 4999] / 3i32
  }
}
func early(x: i64[N]) -> (o: i64[N]) {
  for i in 0..N { o[i] = x[i] }
  if N > 2 { return }
  for i in 0..N { o[i] = 0 - o[i] }
}
func first_negative(x: i32[N]) -> (o: i64[1]) {
  alloc k: i64[1] local
  k[0] = 0
  while k[0] < N {
    if x[k[0]] < 0i32 { break k[0] = 77 }
    k[0] = k[0] + 1
  }
  o[0] = k[0]
}
func rounds(x: i32[N, 3]) -> (o: i32[N, 3]) {
  parallel i in 0..N {
    alloc v: i64[1] local
    v[0] = i64(x[i, 0]) & 1023
    o[i, 0] = 0i32
    while v[0] > 1 {
      v[0] = select(v[0] % 2 == 0, v[0] / 2, 3 * v[0] + 1)
      o[i, 0] = o[i, 0] + 1i32
      if v[0] % 5 == 4 { continue }
      if o[i, 0] > 30i32 { break }
    }
    for j in 1..3 { o[i, j] = i32(j) }
    for j in 1..3 {
      if x[i, j] % 3i32 == 0i32 { continue }
      for k in 0..4 { if k == 2 { break } o[i, j] = o[i, j] + 10i32 }
      if x[i, j] % 2i32 == 0i32 { break }
      o[i, j] = x[i, j]
    }
  }
}
func conditions_that_need_statements(x: i32[N]) -> (o: i64[2]) {
  alloc t: i64[N] workspace
  alloc k: i64[2] local
  for i in 0..N { t[i] = i64(x[i]) & 7 }
  k[0] = 0
  while reduce(+, i in 0..N, sequential, t[i]) > 3 { t[k[0]] = 0 k[0] = k[0] + 1 }
  k[1] = 0
  while exp(f32(k[1])) < 100.0 { k[1] = k[1] + 1 if k[0] > 2 { continue } k[0] = k[0] + 1 }
  o[0] = k[0]
  o[1] = k[1]
}
func places(x: f32[N, D]) -> (o: i64[N], p: i32[N]) {
  parallel i in 0..N {
    o[i] = reduce(argmax, j in 0..D, sequential, x[i, j])
    p[i] = reduce(argmin, j in 0i32..i32(D), sequential, x[i, j] * x[i, 0])
  }
}
func computed(x: u8[N]) -> (o: u8[N * 2 + 1]) { for i in 0..N * 2 + 1 { o[i] = u8(floordiv(i, 2)) } }
func negative_steps(x: f32[N]) -> (o: f32[N]) { for i in 0..N { o[N - 1 - i] = x[i] } }
func shuffles(x: bool[8]) -> (o: bool[8], n: i32[1]) {
  let v = x[ramp(0, 1, 8)]
  o[ramp(7, -1, 8)] = shuffle(v, ~v, [0, 9, 2, 11, 4, 13, 6, 15])
  n[0] = lanes(+, i32(v))
}
func quotients_that_are_0_or_1(x: i16[2], y: i64[2], z: u32[2]) -> (o: i16[2], p: i64[2], q: u32[2]) {
  let a = x[ramp(0, 1, 2)]
  o[ramp(0, 1, 2)] = a / a
  let b = y[ramp(0, 1, 2)]
  p[ramp(0, 1, 2)] = b / b
  q[ramp(0, 1, 2)] = z[ramp(0, 1, 2)] / broadcast(4294967295u32, 2)
}
)";

}  // namespace ir_test
