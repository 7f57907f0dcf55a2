// adamw, lion, sgd and clip_grad_norm on CUDA devices.
#include "common/cuda/call.h"
#include "optimizers/contract.h"
#include "lists.h"
#include "norm.fatbin.h"
#include "steps.fatbin.h"

namespace kk_cuda {
namespace {

constexpr kp::DeviceCode kSteps{
    "optimizer_steps", "fatbin", {device_code::steps_fatbin, sizeof device_code::steps_fatbin}};
constexpr kp::DeviceCode kNorm{"grad_norm", "fatbin", {device_code::norm_fatbin, sizeof device_code::norm_fatbin}};
constexpr kp::Extent3 kBlock{kRunThreads};

int64_t CountRuns(kp::TensorView x) { return (x.numel() + kRun - 1) / kRun; }

// Of the first list's tensors.
int64_t CountRuns(const kk::MutTensors& list) {
  int64_t runs = 0;
  for (kp::MutTensorView each : list) runs += CountRuns(each);
  return runs;
}

template <class List>
void Add(ListPart* part, size_t tensor, int* which, const List& list) {
  part->at[(*which)++][part->tensors] = const_cast<void*>(static_cast<const void*>(list[tensor].data_ptr()));
  const auto place = reinterpret_cast<uintptr_t>(list[tensor].data_ptr());
  if (place % (4 * list[tensor].itemsize()) != 0) part->aligned &= ~(1ull << part->tensors);
}

// launch(part, blocks) for all tensors of the lists, kTensors at a time.
template <class Launch, class... Lists>
void ForParts(const Launch& launch, const kk::MutTensors& first, const Lists&... more) {
  size_t tensor = 0;
  while (tensor < first.size()) {
    ListPart part{};
    part.aligned = ~0ull;
    int64_t blocks = 0;
    for (; tensor < first.size() && part.tensors < kTensors; ++tensor) {
      const int64_t runs = CountRuns(first[tensor]);
      if (runs == 0) continue;
      if (blocks > 0 && blocks + runs > std::numeric_limits<int>::max()) break;
      int which = 0;
      Add(&part, tensor, &which, first);
      (Add(&part, tensor, &which, more), ...);
      part.count[part.tensors] = first[tensor].numel();
      part.first_block[part.tensors++] = static_cast<unsigned>(blocks);
      blocks += runs;
    }
    if (part.tensors > 0) launch(part, BlockCount(blocks));
  }
}

void Adamw(kk::MutTensors params, kk::Tensors grads, kk::MutTensors means, kk::MutTensors squares, kp::TensorView step,
           kp::TensorView lr, double beta1, double beta2, double eps, double weight_decay) {
  kk::CheckSizes(params, "grads", grads), kk::CheckSizes(params, "exp_avg", means);
  kk::CheckSizes(params, "exp_avg_sq", squares);
  kk::CheckFraction("beta1", beta1), kk::CheckFraction("beta2", beta2);
  const AdamwParams p = {std::log(beta1),           std::log(beta2),         static_cast<float>(beta1),
                         static_cast<float>(beta2), static_cast<float>(eps), static_cast<float>(weight_decay)};
  ForParts(
      [&](const ListPart& part, uint32_t blocks) {
        kp::launch(lr.device(), kSteps, Named("adamw", params[0].dtype()).c_str(), {blocks}, kBlock, part, step, lr, p);
      },
      params, grads, means, squares);
}

void Lion(kk::MutTensors params, kk::Tensors grads, kk::MutTensors means, kp::TensorView lr, double beta1, double beta2,
          double weight_decay) {
  kk::CheckSizes(params, "grads", grads), kk::CheckSizes(params, "exp_avg", means);
  kk::CheckFraction("beta1", beta1), kk::CheckFraction("beta2", beta2);
  const LionParams p = {static_cast<float>(beta1), static_cast<float>(beta2), static_cast<float>(weight_decay)};
  ForParts(
      [&](const ListPart& part, uint32_t blocks) {
        kp::launch(lr.device(), kSteps, Named("lion", params[0].dtype()).c_str(), {blocks}, kBlock, part, lr, p);
      },
      params, grads, means);
}

void Sgd(kk::MutTensors params, kk::Tensors grads, kk::MutTensors momenta, kp::TensorView lr, double momentum,
         double weight_decay, bool nesterov) {
  kk::CheckSizes(params, "grads", grads), kk::CheckSizes(params, "momenta", momenta);
  kk::CheckFraction("momentum", momentum);
  const SgdParams p = {static_cast<float>(momentum), static_cast<float>(weight_decay), nesterov};
  ForParts(
      [&](const ListPart& part, uint32_t blocks) {
        kp::launch(lr.device(), kSteps, Named("sgd", params[0].dtype()).c_str(), {blocks}, kBlock, part, lr, p);
      },
      params, grads, momenta);
}

void ClipGradNorm(kk::MutTensors grads, double max_norm, kp::MutTensorView norm) {
  kk::CheckMaxNorm(max_norm);
  const kp::Device device = norm.device();
  const int64_t runs = CountRuns(grads);
  const kp::Workspace sums(device, "sums of squares", static_cast<uint64_t>(4 * runs));
  int64_t done = 0;
  ForParts(
      [&](const ListPart& part, uint32_t blocks) {
        kp::launch(device, kNorm, Named("sum_of_squares", grads[0].dtype()).c_str(), {blocks}, kBlock, part,
                   kp::DeviceMemory(sums.data(), static_cast<uint64_t>(4 * done), 4));
        done += blocks;
      },
      grads);
  kp::launch(device, kNorm, "norm_of_sums", {1}, kBlock, kp::DeviceMemory(sums.data(), 0, 4), runs, norm);
  ForParts(
      [&](const ListPart& part, uint32_t blocks) {
        kp::launch(device, kNorm, Named("scale", grads[0].dtype()).c_str(), {blocks}, kBlock, part, norm,
                   static_cast<float>(max_norm));
      },
      grads);
}

}  // namespace
}  // namespace kk_cuda

KP_EXPORT_FOR("cuda", adamw, kk_cuda::Adamw, KK_ADAMW_CONTRACT);
KP_EXPORT_FOR("cuda", lion, kk_cuda::Lion, KK_LION_CONTRACT);
KP_EXPORT_FOR("cuda", sgd, kk_cuda::Sgd, KK_SGD_CONTRACT);
KP_EXPORT_FOR("cuda", clip_grad_norm, kk_cuda::ClipGradNorm, KK_CLIP_GRAD_NORM_CONTRACT);
