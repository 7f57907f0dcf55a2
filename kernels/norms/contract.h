// The contracts of norms: one text for every device.
#pragma once

#define KK_NORM_FLOATS "where T in {f32, f64, f16, bf16}, W in {f32, f64, f16, bf16} with graph_safe, deterministic"

#define KK_NORM_FORWARD KK_NORM_FLOATS ", invariant(batch)"

#define KK_LAYER_NORM_CONTRACT                                                                      \
  "(x: T[..., D] strided, weight: W[D], bias: W[D]? = None, *, eps: float = 1e-5) -> (out: T[..., " \
  "D]) " KK_NORM_FORWARD
#define KK_RMS_NORM_CONTRACT \
  "(x: T[..., D] strided, weight: W[D], *, eps: float = 1e-6) -> (out: T[..., D]) " KK_NORM_FORWARD
#define KK_ADD_LAYER_NORM_CONTRACT                                                               \
  "(x: T[..., D], residual: T[..., D], weight: W[D], bias: W[D]? = None, *, eps: float = 1e-5) " \
  "-> (out: T[..., D], sum: T[..., D]) " KK_NORM_FORWARD
#define KK_ADD_RMS_NORM_CONTRACT                                                                             \
  "(x: T[..., D], residual: T[..., D], weight: W[D], *, eps: float = 1e-6) -> (out: T[..., D], sum: T[..., " \
  "D]) " KK_NORM_FORWARD

#define KK_LAYER_NORM_BACKWARD_CONTRACT                                    \
  "(d_out: T[..., D], x: T[..., D] strided, weight: W[D], *, eps: float) " \
  "-> (d_x: T[..., D], d_weight: W[D] sum, d_bias: W[D] sum) " KK_NORM_FLOATS
#define KK_RMS_NORM_BACKWARD_CONTRACT                                      \
  "(d_out: T[..., D], x: T[..., D] strided, weight: W[D], *, eps: float) " \
  "-> (d_x: T[..., D], d_weight: W[D] sum) " KK_NORM_FLOATS
#define KK_ADD_LAYER_NORM_BACKWARD_CONTRACT                                                          \
  "(d_out: T[..., D], d_sum: T[..., D], sum: T[..., D], weight: W[D], *, eps: float) "               \
  "-> (d_x: T[..., D], d_residual: T[..., D], d_weight: W[D] sum, d_bias: W[D] sum) " KK_NORM_FLOATS \
  ", nondiff(d_out, d_sum, sum, weight)"
#define KK_ADD_RMS_NORM_BACKWARD_CONTRACT                                              \
  "(d_out: T[..., D], d_sum: T[..., D], sum: T[..., D], weight: W[D], *, eps: float) " \
  "-> (d_x: T[..., D], d_residual: T[..., D], d_weight: W[D] sum) " KK_NORM_FLOATS     \
  ", nondiff(d_out, d_sum, sum, weight)"
