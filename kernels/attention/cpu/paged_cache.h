// A cache in pages, as the ops see it: its dtypes, and checks of what points into it.
#pragma once

#include "linear/cpu/dispatch.h"
#include "paged.h"

namespace kk {

// f(Tag<C>) with the type that a cache of `dtype` is stored as.
template <class F>
void DispatchCache(kp::DType dtype, F f) {
  if (dtype == kp::dtype_of<int8_t>) {
    f(Tag<int8_t>());
  } else {
    DispatchLinear(dtype, f);
  }
}

template <class C>
PagedCache<C> MakeCache(kp::TensorView cache, const std::optional<kp::TensorView>& scales) {
  return {Data<C>(cache), cache.stride(0), cache.stride(1), cache.stride(2), Data<float>(scales)};
}

inline void CheckScales(const char* name, kp::TensorView cache, bool has_scales) {
  const bool is_bytes = cache.dtype() == kp::dtype_of<int8_t>;
  KP_CHECK(is_bytes == has_scales, ValueError)
      << name << ": expected "
      << (is_bytes ? "the scales of a cache of i8, got none" : "none beside a cache that isn't i8");
}

// That each item has room for its `added` last tokens, and that the pages it uses are there.
inline void CheckPages(kp::TensorView cache, kp::TensorView block_table, kp::TensorView lengths, int64_t added) {
  const int64_t pages = cache.size(0), page = cache.size(1), most = block_table.size(1) * page;
  const auto* length = Data<int32_t>(lengths);
  const auto* table = Data<int32_t>(block_table);
  for (int64_t b = 0; b < lengths.size(0); ++b) {
    KP_CHECK(length[b] >= added && length[b] <= most, ValueError)
        << "lengths: expected " << added << " (the new tokens) to " << most << " (the rows of " << block_table.size(1)
        << " pages), got " << length[b] << " for item " << b;
    for (int64_t i = 0; i * page < length[b]; ++i) {
      const int32_t entry = table[b * block_table.size(1) + i];
      KP_CHECK(entry >= 0 && entry < pages, IndexError)
          << "block_table: [" << b << ", " << i << "] is " << entry << ", but the cache has " << pages << " pages";
    }
  }
}

template <class C>
int64_t Longest(const PagedArgs<C>& args, int64_t batch) {
  return batch == 0 ? 0 : *std::max_element(args.lengths, args.lengths + batch);
}

}  // namespace kk
