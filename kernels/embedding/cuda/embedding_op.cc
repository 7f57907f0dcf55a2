// embedding, its tangent and its gradient on CUDA devices.
#include "embedding/contract.h"
#include "common/cuda/call.h"
#include "embedding.fatbin.h"
#include "embedding_backward.fatbin.h"

namespace kk_cuda {
namespace {

constexpr kp::DeviceCode kEmbedding{
    "embedding", "fatbin", {device_code::embedding_fatbin, sizeof device_code::embedding_fatbin}};
constexpr kp::DeviceCode kBackward{
    "embedding_backward",
    "fatbin",
    {device_code::embedding_backward_fatbin, sizeof device_code::embedding_backward_fatbin}};
constexpr uint32_t kThreads = 128;
constexpr int64_t kColumns = 4 * kThreads;  // as embedding_backward.cu's

// Zeros for the index `left_out`, if that isn't negative.
void LookUp(kp::TensorView table, kp::TensorView indices, int64_t left_out, kp::MutTensorView out) {
  if (out.numel() == 0) return;
  const EmbeddingParams p = {table.size(0), table.size(1) * table.itemsize(), left_out, indices.itemsize() == 8};
  kp::launch(table.device(), kEmbedding, "embedding", {BlockCount(indices.numel())}, {kThreads}, table, indices, out,
             p);
}

void Embedding(kp::TensorView table, kp::TensorView indices, int64_t, kp::MutTensorView out) {
  LookUp(table, indices, -1, out);
}

void EmbeddingBackward(kp::TensorView d_out, kp::TensorView, kp::TensorView indices, int64_t padding_idx,
                       kp::MutTensorView d_table) {
  if (d_table.numel() == 0) return;
  constexpr int64_t kBytes = 16 * kThreads;
  const int64_t bytes = d_table.nbytes();
  kp::launch(d_table.device(), kBackward, "fill_zeros", {BlockCount((bytes + kBytes - 1) / kBytes)}, {kThreads},
             d_table, bytes);
  const EmbeddingBackwardParams p = {d_table.size(0), indices.numel(), d_table.size(1), padding_idx,
                                     indices.itemsize() == 8};
  const uint32_t columns = BlockCount((p.width + kColumns - 1) / kColumns);
  kp::launch(d_table.device(), kBackward, Named("embedding_backward", d_table.dtype()).c_str(),
             {BlockCount(p.count), columns}, {kThreads}, d_out, indices, d_table, p);
}

}  // namespace
}  // namespace kk_cuda

KP_EXPORT_FOR("cuda", embedding, kk_cuda::Embedding, KK_EMBEDDING_CONTRACT);
KP_EXPORT_FOR("cuda", embedding_jvp, kk_cuda::LookUp, KK_EMBEDDING_JVP_CONTRACT);
KP_EXPORT_FOR("cuda", embedding_backward, kk_cuda::EmbeddingBackward, KK_EMBEDDING_BACKWARD_CONTRACT);
