// argmax, sample, topk and its gradient, and apply_repetition_penalty on CUDA devices.
#include "sampling/contract.h"
#include "common/cuda/call.h"
#include "common/cuda/choice.h"
#include "params.h"
#include "sample.fatbin.h"
#include "sample_rejection.fatbin.h"
#include "topk.fatbin.h"

namespace kk_cuda {
namespace {

constexpr kp::DeviceCode kSample{"sample", "fatbin", {device_code::sample_fatbin, sizeof device_code::sample_fatbin}};
constexpr kp::DeviceCode kRejection{
    "sample_rejection", "fatbin", {device_code::sample_rejection_fatbin, sizeof device_code::sample_rejection_fatbin}};
constexpr kp::DeviceCode kTopk{"topk", "fatbin", {device_code::topk_fatbin, sizeof device_code::topk_fatbin}};
constexpr kp::Extent3 kBlock{kLogitThreads};
constexpr int kSharedPlaces = 2048;

int WidthOfRows(kp::TensorView x) { return static_cast<int>(x.size(-1)); }
uint32_t RowBlocks(kp::TensorView x) { return BlockCount(x.numel() / std::max<int64_t>(x.size(-1), 1)); }

void Argmax(kp::TensorView x, kp::MutTensorView index) {
  kp::launch(x.device(), kSample, Named("argmax", x.dtype()).c_str(), {RowBlocks(x)}, kBlock, x, index, WidthOfRows(x));
}

void Sample(kp::TensorView logits, int64_t seed, int64_t step, double temperature, int64_t top_k, double top_p,
            double min_p, kp::MutTensorView token) {
  kk::CheckSampleOptions(temperature, top_p, min_p);
  constexpr double kMost = std::numeric_limits<float>::max();
  const int width = WidthOfRows(logits);
  const SampleParams p = {width,
                          static_cast<int>(std::min<int64_t>(top_k, width)),
                          seed,
                          step,
                          temperature == 0 ? 0 : static_cast<float>(std::min(1 / temperature, kMost)),
                          top_p,
                          std::log(min_p) * temperature};
  const bool rejects = Chooses("sample", "KERNPACK_CUDA_SAMPLE", "rejection", "selection");
  kp::launch(logits.device(), rejects ? kRejection : kSample,
             Named(rejects ? "sample_rejection" : "sample", logits.dtype()).c_str(), {RowBlocks(logits)}, kBlock,
             logits, token, p);
}

void Topk(kp::TensorView x, int64_t k, kp::MutTensorView values, kp::MutTensorView indices) {
  TopkParams p = {WidthOfRows(x), ToInt("k", k), 1, 0};
  KP_CHECK(k <= 1 << 30, ValueError) << "k: expected at most 2^30 on a CUDA device, got " << k;
  while (p.held < p.k) p.held *= 2;
  p.shared = p.held <= kSharedPlaces;
  const uint32_t rows = RowBlocks(x);
  const uint64_t bytes = uint64_t{8} * static_cast<uint64_t>(p.held);
  const kp::Workspace places(x.device(), "topk", p.shared ? 0 : rows * bytes);
  kp::launch(x.device(), kTopk, Named("topk", x.dtype()).c_str(), {rows}, kBlock, x, values, indices,
             kp::DeviceMemory(places.data(), 0, 8), p, kp::LocalMemory{p.shared ? static_cast<uint32_t>(bytes) : 0});
}

void TopkBackward(kp::TensorView d_values, kp::TensorView x, kp::TensorView indices, int64_t k, kp::MutTensorView d_x) {
  const TopkParams p = {WidthOfRows(x), ToInt("k", k), 0, 0};
  kp::launch(x.device(), kTopk, Named("topk_backward", x.dtype()).c_str(), {RowBlocks(x)}, kBlock, d_values, indices,
             d_x, p);
}

void ApplyRepetitionPenalty(kp::MutTensorView logits, kp::TensorView tokens, double penalty) {
  kk::CheckPenalty(penalty);
  if (tokens.numel() == 0 || logits.numel() == 0) return;
  const PenaltyParams p = {ToInt("logits", logits.size(-1)), tokens.itemsize() == 8, tokens.size(-1), penalty};
  const kp::Workspace memory(logits.device(), "repetition penalty",
                             static_cast<uint64_t>(tokens.numel() * logits.itemsize()));
  kp::launch(logits.device(), kTopk, Named("penalize", logits.dtype()).c_str(),
             {BlockCount(tokens.numel() / tokens.size(-1))}, kBlock, logits, tokens,
             kp::DeviceMemory(memory.data(), 0, static_cast<uint32_t>(logits.itemsize())), p);
}

}  // namespace
}  // namespace kk_cuda

KP_EXPORT_FOR("cuda", argmax, kk_cuda::Argmax, KK_ARGMAX_CONTRACT);
KP_EXPORT_FOR("cuda", sample, kk_cuda::Sample, KK_SAMPLE_CONTRACT);
KP_EXPORT_FOR("cuda", topk, kk_cuda::Topk, KK_TOPK_CONTRACT);
KP_EXPORT_FOR("cuda", topk_backward, kk_cuda::TopkBackward, KK_TOPK_BACKWARD_CONTRACT);
KP_EXPORT_FOR("cuda", apply_repetition_penalty, kk_cuda::ApplyRepetitionPenalty, KK_REPETITION_PENALTY_CONTRACT);
