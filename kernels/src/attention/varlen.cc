// varlen_attention: sequences of different lengths, one behind the other.
#include <vector>

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

template <class Level>
void VarlenAttention(kp::TensorView q, kp::TensorView k, kp::TensorView v, kp::TensorView cu_queries,
                     kp::TensorView cu_keys, std::optional<double> scale, bool causal, int64_t window, double soft_cap,
                     kp::MutTensorView out) {
  const CompactRows rows_q(q), rows_k(k), rows_v(v);
  KP_CHECK(soft_cap >= 0, ValueError) << "soft_cap: expected a positive number, or 0 for none, got " << soft_cap;
  const int64_t sequences = cu_queries.size(0) - 1, heads = q.size(1), width = q.size(2);
  const auto *query = Data<int32_t>(cu_queries), *key = Data<int32_t>(cu_keys);
  CheckEnds("cu_queries", query, sequences + 1, q.size(0)), CheckEnds("cu_keys", key, sequences + 1, k.size(0));
  if (out.numel() == 0) return;
  DispatchLinear(q.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const auto strides = [](kp::TensorView x) { return AttentionStrides{0, x.stride(0), x.stride(1)}; };
    std::vector<AttentionBlocks<Level, T>> work;
    std::vector<int64_t> ends = {0};  // of the blocks of each sequence
    for (int64_t s = 0; s < sequences; ++s) {
      const AttentionArgs<T> args = {Data<T>(q) + query[s] * q.stride(0),
                                     Data<T>(k) + key[s] * k.stride(0),
                                     Data<T>(v) + key[s] * v.stride(0),
                                     strides(q),
                                     strides(k),
                                     strides(v),
                                     1,
                                     query[s + 1] - query[s],
                                     heads,
                                     key[s + 1] - key[s],
                                     k.size(1),
                                     width,
                                     AttentionScale(scale, width),
                                     static_cast<float>(soft_cap),
                                     causal,
                                     window,
                                     nullptr};
      work.emplace_back(args, Data<T>(out) + query[s] * heads * width);
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

}  // namespace
}  // namespace kk

KP_DOC(varlen_attention,
       "attention for concatenated sequences: sequence i has the rows from cu_queries[i] to cu_queries[i + "
       "1] of q, and the rows from cu_keys[i] to cu_keys[i + 1] of k and v.");
KK_EXPORT(
    varlen_attention, kk::VarlenAttention,
    "(q: T[N, H, D] strided, k: T[L, G, D] strided, v: T[L, G, D] strided, cu_queries: i32[C], cu_keys: i32[C], *, "
    "scale: float? = None, causal: bool = False, window: int = 0, soft_cap: float = 0.0) -> (out: T[N, H, D]) "
    "where T in {f32, f16, bf16}, C > 0, G > 0, H % G == 0, window >= 0 with deterministic");
