// Functions that use what a generator of device code can get wrong.
#pragma once

#include <string>

#include "ir/common_samples.h"

namespace ir_test {

// Written for no device in particular: what touches memory is moved into launches.
inline const std::string kSequential = R"(module "sequential"
private func scale(x: f32[M], k: f32) -> (y: f32[M]) { parallel i in 0..M { y[i] = x[i] * k } }
func scratch(x: i32[N, D]) -> (o: i32[N, D]) {
  parallel i in 0..N {
    alloc row: i32[D] workspace
    for j in 0..D { row[D - 1 - j] = x[i, j] }
    vectorized(4, masked) j in 0..D { o[i, j] = row[j] }
  }
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
func keywords(int: f32[N], kp_x: i64, constant: i64, n: i64) -> (kernel: f32[N]) {
  parallel uchar in 0..N { let half = int[uchar] let LANE = n + 1 kernel[uchar] = half + f32(kp_x - constant * LANE) }
}
func empty_range(x: i64[N]) -> (o: i64[N]) {
  parallel i in 0..N { o[i] = x[i] }
  parallel i in N..0 { o[i] = 7 }
}
)" + std::string(kCommonSamples);

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
