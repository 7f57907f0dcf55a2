// A causal convolution along rows, each channel with a filter of its own: plain pointers, compiled once per level.
#pragma once

#include "common/cpu/types.h"

namespace kk {

// One sequence. out[l] = act(bias + sum over w of weight[w] * X[l + w]), where X is the state's taps - 1 rows and behind them x.
template <class T>
struct ConvArgs {
  const T* x;  // [length, channels]; the rows are x_step apart
  int64_t x_step;
  const T* state;  // [taps - 1, channels]; null: `zeros`
  const T* zeros;  // [channels]
  const ComputeType<T>* weight;  // [taps, channels]
  const ComputeType<T>* bias;  // [channels]; nullable
  int64_t length, channels, taps;
  bool silu;

  // Row `p` of X.
  const T* Row(int64_t p) const {
    if (p >= taps - 1) return x + (p - (taps - 1)) * x_step;
    return state ? state + p * channels : zeros;
  }
};

// out: [length, channels], of which rows [begin, end) are written.
template <class Level, class T>
void CausalConvRows(const ConvArgs<T>& args, T* out, int64_t begin, int64_t end);

template <class T>
struct ConvBackwardArgs {
  ConvArgs<T> forward;
  const T* d_out;  // [length, channels]
  T* d_x;  // [length, channels]
  T* d_state;  // [taps - 1, channels]
  double* d_weight;  // [taps, channels]; added to
  double* d_bias;  // [channels]; added to
};

constexpr int64_t kConvChannels = 64;  // of a block: its gradients stay in the first cache

// Channels [first, first + count), count <= kConvChannels. Scratch: (2 * taps + 1) * kConvChannels values.
template <class Level, class T>
void CausalConvBackward(const ConvBackwardArgs<T>& args, int64_t first, int64_t count, ComputeType<T>* scratch);

}  // namespace kk
