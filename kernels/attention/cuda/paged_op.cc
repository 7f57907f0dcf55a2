// paged_attention on CUDA devices. The device alone knows lengths and tables: an item whose length or pages aren't valid reads nothing
// outside the cache, and gives NaN.
#include "attention/contract.h"

#include "call.h"
#include "paged.fatbin.h"
#include "paged_mma.fatbin.h"

namespace kk_cuda {
namespace {

constexpr kp::DeviceCode kCode{"paged", "fatbin", {device_code::paged_fatbin, sizeof device_code::paged_fatbin}};
constexpr kp::DeviceCode kMmaCode{
    "paged_mma", "fatbin", {device_code::paged_mma_fatbin, sizeof device_code::paged_mma_fatbin}};
constexpr int64_t kBlockRows = 4, kMmaRows = 16, kMmaKeys = 4 * 32;  // of a block

const char* CacheName(kp::DType dtype) { return dtype == kp::dtype_of<int8_t> ? "i8" : GetName(dtype); }

bool HasVectors(kp::TensorView cache) {
  const int64_t bytes = std::min<int64_t>(16, 8 * cache.itemsize());
  return HasChunks(cache, bytes) && cache.size(3) % 8 == 0;
}

void CheckScales(const char* name, kp::TensorView cache, bool has_scales) {
  const bool is_bytes = cache.dtype() == kp::dtype_of<int8_t>;
  KP_CHECK(is_bytes == has_scales, ValueError)
      << name << ": expected "
      << (is_bytes ? "the scales of a cache of i8, got none" : "none beside a cache that isn't i8");
}

void PagedAttention(kp::TensorView q, kp::TensorView k_cache, kp::TensorView v_cache, kp::TensorView block_table,
                    kp::TensorView lengths, std::optional<kp::TensorView> k_scales,
                    std::optional<kp::TensorView> v_scales, std::optional<kp::TensorView> sinks,
                    std::optional<double> scale, int64_t window, double soft_cap, kp::MutTensorView out) {
  CheckScales("k_scales", k_cache, k_scales.has_value()), CheckScales("v_scales", v_cache, v_scales.has_value());
  PagedParams p{};
  p.q = GetStrides(q), p.k = GetStrides(k_cache), p.v = GetStrides(v_cache);
  SetScores(scale, q.size(3), soft_cap, &p.factor, &p.cap);
  p.width = GetWidth(q);
  if (out.numel() == 0) return;
  p.queries = ToInt("q", q.size(1)), p.groups = ToInt("k_cache", k_cache.size(2));
  p.shared = static_cast<int>(q.size(2) / k_cache.size(2));
  p.pages = ToInt("k_cache", k_cache.size(0)), p.page = ToInt("k_cache", k_cache.size(1));
  p.table_size = ToInt("block_table", block_table.size(1));
  const int64_t most = block_table.size(1) * k_cache.size(1), rows = q.size(1) * p.shared;
  ToInt("the rows of the pages of an item", most), ToInt("queries times the heads that share a key", rows);
  p.window = static_cast<int>(std::min<int64_t>(window, std::max<int64_t>(most, 1)));
  p.kind = GetElementKind(q.dtype());
  p.vectors = HasVectors(k_cache) && HasVectors(v_cache);
  const bool mma = q.dtype() != kp::dtype_of<float> && q.dtype() == k_cache.dtype() && p.vectors && p.width <= 128 &&
                   HasChunks(q, 16);
  const int64_t block_rows = mma ? kMmaRows : kBlockRows;
  const int64_t blocks = (rows + block_rows - 1) / block_rows * p.groups * q.size(0);
  p.parts = static_cast<int>((most + kPartKeys - 1) / kPartKeys);

  const int64_t out_rows = out.numel() / p.width;
  const kp::Workspace partial(q.device(), "paged_attention",
                              static_cast<uint64_t>(out_rows * p.parts * (p.width + 2) * 4));
  const kp::DeviceMemory memory(partial.data(), 0, 4);
  const int64_t width = p.width <= 32 ? 32 : p.width <= 64 ? 64 : p.width <= 128 ? 128 : 256;
  const std::string name = "paged_" + std::string(CacheName(k_cache.dtype())) + "_" + std::to_string(width);
  if (mma) {
    const int64_t tiles = (kMmaRows + 2 * kMmaKeys) * width * q.itemsize(), sums = 4 * kMmaRows * (width + 2) * 4;
    kp::launch(q.device(), kMmaCode, ("paged_mma_" + name.substr(6)).c_str(), {BlockCount(blocks * p.parts)}, {128}, q,
               k_cache, v_cache, block_table, lengths, memory, p,
               kp::LocalMemory{static_cast<uint32_t>(std::max(tiles, sums))});
  } else {
    kp::launch(q.device(), kCode, name.c_str(), {BlockCount(blocks * p.parts)}, {128}, q, k_cache, v_cache, block_table,
               lengths, GetMemory(k_scales), GetMemory(v_scales), memory, p);
  }
  kp::launch(q.device(), kCode, "paged_join", {BlockCount(out_rows)}, {128}, memory, lengths, GetMemory(sinks), out, p);
}

}  // namespace
}  // namespace kk_cuda

KP_EXPORT_FOR("cuda", paged_attention, kk_cuda::PagedAttention, KK_PAGED_ATTENTION_CONTRACT);
