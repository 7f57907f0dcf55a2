// Functions that use what a generator of device code can get wrong.
#pragma once

namespace ir_test {

// Written for no device in particular: what touches memory is moved into launches.
inline constexpr char kSequential[] = R"(module "sequential"
private func scale(x: f32[M], k: f32) -> (y: f32[M]) { parallel i in 0..M { y[i] = x[i] * k } }
func calls(x: f32[N], k: f32) -> (o: f32[N]) { alloc t: f32[N] workspace call scale(x, t, k) call scale(t, o, 2.0) }
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
func scratch(x: i32[N, D]) -> (o: i32[N, D]) {
  parallel i in 0..N {
    alloc row: i32[D] workspace
    for j in 0..D { row[D - 1 - j] = x[i, j] }
    vectorized(4, masked) j in 0..D { o[i, j] = row[j] }
  }
}
func early(x: i64[N]) -> (o: i64[N]) {
  for i in 0..N { o[i] = x[i] }
  if N > 2 { return }
  for i in 0..N { o[i] = 0 - o[i] }
}
func shared_binding(x: i32[N]) -> (o: i32[N]) {
  alloc first: i32[1] local
  first[0] = 0i32
  if N > 0 { first[0] = x[0] }
  parallel i in 0..N { o[i] = x[i] + first[0] }
}
func launch_of_loaded_size(x: i64[N]) -> (o: i64[N]) {
  for i in 0..N { o[i] = x[i] }
  let n = load_if(x[0], N > 0, 0)
  launch grid(min(max(n, 0), N)) block(1) { o[block.x] = o[block.x] + n }
}
func computed(x: u8[N]) -> (o: u8[N * 2 + 1]) { for i in 0..N * 2 + 1 { o[i] = u8(floordiv(i, 2)) } }
func keywords(int: f32[N], kp_x: i64, constant: i64, n: i64) -> (kernel: f32[N]) {
  parallel uchar in 0..N { let half = int[uchar] let LANE = n + 1 kernel[uchar] = half + f32(kp_x - constant * LANE) }
}
func negative_steps(x: f32[N]) -> (o: f32[N]) { for i in 0..N { o[N - 1 - i] = x[i] } }
func empty_range(x: i64[N]) -> (o: i64[N]) {
  parallel i in 0..N { o[i] = x[i] }
  parallel i in N..0 { o[i] = 7 }
}
func shuffles(x: bool[8]) -> (o: bool[8], n: i32[1]) {
  let v = x[ramp(0, 1, 8)]
  o[ramp(7, -1, 8)] = shuffle(v, ~v, [0, 9, 2, 11, 4, 13, 6, 15])
  n[0] = lanes(+, i32(v))
}
)";

// With launches of their own.
inline constexpr char kLaunches[] = R"(module "launches"
func indices(x: i64[N]) -> (o: i64[4, 3, 2, 4, 2, 2]) {
  launch grid(4, 3, 2) block(4, 2, 2) {
    o[block.x, block.y, block.z, thread.x, thread.y, thread.z] =
      i64(block.x) + i64(block.y) * 10 + i64(block.z) * 100 + i64(thread.x) * 1000 + i64(thread.y) * 10000 + i64(thread.z) * 100000
  }
}
func neighbours(x: i32[N]) -> (o: i32[N]) {
  launch grid(floordiv(N + 31, 32)) block(32) {
    alloc tile: i32[32] shared
    let i = i64(block.x) * 32 + i64(thread.x)
    tile[thread.x] = load_if(x[i], i < N, 0i32)
    barrier
    if i < N { o[i] = tile[31i32 - thread.x] }
  }
}
func sized(x: i32[N], n: i64) -> (o: i32[N]) {
  launch grid(N) block(4) {
    alloc tile: i32[8] shared
    alloc mine: i32[n] local
    if i64(thread.x) < n { tile[thread.x] = x[block.x] + thread.x }
    barrier
    for j in 0..n { mine[j] = tile[n - 1 - j] }
    if thread.x == 0i32 { o[block.x] = mine[0] * 2i32 }
  }
}
func loops(x: f32[N], steps: i64) -> (o: f32[N]) {
  alloc t: f32[N] workspace
  launch grid(N) block(1) { t[block.x] = x[block.x] }
  for s in 0..steps {
    if s % 2 == 0 { launch grid(N) block(1) { t[block.x] = t[block.x] + f32(s) } }
  }
  launch grid(N) block(1) { o[block.x] = t[block.x] }
}
)";

}  // namespace ir_test
