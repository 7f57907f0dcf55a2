// causal_conv1d, its gradient, and the step that keeps a state.
#include "conv.h"

#include <vector>

#include "common/cpu/strided.h"
#include "common/cpu/values.h"

namespace kk {
namespace {

// A call's filters as the kernels read them, [taps, channels], and its sequences.
template <class T>
class Filters {
 public:
  Filters(kp::TensorView x, kp::TensorView weight, std::optional<kp::TensorView> bias,
          std::optional<kp::TensorView> state, kp::StringView activation)
      : x_(x),
        state_(state ? Data<T>(*state) : nullptr),
        offsets_(x),
        weight_(static_cast<size_t>(weight.numel())),
        zeros_(static_cast<size_t>(weight.size(0))),
        silu_(activation == "silu") {
    const int64_t channels = weight.size(0), taps = weight.size(1);
    taps_ = taps;
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t w = 0; w < taps; ++w) weight_[w * channels + c] = Load(Data<T>(weight)[c * taps + w]);
    }
    if (!bias) return;
    bias_.resize(static_cast<size_t>(channels));
    LoadRow(Data<T>(*bias), channels, bias_.data());
  }

  int64_t length() const { return x_.size(-2); }
  int64_t sequences() const { return x_.numel() == 0 ? 0 : x_.numel() / (length() * x_.size(-1)); }

  ConvArgs<T> Sequence(int64_t b) const {
    const int64_t channels = x_.size(-1);
    return {Data<T>(x_) + offsets_.Offset(b * length()),
            x_.stride(-2),
            state_ ? state_ + b * (taps_ - 1) * channels : nullptr,
            zeros_.data(),
            weight_.data(),
            bias_.empty() ? nullptr : bias_.data(),
            length(),
            channels,
            taps_,
            silu_};
  }

 private:
  kp::TensorView x_;
  const T* state_;
  StridedRows<T> offsets_;
  std::vector<ComputeType<T>> weight_, bias_;
  std::vector<T> zeros_;
  int64_t taps_;
  bool silu_;
};

template <class Level, class T>
void Run(const Filters<T>& filters, kp::MutTensorView out) {
  const int64_t length = filters.length(), width = out.size(-1);
  ForRows(filters.sequences() * length, 4 * width, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end;) {
      const int64_t b = row / length, stop = std::min(end, (b + 1) * length);
      CausalConvRows<Level, T>(filters.Sequence(b), Data<T>(out) + b * length * width, row - b * length,
                               stop - b * length);
      row = stop;
    }
  });
}

template <class Level>
void CausalConv(kp::TensorView x, kp::TensorView weight, std::optional<kp::TensorView> bias,
                std::optional<kp::TensorView> state, kp::StringView activation, kp::MutTensorView out) {
  const CompactRows compact(x);
  DispatchFloat(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    Run<Level, T>(Filters<T>(x, weight, bias, state, activation), out);
  });
}

template <class Level>
void CausalConvBackwardOp(kp::TensorView d_out, kp::TensorView x, kp::TensorView weight,
                          std::optional<kp::TensorView> bias, std::optional<kp::TensorView> state,
                          kp::StringView activation, kp::MutTensorView d_x, kp::MutTensorView d_weight,
                          kp::MutTensorView d_bias, kp::MutTensorView d_state) {
  const CompactRows compact(x);
  const int64_t channels = weight.size(0), taps = weight.size(1);
  if (x.numel() == 0) std::memset(d_state.data_ptr(), 0, static_cast<size_t>(d_state.nbytes()));
  DispatchFloat(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const Filters<T> filters(x, weight, bias, state, activation);
    std::vector<double> of_weight(static_cast<size_t>(weight.numel())), of_bias(static_cast<size_t>(channels));
    const int64_t sequences = filters.sequences(), length = filters.length();
    const int64_t blocks = (channels + kConvChannels - 1) / kConvChannels;
    // A block of channels goes through all sequences, so that its sums are the same on any number of threads.
    ForRows(blocks, 4 * sequences * length * kConvChannels, [&](int64_t begin, int64_t end) {
      std::vector<ComputeType<T>> scratch(static_cast<size_t>((2 * taps + 1) * kConvChannels));
      for (int64_t block = begin; block < end; ++block) {
        const int64_t first = block * kConvChannels;
        for (int64_t b = 0; b < sequences; ++b) {
          const int64_t at = b * length * channels;
          CausalConvBackward<Level, T>({filters.Sequence(b), Data<T>(d_out) + at, Data<T>(d_x) + at,
                                        Data<T>(d_state) + b * (taps - 1) * channels, of_weight.data(), of_bias.data()},
                                       first, std::min(kConvChannels, channels - first), scratch.data());
        }
      }
    });
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t w = 0; w < taps; ++w) Store(of_weight[w * channels + c], Data<T>(d_weight) + c * taps + w);
      Store(of_bias[c], Data<T>(d_bias) + c);
    }
  });
}

// The last rows of the state and x, one behind the other, become the state.
void KeepLast(kp::TensorView x, kp::MutTensorView state) {
  const int64_t length = x.size(-2), kept = state.size(-2);
  if (state.numel() == 0) return;
  const auto row_bytes = static_cast<size_t>(x.size(-1) * x.itemsize());
  const int64_t stay = std::max<int64_t>(kept - length, 0);
  const StridedRows<char> rows(x);
  for (int64_t b = 0; b < state.numel() / (kept * x.size(-1)); ++b) {
    char* to = Data<char>(state) + static_cast<size_t>(b * kept) * row_bytes;
    std::memmove(to, to + static_cast<size_t>(kept - stay) * row_bytes, static_cast<size_t>(stay) * row_bytes);
    for (int64_t i = stay; i < kept; ++i) {
      const int64_t offset = rows.Offset(b * length + length - (kept - i)) * x.itemsize();
      std::memcpy(to + static_cast<size_t>(i) * row_bytes, Data<char>(x) + offset, row_bytes);
    }
  }
}

template <class Level>
void CausalConvUpdate(kp::TensorView x, kp::MutTensorView state, kp::TensorView weight,
                      std::optional<kp::TensorView> bias, kp::StringView activation, kp::MutTensorView out) {
  const CompactRows compact(x);
  CausalConv<Level>(x, weight, bias, kp::TensorView(state), activation, out);
  KeepLast(x, state);
}

}  // namespace
}  // namespace kk

#define KK_WHERE "where T in {f32, f64, f16, bf16}, W > 0 with deterministic"
#define KK_CONV_ACTIVATION "*, activation: str in {\"none\", \"silu\"}"

KP_DOC(causal_conv1d,
       "A convolution along the rows of each sequence, each channel with a filter of its own, that sees no later rows: "
       "out[l, c] = act(bias[c] + sum over w of weight[c, w] * x[l - (W - 1) + w, c]), as in Mamba's layers. The rows "
       "before the first row are the rows of state, or zeros. x may be strided.");
KK_EXPORT(causal_conv1d, kk::CausalConv,
          "(x: T[..., L, C] strided, weight: T[C, W], bias: T[C]? = None, state: T[..., W - 1, C]? = "
          "None, " KK_CONV_ACTIVATION " = \"none\") -> (out: T[..., L, C]) " KK_WHERE ", invariant(batch)");
KK_EXPORT(causal_conv1d_backward, kk::CausalConvBackwardOp,
          "(d_out: T[..., L, C], x: T[..., L, C] strided, weight: T[C, W], bias: T[C]? = None, "
          "state: T[..., W - 1, C]? = None, " KK_CONV_ACTIVATION
          ") -> (d_x: T[..., L, C], d_weight: T[C, W] sum, d_bias: T[C] sum, d_state: T[..., W - 1, C]) " KK_WHERE
          ", nondiff(d_out, x, weight, bias, state)");
KP_GRAD(causal_conv1d, causal_conv1d_backward);

KP_DOC(
    causal_conv1d_update,
    "causal_conv1d of the rows that follow on state, which afterwards holds the last W - 1 rows: a sequence may come "
    "in pieces, one row at a time for example. state is written in place; it begins as zeros.");
KK_EXPORT(causal_conv1d_update, kk::CausalConvUpdate,
          "(x: T[..., L, C] strided, state!: T[..., W - 1, C], weight: T[C, W], bias: T[C]? = None, " KK_CONV_ACTIVATION
          " = \"none\") -> (out: T[..., L, C]) " KK_WHERE ", invariant(batch)");
