// The contracts of cross entropies and their gradients, and checks of their options: one text for every device.
#pragma once

#include <kernpack/kernel.h>

#define KK_CROSS_ENTROPY_WHERE "where T in {f32, f16, bf16}, I in {i32, i64} with graph_safe, deterministic"
#define KK_CROSS_ENTROPY_CONTRACT                                                                            \
  "(logits: T[..., V] strided, targets: I[...], *, ignore_index: int = -100, label_smoothing: float = 0.0, " \
  "z_loss: float = 0.0) -> (loss: f32[...], lse: f32[...] aux) " KK_CROSS_ENTROPY_WHERE ", invariant(batch)"
#define KK_CROSS_ENTROPY_BACKWARD_CONTRACT                                                               \
  "(d_loss: f32[...], logits: T[..., V] strided, targets: I[...], lse: f32[...], *, ignore_index: int, " \
  "label_smoothing: float, z_loss: float) -> (d_logits: T[..., V]) " KK_CROSS_ENTROPY_WHERE              \
  ", nondiff(d_loss, logits, lse)"
#define KK_FUSED_LINEAR_CROSS_ENTROPY_CONTRACT                                                                   \
  "(x: T[..., D], weight: T[V, D], targets: I[...], *, ignore_index: int = -100, label_smoothing: float = 0.0, " \
  "z_loss: float = 0.0) -> (loss: f32[...], lse: f32[...] aux) " KK_CROSS_ENTROPY_WHERE ", invariant(batch)"
#define KK_FUSED_LINEAR_CROSS_ENTROPY_BACKWARD_CONTRACT                                                       \
  "(d_loss: f32[...], x: T[..., D], weight: T[V, D], targets: I[...], lse: f32[...], *, ignore_index: int, "  \
  "label_smoothing: float, z_loss: float) -> (d_x: T[..., D], d_weight: T[V, D] sum) " KK_CROSS_ENTROPY_WHERE \
  ", nondiff(d_loss, x, weight, lse)"

namespace kk {

// Checks the options of cross-entropy, on every device.
inline void CheckCrossEntropyOptions(double label_smoothing, double z_loss) {
  KP_CHECK(label_smoothing >= 0 && label_smoothing <= 1, ValueError)
      << "label_smoothing: expected a number from 0 to 1, got " << label_smoothing;
  KP_CHECK(z_loss >= 0, ValueError) << "z_loss: expected a positive number, or 0 for none, got " << z_loss;
}

}  // namespace kk
