// The contracts of sampling, and checks of their options: one text for every device.
#pragma once

#include <cmath>

#include <kernpack/kernel.h>

#define KK_LOGITS_TEXT " where T in {f32, f16, bf16}, 0 < N <= 2147483647"
#define KK_ARGMAX_CONTRACT \
  "(x: T[..., N]) -> (index: i32[...])" KK_LOGITS_TEXT " with graph_safe, deterministic, invariant(batch)"
#define KK_SAMPLE_CONTRACT                                                                                          \
  "(logits: T[..., N], *, seed: int, step: int = 0, temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0, " \
  "min_p: float = 0.0) -> (token: i32[...])" KK_LOGITS_TEXT ", top_k >= 0 with graph_safe, deterministic"
#define KK_TOPK_CONTRACT                                                                                 \
  "(x: T[..., N], *, k: int) -> (values: T[..., k], indices: i32[..., k]) where T in {f32, f16, bf16}, " \
  "0 < k <= N, N <= 2147483647 with graph_safe, deterministic, invariant(batch)"
#define KK_TOPK_BACKWARD_CONTRACT                                                             \
  "(d_values: T[..., K], x: T[..., N], indices: i32[..., K], *, k: int) -> (d_x: T[..., N]) " \
  "where T in {f32, f16, bf16}, K == k, 0 < k <= N with graph_safe, deterministic, nondiff(d_values, x)"
#define KK_REPETITION_PENALTY_CONTRACT                                                                             \
  "(logits!: T[..., N], tokens: I[..., M], *, penalty: float) -> () where T in {f32, f16, bf16}, I in {i32, i64} " \
  "with graph_safe, deterministic, invariant(batch)"

namespace kk {

// Checks the options of sampling, on every device.
inline void CheckSampleOptions(double temperature, double top_p, double min_p) {
  KP_CHECK(temperature >= 0 && std::isfinite(temperature), ValueError)
      << "temperature: expected a number that isn't negative, got " << temperature;
  KP_CHECK(top_p > 0 && top_p <= 1, ValueError) << "top_p: expected 0 < top_p <= 1, got " << top_p;
  KP_CHECK(min_p >= 0 && min_p <= 1, ValueError) << "min_p: expected 0 <= min_p <= 1, got " << min_p;
}

inline void CheckPenalty(double penalty) {
  KP_CHECK(penalty > 0 && std::isfinite(penalty), ValueError)
      << "penalty: expected a positive number, or 1 for none, got " << penalty;
}

}  // namespace kk
