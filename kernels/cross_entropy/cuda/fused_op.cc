// fused_linear_cross_entropy and its gradient on CUDA devices.
#include "cross_entropy/contract.h"
#include "common/cuda/call.h"
#include "fused_any.fatbin.h"
#include "fused_losses.fatbin.h"
#include "fused_mma.fatbin.h"
#include "fused_params.h"

namespace kk_cuda {
namespace {

constexpr kp::DeviceCode kMma{
    "fused_mma", "fatbin", {device_code::fused_mma_fatbin, sizeof device_code::fused_mma_fatbin}};
constexpr kp::DeviceCode kAny{
    "fused_any", "fatbin", {device_code::fused_any_fatbin, sizeof device_code::fused_any_fatbin}};
constexpr kp::DeviceCode kLosses{
    "fused_losses", "fatbin", {device_code::fused_losses_fatbin, sizeof device_code::fused_losses_fatbin}};
// A chunk of classes, at most: what fills a GPU with few rows; and so many bytes of slopes, about.
constexpr int64_t kChunkTiles = 256, kSlopesBytes = int64_t{64} << 20;

int64_t Tiles(int64_t n) { return (n + kFusedTile - 1) / kFusedTile; }

kp::DeviceMemory Floats(const kp::Workspace& memory) { return {memory.data(), 0, 4}; }

// The tensors that both passes have, and the kernels for them.
class Problem {
 public:
  Problem(kp::TensorView x, kp::TensorView weight, kp::TensorView targets, int64_t ignore_index, double label_smoothing,
          double z_loss)
      : x_(x), code_(x.itemsize() == 2 && weight.size(1) % 8 == 0 && IsAligned(x) && IsAligned(weight) ? kMma : kAny) {
    kk::CheckCrossEntropyOptions(label_smoothing, z_loss);
    p.rows = ToInt("targets", targets.numel());
    p.width = ToInt("x", weight.size(1));
    p.classes = ToInt("weight", weight.size(0));
    p.wide = targets.itemsize() == 8;
    p.ignored = ignore_index;
    p.smoothing = static_cast<float>(label_smoothing);
    p.z_loss = static_cast<float>(z_loss);
  }

  // A block for each tile.
  template <class... Args>
  void Launch(const char* kernel, int64_t rows, int64_t columns, const Args&... args) const {
    if (rows == 0 || columns == 0) return;
    KP_CHECK(columns <= 65535, ValueError)
        << "weight: expected at most " << 65535 * kFusedTile << " columns on a CUDA device, got " << p.width;
    kp::launch(x_.device(), code_, Named(kernel, x_.dtype()).c_str(),
               {BlockCount(rows), static_cast<uint32_t>(columns)}, {kFusedThreads}, args..., p,
               kp::LocalMemory{kFusedBytes});
  }

  FusedParams p{};

 private:
  kp::TensorView x_;
  const kp::DeviceCode& code_;
};

void FusedLinearCrossEntropy(kp::TensorView x, kp::TensorView weight, kp::TensorView targets, int64_t ignore_index,
                             double label_smoothing, double z_loss, kp::MutTensorView loss, kp::MutTensorView lse) {
  const Problem problem(x, weight, targets, ignore_index, label_smoothing, z_loss);
  if (problem.p.rows == 0) return;
  const int64_t rows = problem.p.rows, stripes = (Tiles(problem.p.classes) + kFusedStripe - 1) / kFusedStripe;
  const kp::Workspace partial(x.device(), "fused stripes", static_cast<uint64_t>(3 * stripes * rows * 4));
  const kp::Workspace of_targets(x.device(), "fused targets", static_cast<uint64_t>(rows * 4));
  problem.Launch("fused_forward", Tiles(rows), stripes, x, weight, targets, Floats(partial), Floats(of_targets));
  kp::launch(x.device(), kLosses, "fused_losses", {BlockCount((rows + 127) / 128)}, {128}, Floats(partial),
             Floats(of_targets), targets, loss, lse, static_cast<int>(stripes), problem.p);
}

// The classes in chunks: the slopes of one are formed, and then all that they give to d_weight, and their share of d_x.
void FusedLinearCrossEntropyBackward(kp::TensorView d_loss, kp::TensorView x, kp::TensorView weight,
                                     kp::TensorView targets, kp::TensorView lse, int64_t ignore_index,
                                     double label_smoothing, double z_loss, kp::MutTensorView d_x,
                                     kp::MutTensorView d_weight) {
  Problem problem(x, weight, targets, ignore_index, label_smoothing, z_loss);
  FusedParams& p = problem.p;
  const int64_t bytes_per_tile = std::max<int64_t>(p.rows, 1) * kFusedTile * x.itemsize();
  const int64_t most = std::min(kChunkTiles, std::max<int64_t>(Tiles(p.classes), 1));
  const int64_t tiles = std::clamp<int64_t>(kSlopesBytes / bytes_per_tile, 1, most);
  const bool whole = tiles * kFusedTile >= p.classes;
  const kp::Workspace slopes(x.device(), "fused slopes", static_cast<uint64_t>(tiles * bytes_per_tile));
  const kp::Workspace sums(x.device(), "fused d_x", whole ? 4 : static_cast<uint64_t>(int64_t{p.rows} * p.width * 4));
  const kp::DeviceMemory of_slopes(slopes.data(), 0, static_cast<uint32_t>(x.itemsize()));
  p.stride = static_cast<int>(tiles * kFusedTile);
  p.fours = p.width % 4 == 0 && IsAligned(d_x) && IsAligned(d_weight);
  for (p.first = 0; p.first == 0 || p.first < p.classes; p.first += p.stride) {  // once without classes: d_x is 0
    p.count = std::min(p.stride, p.classes - p.first);
    p.begins = p.first == 0, p.ends = p.first + p.count == p.classes;
    problem.Launch("fused_slopes", Tiles(p.rows), Tiles(p.count), d_loss, x, weight, targets, lse, of_slopes);
    problem.Launch("fused_d_x", Tiles(p.rows), Tiles(p.width), of_slopes, weight, Floats(sums), d_x);
    problem.Launch("fused_d_weight", Tiles(p.count), Tiles(p.width), of_slopes, x, targets, d_weight);
  }
}

}  // namespace
}  // namespace kk_cuda

KP_EXPORT_FOR("cuda", fused_linear_cross_entropy, kk_cuda::FusedLinearCrossEntropy,
              KK_FUSED_LINEAR_CROSS_ENTROPY_CONTRACT);
KP_EXPORT_FOR("cuda", fused_linear_cross_entropy_backward, kk_cuda::FusedLinearCrossEntropyBackward,
              KK_FUSED_LINEAR_CROSS_ENTROPY_BACKWARD_CONTRACT);
