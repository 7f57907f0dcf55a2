// softmax and embedding on CUDA devices.
#include "../../../src/ops/embedding_contract.h"
#include "../../../src/ops/softmax_contract.h"
#include "call.h"
#include "embedding.fatbin.h"
#include "softmax.fatbin.h"

namespace kk_cuda {
namespace {

constexpr kp::DeviceCode kSoftmax{
    "softmax", "fatbin", {device_code::softmax_fatbin, sizeof device_code::softmax_fatbin}};
constexpr kp::DeviceCode kEmbedding{
    "embedding", "fatbin", {device_code::embedding_fatbin, sizeof device_code::embedding_fatbin}};
constexpr uint32_t kThreads = 128;

SoftmaxParams ParamsOf(kp::TensorView x, const std::optional<kp::TensorView>& mask) {
  SoftmaxParams p{};
  p.width = ToInt("x", x.size(-1));
  if (!mask) return p;
  CheckDims("x", x);
  p.mask = BroadcastOf(x.sizes(), 1, *mask);
  p.kind = mask->dtype() == kp::bool_ ? kKept : kAdded;
  if (p.kind == kAdded) p.added = KindOf(mask->dtype());
  return p;
}

void Softmax(kp::TensorView x, std::optional<kp::TensorView> mask, kp::MutTensorView probs) {
  if (x.numel() == 0) return;
  kp::launch(x.device(), kSoftmax, Named("softmax", x.dtype()).c_str(), {BlockCount(x.numel() / x.size(-1))},
             {kThreads}, x, MemoryOf(mask), probs, ParamsOf(x, mask));
}

void Embedding(kp::TensorView table, kp::TensorView indices, kp::MutTensorView out) {
  if (out.numel() == 0) return;
  const EmbeddingParams p = {table.size(0), table.size(1) * table.itemsize(), indices.itemsize() == 8};
  kp::launch(table.device(), kEmbedding, "embedding", {BlockCount(indices.numel())}, {kThreads}, table, indices, out,
             p);
}

}  // namespace
}  // namespace kk_cuda

KP_EXPORT_FOR("cuda", softmax, kk_cuda::Softmax, KK_SOFTMAX_CONTRACT);
KP_EXPORT_FOR("cuda", embedding, kk_cuda::Embedding, KK_EMBEDDING_CONTRACT);
