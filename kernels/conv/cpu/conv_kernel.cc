// The rows of a causal convolution, and its gradient.
#include "conv.h"

#include <algorithm>

#include "activations/cpu/activations.h"
#include "common/cpu/row.h"

namespace kk {
namespace {

// The rows of X that a row of the result sees. Where the number of taps is known to the compiler, it is kTaps; else that is 0.
template <int kTaps, class T>
struct Seen {
  const T* rows[kTaps];
  Seen(const ConvArgs<T>& args, int64_t l) {
    for (int w = 0; w < kTaps; ++w) rows[w] = args.Row(l + w);
  }
  int64_t taps() const { return kTaps; }
  const T* operator[](int64_t w) const { return rows[w]; }
};

template <class T>
struct Seen<0, T> {
  const ConvArgs<T>& args;
  int64_t l;
  Seen(const ConvArgs<T>& of, int64_t row) : args(of), l(row) {}
  int64_t taps() const { return args.taps; }
  const T* operator[](int64_t w) const { return args.Row(l + w); }
};

// Before the activation: the vector at channel c.
template <int kTaps, class T, class Extent>
typename Pack<T>::V At(const ConvArgs<T>& args, const Seen<kTaps, T>& rows, int64_t c, Extent extent) {
  using S = ComputeType<T>;
  typename Pack<T>::V sum = args.bias ? Get<S>(args.bias + c, extent) : typename Pack<T>::V{};
  for (int64_t w = 0; w < rows.taps(); ++w) {
    sum += Get(rows[w] + c, extent) * Get<S>(args.weight + w * args.channels + c, extent);
  }
  return sum;
}

template <int kTaps, bool kSilu, class T>
void Rows(const ConvArgs<T>& args, T* out, int64_t begin, int64_t end) {
  for (int64_t l = begin; l < end; ++l) {
    const Seen<kTaps, T> rows(args, l);
    ForRow<T>(args.channels, [&](int64_t c, auto extent) {
      const auto sum = At(args, rows, c, extent);
      Put(out + l * args.channels + c, extent, kSilu ? Silu(sum) : sum);
    });
  }
}

template <int kTaps, class T>
void Rows(const ConvArgs<T>& args, T* out, int64_t begin, int64_t end) {
  args.silu ? Rows<kTaps, true>(args, out, begin, end) : Rows<kTaps, false>(args, out, begin, end);
}

}  // namespace

template <class Level, class T>
void CausalConvRows(const ConvArgs<T>& args, T* out, int64_t begin, int64_t end) {
  args.taps == 4 ? Rows<4>(args, out, begin, end) : Rows<0>(args, out, begin, end);
}

// Row l of the gradient before the activation, g[l], is wanted by rows l to l + taps - 1 of X's gradient: the last `taps` of them are kept.
template <class Level, class T>
void CausalConvBackward(const ConvBackwardArgs<T>& args, int64_t first, int64_t count, ComputeType<T>* scratch) {
  using S = ComputeType<T>;
  constexpr int64_t kRows = 64;  // sums of so many rows are formed in S
  const ConvArgs<T>& of = args.forward;
  const int64_t taps = of.taps;
  S* const kept = scratch;  // [taps, kConvChannels]: row l % taps is g[l]
  S* const sums = kept + taps * kConvChannels;  // [taps, kConvChannels] of the weights, and behind them of the bias
  std::fill_n(sums, (taps + 1) * kConvChannels, S{0});
  const auto fold = [&] {
    for (int64_t w = 0; w <= taps; ++w) {
      double* to = w == taps ? args.d_bias + first : args.d_weight + w * of.channels + first;
      for (int64_t c = 0; c < count; ++c) to[c] += static_cast<double>(sums[w * kConvChannels + c]);
    }
    std::fill_n(sums, (taps + 1) * kConvChannels, S{0});
  };
  for (int64_t p = 0; p < of.length + taps - 1; ++p) {
    if (p < of.length) {
      S* g = kept + p % taps * kConvChannels;
      ForRow<T>(count, [&](int64_t c, auto extent) {
        auto d = Get(args.d_out + p * of.channels + first + c, extent);
        if (of.silu) d *= SiluSlope(At(of, Seen<0, T>(of, p), first + c, extent)).derivative;
        Put<S>(g + c, extent, d);
        for (int64_t w = 0; w < taps; ++w) {
          S* to = sums + w * kConvChannels + c;
          Put<S>(to, extent, Get<S>(to, extent) + d * Get(of.Row(p + w) + first + c, extent));
        }
        S* to = sums + taps * kConvChannels + c;
        Put<S>(to, extent, Get<S>(to, extent) + d);
      });
      if ((p + 1) % kRows == 0) fold();
    }
    T* to = p < taps - 1 ? args.d_state + p * of.channels : args.d_x + (p - (taps - 1)) * of.channels;
    ForRow<T>(count, [&](int64_t c, auto extent) {
      typename Pack<T>::V sum = {};
      for (int64_t w = std::max<int64_t>(0, p - of.length + 1); w <= std::min(p, taps - 1); ++w) {
        sum += Get<S>(kept + (p - w) % taps * kConvChannels + c, extent) *
               Get<S>(of.weight + w * of.channels + first + c, extent);
      }
      Put(to + first + c, extent, sum);
    });
  }
  fold();
}

#define KK_INSTANTIATE(T)                                                                \
  template void CausalConvRows<KP_VARIANT, T>(const ConvArgs<T>&, T*, int64_t, int64_t); \
  template void CausalConvBackward<KP_VARIANT, T>(const ConvBackwardArgs<T>&, int64_t, int64_t, ComputeType<T>*);
KK_FLOAT_TYPES(KK_INSTANTIATE)

}  // namespace kk
