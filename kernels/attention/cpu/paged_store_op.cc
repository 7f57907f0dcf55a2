// paged_store and paged_quantize: new tokens into a cache in pages.
#include "paged_cache.h"

namespace kk {
namespace {

struct Destination {
  kp::MutTensorView cache;
  kp::TensorView block_table, lengths;
  float* scales;  // null unless the cache is of bytes
};

template <class Level, class T, class C>
void Store(kp::TensorView x, const Destination& to) {
  const int64_t added = x.size(1), groups = x.size(2), width = x.size(3), page = to.cache.size(1);
  const auto* length = Data<int32_t>(to.lengths);
  const auto* table = Data<int32_t>(to.block_table);
  ForRows(x.size(0) * added, groups * width, [&](int64_t begin, int64_t end) {
    for (int64_t token = begin; token < end; ++token) {
      const int64_t b = token / added, i = token % added, at = length[b] - added + i;
      const int64_t entry = table[b * to.block_table.size(1) + at / page], row = at % page;
      for (int64_t g = 0; g < groups; ++g) {
        const T* from = Data<T>(x) + b * x.stride(0) + i * x.stride(1) + g * x.stride(2);
        C* cached = Data<C>(to.cache) + entry * to.cache.stride(0) + row * to.cache.stride(1) + g * to.cache.stride(2);
        StoreCached<Level, T, C>(from, width, cached,
                                 to.scales ? to.scales + (entry * page + row) * groups + g : nullptr);
      }
    }
  });
}

template <class Level>
void StoreOp(kp::TensorView x, const Destination& to) {
  CheckLastDim("cache", to.cache);
  const CompactRows rows_x(x);
  CheckPages(to.cache, to.block_table, to.lengths, x.size(1));
  DispatchCache(to.cache.dtype(), [&](auto cache) {
    using C = typename decltype(cache)::Type;
    DispatchLinear(x.dtype(), [&](auto t) { Store<Level, typename decltype(t)::Type, C>(x, to); });
  });
}

template <class Level>
void PagedStore(kp::MutTensorView cache, kp::TensorView x, kp::TensorView block_table, kp::TensorView lengths) {
  StoreOp<Level>(x, {cache, block_table, lengths, nullptr});
}

template <class Level>
void PagedQuantize(kp::MutTensorView cache, kp::MutTensorView scales, kp::TensorView x, kp::TensorView block_table,
                   kp::TensorView lengths) {
  StoreOp<Level>(x, {cache, block_table, lengths, Data<float>(scales)});
}

}  // namespace
}  // namespace kk

KP_DOC(paged_store,
       "Writes the keys or values of new tokens, the last S of `lengths` tokens of each item, into a cache "
       "of pages (see paged_attention), rounded to its dtype. Items must not share the pages that are "
       "written.");
KK_EXPORT(paged_store, kk::PagedStore,
          "(cache!: C[P, R, G, D] strided, x: T[B, S, G, D] strided, block_table: i32[B, M], lengths: i32[B]) -> () "
          "where T in {f32, f16, bf16}, C in {f32, f16, bf16}, R > 0 with deterministic");
KP_DOC(paged_quantize,
       "paged_store for a cache of i8: each key or value of a head is stored as bytes and one scale; the "
       "error is at most half of the scale.");
KK_EXPORT(paged_quantize, kk::PagedQuantize,
          "(cache!: i8[P, R, G, D] strided, scales!: f32[P, R, G], x: T[B, S, G, D] strided, block_table: i32[B, M], "
          "lengths: i32[B]) -> () where T in {f32, f16, bf16}, R > 0 with deterministic");
