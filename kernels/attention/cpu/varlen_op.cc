// varlen_attention and its gradient: sequences of different lengths, one behind the other.
#include <vector>

#include "backward_run.h"
#include "tasks.h"

namespace kk {
namespace {

void CheckEnds(const char* name, const int32_t* ends, int64_t count, int64_t rows) {
  KP_CHECK(ends[0] == 0 && ends[count - 1] == rows, ValueError)
      << name << ": expected to begin with 0 and to end with " << rows << ", the number of rows, got " << ends[0]
      << " and " << ends[count - 1];
  for (int64_t i = 1; i < count; ++i) {
    KP_CHECK(ends[i] >= ends[i - 1], ValueError)
        << name << ": expected non-decreasing numbers, got " << ends[i] << " after " << ends[i - 1] << " at " << i;
  }
}

// Code that the op and its gradient share.
struct VarlenCall {
  kp::TensorView q, k, v, cu_queries, cu_keys;
  std::optional<double> scale;
  bool causal;
  int64_t window;
  double soft_cap;

  int64_t sequences() const { return cu_queries.size(0) - 1; }
  int64_t heads() const { return q.size(1); }
  int64_t width() const { return q.size(2); }
  int64_t query(int64_t s) const { return Data<int32_t>(cu_queries)[s]; }
  int64_t key(int64_t s) const { return Data<int32_t>(cu_keys)[s]; }

  void Check() const {
    CheckSoftCap(soft_cap);
    CheckEnds("cu_queries", Data<int32_t>(cu_queries), sequences() + 1, q.size(0));
    CheckEnds("cu_keys", Data<int32_t>(cu_keys), sequences() + 1, k.size(0));
  }

  template <class T>
  AttentionArgs<T> Sequence(int64_t s) const {
    const auto strides = [](kp::TensorView x) { return AttentionStrides{0, x.stride(0), x.stride(1)}; };
    return {Data<T>(q) + query(s) * q.stride(0),
            Data<T>(k) + key(s) * k.stride(0),
            Data<T>(v) + key(s) * v.stride(0),
            strides(q),
            strides(k),
            strides(v),
            1,
            query(s + 1) - query(s),
            heads(),
            key(s + 1) - key(s),
            k.size(1),
            width(),
            AttentionScale(scale, width()),
            GetSoftCap(soft_cap),
            causal,
            window,
            nullptr};
  }
};

// lse: a block [heads, queries] for each sequence, one behind the other.
template <class Level>
void VarlenAttention(kp::TensorView q, kp::TensorView k, kp::TensorView v, kp::TensorView cu_queries,
                     kp::TensorView cu_keys, std::optional<double> scale, bool causal, int64_t window, double soft_cap,
                     kp::MutTensorView context, kp::MutTensorView lse) {
  const CompactRows rows_q(q), rows_k(k), rows_v(v);
  const VarlenCall call = {q, k, v, cu_queries, cu_keys, scale, causal, window, soft_cap};
  call.Check();
  if (context.numel() == 0) {
    std::fill_n(Data<float>(lse), lse.numel(), 0.0f);
    return;
  }
  DispatchLinear(q.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    std::vector<AttentionBlocks<typename Bf16Level<Level, T>::Type, T>> work;
    std::vector<int64_t> ends = {0};  // of the blocks of each sequence
    for (int64_t s = 0; s < call.sequences(); ++s) {
      work.emplace_back(call.Sequence<T>(s), Data<T>(context) + call.query(s) * call.heads() * call.width(),
                        Data<float>(lse) + call.query(s) * call.heads());
      ends.push_back(ends.back() + work.back().count());
    }
    kp::parallel_for(ends.back(), 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const auto s = std::upper_bound(ends.begin(), ends.end(), i) - ends.begin() - 1;
        work[s].Run(i - ends[s]);
      }
    });
  });
}

template <class Level>
void VarlenAttentionBackward(kp::TensorView d_context, kp::TensorView q, kp::TensorView k, kp::TensorView v,
                             kp::TensorView cu_queries, kp::TensorView cu_keys, kp::TensorView context,
                             kp::TensorView lse, std::optional<double> scale, bool causal, int64_t window,
                             double soft_cap, kp::MutTensorView d_q, kp::MutTensorView d_k, kp::MutTensorView d_v) {
  const CompactRows rows_q(q), rows_k(k), rows_v(v);
  const VarlenCall call = {q, k, v, cu_queries, cu_keys, scale, causal, window, soft_cap};
  call.Check();
  Zeros(q, d_q), Zeros(k, d_k), Zeros(v, d_v);  // of sequences without queries or without keys
  DispatchLinear(q.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    for (int64_t s = 0; s < call.sequences(); ++s) {
      const AttentionArgs<T> args = call.Sequence<T>(s);
      if (args.queries * args.keys * args.heads * args.width == 0) continue;
      const int64_t at = call.query(s) * call.heads(), of_keys = call.key(s) * args.groups * args.width;
      RunAttentionGradient<typename Bf16Level<Level, T>::Type, T>(
          {args, Data<T>(d_context) + at * args.width, Data<T>(context) + at * args.width, Data<float>(lse) + at,
           Data<T>(d_q) + at * args.width},
          Data<T>(d_k) + of_keys, Data<T>(d_v) + of_keys);
    }
  });
}

}  // namespace
}  // namespace kk

KP_DOC(varlen_attention,
       "attention for concatenated sequences: sequence i has the rows from cu_queries[i] to cu_queries[i + "
       "1] of q, and the rows from cu_keys[i] to cu_keys[i + 1] of k and v.");
KK_EXPORT_MATRIX(
    varlen_attention, kk::VarlenAttention,
    "(q: T[N, H, D] strided, k: T[L, G, D] strided, v: T[L, G, D] strided, cu_queries: i32[C], cu_keys: i32[C], *, "
    "scale: float? = None, causal: bool = False, window: int = 0, soft_cap: float = 0.0) "
    "-> (context: T[N, H, D], lse: f32[N, H] aux) where T in {f32, f16, bf16}, C > 0, G > 0, H % G == 0, window >= 0 "
    "with deterministic");
KK_EXPORT_BF16(
    varlen_attention_backward, kk::VarlenAttentionBackward,
    "(d_context: T[N, H, D], q: T[N, H, D] strided, k: T[L, G, D] strided, v: T[L, G, D] strided, cu_queries: i32[C], "
    "cu_keys: i32[C], context: T[N, H, D], lse: f32[N, H], *, scale: float?, causal: bool, window: int, soft_cap: "
    "float) -> (d_q: T[N, H, D], d_k: T[L, G, D], d_v: T[L, G, D]) where T in {f32, f16, bf16}, C > 0, G > 0, "
    "H % G == 0, window >= 0 with deterministic, nondiff(d_context, q, k, v, context, lse)");
KP_GRAD(varlen_attention, varlen_attention_backward);
