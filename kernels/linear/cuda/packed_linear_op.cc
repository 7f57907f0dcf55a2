// packed_linear and packed_embedding on CUDA devices.
#include "linear/contract.h"
#include "common/cuda/call.h"
#include "packed_embedding.fatbin.h"
#include "packed_linear.fatbin.h"
#include "packed_linear_mma.fatbin.h"
#include "params.h"

namespace kk_cuda {
namespace {

constexpr kp::DeviceCode kLinear{
    "packed_linear", "fatbin", {device_code::packed_linear_fatbin, sizeof device_code::packed_linear_fatbin}};
constexpr kp::DeviceCode kLinearMma{
    "packed_linear_mma",
    "fatbin",
    {device_code::packed_linear_mma_fatbin, sizeof device_code::packed_linear_mma_fatbin}};
constexpr kp::DeviceCode kEmbedding{
    "packed_embedding", "fatbin", {device_code::packed_embedding_fatbin, sizeof device_code::packed_embedding_fatbin}};

PackedParams MakeParams(kp::TensorView weight, int64_t columns) { return {weight.size(0), weight.nbytes(), columns}; }

void CheckIntegers(kp::TensorView weight, const char* instead) {
  KP_CHECK(weight.dtype() == kp::dtype_of<uint8_t>, ValueError)
      << "weight: expected a weight of integers (u8) on a CUDA device, got one of pack_linear: " << instead;
}

void PackedLinear(kp::TensorView x, kp::TensorView weight, std::optional<kp::TensorView> bias,
                  std::optional<kp::TensorView> residual, kp::StringView /*compute*/, kp::StringView activation,
                  kp::MutTensorView out) {
  CheckIntegers(weight, "multiply with the weight itself, by the framework's own linear layer");
  if (out.numel() == 0) return;
  const int64_t rows = out.numel() / weight.size(0);
  const PackedLinearParams p = {MakeParams(weight, x.size(-1)), rows, kk::ParseActivation(activation)};
  const bool mma = x.itemsize() == 2 && IsAligned(x);
  const int most = !mma ? kLinearRows : rows <= 8 ? 8 : rows <= 16 ? 16 : 32;  // rows of x that a block multiplies
  const int64_t of_weight = 16 * (mma ? LinearGroups(most) : 1);
  const uint32_t bands = BlockCount((rows + most - 1) / most);
  KP_CHECK(bands <= 65535, ValueError) << "x: expected at most " << 65535 * most << " rows on a CUDA device, got "
                                       << rows;
  const std::string kernel = mma ? "packed_linear_mma_" + std::to_string(most) : "packed_linear";
  kp::launch(x.device(), mma ? kLinearMma : kLinear, Named(kernel, x.dtype()).c_str(),
             {BlockCount((weight.size(0) + of_weight - 1) / of_weight), bands}, {kLinearThreads}, x, weight,
             GetMemory(bias), GetMemory(residual), out, p);
}

void PackedEmbedding(kp::TensorView weight, kp::TensorView indices, int64_t columns, kp::MutTensorView out) {
  CheckIntegers(weight, "take rows of the weight itself, by embedding");
  const PackedEmbeddingParams p = {MakeParams(weight, columns), indices.itemsize() == 8};
  kp::launch(weight.device(), kEmbedding, "packed_embedding", {BlockCount(indices.numel())}, {128}, weight, indices,
             out, p);
}

}  // namespace
}  // namespace kk_cuda

KP_EXPORT_FOR("cuda", packed_linear, kk_cuda::PackedLinear, KK_PACKED_LINEAR_CONTRACT);
KP_EXPORT_FOR("cuda", packed_embedding, kk_cuda::PackedEmbedding, KK_PACKED_EMBEDDING_CONTRACT);
