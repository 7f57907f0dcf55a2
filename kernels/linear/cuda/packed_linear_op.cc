// packed_linear and packed_embedding on CUDA devices.
#include "linear/contract.h"
#include "common/cuda/call.h"
#include "common/cuda/choice.h"
#include "common/cuda/tensor_map.h"
#include "packed_embedding.fatbin.h"
#include "packed_linear.fatbin.h"
#include "packed_linear_mma.fatbin.h"
#include "packed_linear_sm90.fatbin.h"
#include "params.h"

#include "linear/packed.h"

namespace kk_cuda {
namespace {

constexpr kp::DeviceCode kLinear{
    "packed_linear", "fatbin", {device_code::packed_linear_fatbin, sizeof device_code::packed_linear_fatbin}};
constexpr kp::DeviceCode kLinearMma{
    "packed_linear_mma",
    "fatbin",
    {device_code::packed_linear_mma_fatbin, sizeof device_code::packed_linear_mma_fatbin}};
constexpr kp::DeviceCode kLinearSm90{
    "packed_linear_sm90",
    "fatbin",
    {device_code::packed_linear_sm90_fatbin, sizeof device_code::packed_linear_sm90_fatbin}};
constexpr kp::DeviceCode kEmbedding{
    "packed_embedding", "fatbin", {device_code::packed_embedding_fatbin, sizeof device_code::packed_embedding_fatbin}};

PackedParams MakeParams(kp::TensorView weight, int64_t columns) { return {weight.size(0), weight.nbytes(), columns}; }

void CheckIntegers(kp::TensorView weight, const char* instead) {
  KP_CHECK(weight.dtype() == kp::dtype_of<uint8_t>, ValueError)
      << "weight: expected a weight of integers (u8) on a CUDA device, got one of pack_linear: " << instead;
}

// Of `most` rows of x each, which are the blocks' second dimension.
uint32_t CountBands(int64_t rows, int most) {
  const uint32_t bands = BlockCount((rows + most - 1) / most);
  KP_CHECK(bands <= 65535, ValueError) << "x: expected at most " << 65535 * most << " rows on a CUDA device, got "
                                       << rows;
  return bands;
}

bool ChoosesLinearSm90() { return Chooses("packed_linear", "KERNPACK_CUDA_PACKED_LINEAR", "wgmma", "mma"); }

// Of 32 rows of x, the other kernel reads the weight once. The accelerator copies the weight by 16 bytes.
bool TakesLinearSm90(kp::TensorView x, kp::TensorView weight, int64_t rows) {
  return x.itemsize() == 2 && rows > 32 && x.size(-1) >= kk::kBlockColumns && IsAligned(x) && IsAligned(weight) &&
         kp::device_arch(x.device()) == "sm_90";
}

// With fewer rows of x at a time, blocks share the weight with others, but there are more of them: about one for each multiprocessor. A
// result has the same bits with both.
void RunLinearSm90(kp::TensorView x, kp::TensorView weight, const std::optional<kp::TensorView>& bias,
                   const std::optional<kp::TensorView>& residual, kp::MutTensorView out, const PackedLinearParams& p) {
  constexpr int64_t kOfWeight = kk::kGroupRows * kLinearSm90Groups, kEnough = 128;
  const int64_t along = (p.weight.weight_rows + kOfWeight - 1) / kOfWeight;
  const int most = along * ((p.rows + 127) / 128) >= kEnough ? 128 : 64;
  const uint32_t bands = CountBands(p.rows, most);
  const std::string name = "packed_linear_sm90_" + std::to_string(most);
  const KpTensorMap map = GetMap("x", x, {x.size(-1), p.rows, 1, 1}, {x.size(-1), 0, 0}, static_cast<uint32_t>(most));
  kp::launch(x.device(), kLinearSm90, Named(name, x.dtype()).c_str(), {BlockCount(along), bands}, {kLinearSm90Threads},
             map, weight, GetMemory(bias), GetMemory(residual), out, p,
             kp::LocalMemory{static_cast<uint32_t>(LinearSm90Bytes(most))});
}

void PackedLinear(kp::TensorView x, kp::TensorView weight, std::optional<kp::TensorView> bias,
                  std::optional<kp::TensorView> residual, kp::StringView /*compute*/, kp::StringView activation,
                  kp::MutTensorView out) {
  CheckIntegers(weight, "multiply with the weight itself, by the framework's own linear layer");
  if (out.numel() == 0) return;
  const int64_t rows = out.numel() / weight.size(0);
  const PackedLinearParams p = {MakeParams(weight, x.size(-1)), rows, kk::ParseActivation(activation)};
  if (ChoosesLinearSm90() && TakesLinearSm90(x, weight, rows)) return RunLinearSm90(x, weight, bias, residual, out, p);
  const bool mma = x.itemsize() == 2 && IsAligned(x);
  const int most = !mma ? kLinearRows : rows <= 8 ? 8 : rows <= 16 ? 16 : 32;  // rows of x that a block multiplies
  const int64_t of_weight = 16 * (mma ? LinearGroups(most) : 1);
  const uint32_t bands = CountBands(rows, most);
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
