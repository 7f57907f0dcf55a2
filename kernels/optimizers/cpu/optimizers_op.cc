// adamw, lion, sgd and clip_grad_norm: over lists of tensors, written in place.
#include "optimizers.h"

#include <cmath>
#include <numeric>
#include <vector>

#include "common/cpu/ops.h"
#include "optimizers/contract.h"

namespace kk {
namespace {

constexpr int64_t kRun = 1 << 14;  // numbers that a thread takes at a time

// A part of a tensor of a list.
struct Run {
  size_t item;
  int64_t begin, count;
};

// All numbers of a list, cut by its sizes alone.
template <class List>
std::vector<Run> Runs(const List& tensors) {
  std::vector<Run> runs;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const int64_t size = tensors[i].numel();
    for (int64_t at = 0; at < size; at += kRun) runs.push_back({i, at, std::min(kRun, size - at)});
  }
  return runs;
}

// f(index) for each run, several at a time.
template <class F>
void ForRuns(const std::vector<Run>& runs, F f) {
  kp::parallel_for(static_cast<int64_t>(runs.size()), kElementsPerThread / kRun, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) f(static_cast<size_t>(i));
  });
}

double Number(kp::TensorView x) { return static_cast<double>(*Data<float>(x)); }

// f(Tag<T>, runs) with the type of the parameters; not where there are none.
template <class F>
void ForParams(const MutTensors& params, F f) {
  if (params.empty()) return;
  kp::dispatch<float, kp::half, kp::bfloat16>(
      params[0].dtype(), [&](auto t) { f(Tag<typename Storage<typename decltype(t)::type>::Type>(), Runs(params)); });
}

template <class Level>
void AdamwOp(MutTensors params, Tensors grads, MutTensors means, MutTensors squares, kp::TensorView step,
             kp::TensorView lr, double beta1, double beta2, double eps, double weight_decay) {
  CheckSizes(params, "grads", grads), CheckSizes(params, "exp_avg", means), CheckSizes(params, "exp_avg_sq", squares);
  CheckFraction("beta1", beta1), CheckFraction("beta2", beta2);
  const int32_t count = *Data<int32_t>(step);
  KP_CHECK(count > 0, ValueError) << "step: expected the number of this step, from 1 on, got " << count;
  const double rate = Number(lr);
  const AdamwStep by = {static_cast<float>(beta1),
                        static_cast<float>(beta2),
                        static_cast<float>(eps),
                        static_cast<float>(1 - rate * weight_decay),
                        static_cast<float>(rate / (1 - std::pow(beta1, count))),
                        static_cast<float>(1 / std::sqrt(1 - std::pow(beta2, count)))};
  ForParams(params, [&](auto tag, const std::vector<Run>& runs) {
    using T = typename decltype(tag)::Type;
    ForRuns(runs, [&](size_t i) {
      const Run run = runs[i];
      Adamw<Level, T>(by, Data<T>(params[run.item]) + run.begin, Data<T>(grads[run.item]) + run.begin,
                      Data<float>(means[run.item]) + run.begin, Data<float>(squares[run.item]) + run.begin, run.count);
    });
  });
}

template <class Level>
void LionOp(MutTensors params, Tensors grads, MutTensors means, kp::TensorView lr, double beta1, double beta2,
            double weight_decay) {
  CheckSizes(params, "grads", grads), CheckSizes(params, "exp_avg", means);
  CheckFraction("beta1", beta1), CheckFraction("beta2", beta2);
  const double rate = Number(lr);
  const LionStep by = {static_cast<float>(beta1), static_cast<float>(beta2),
                       static_cast<float>(1 - rate * weight_decay), static_cast<float>(rate)};
  ForParams(params, [&](auto tag, const std::vector<Run>& runs) {
    using T = typename decltype(tag)::Type;
    ForRuns(runs, [&](size_t i) {
      const Run run = runs[i];
      Lion<Level, T>(by, Data<T>(params[run.item]) + run.begin, Data<T>(grads[run.item]) + run.begin,
                     Data<float>(means[run.item]) + run.begin, run.count);
    });
  });
}

template <class Level>
void SgdOp(MutTensors params, Tensors grads, MutTensors momenta, kp::TensorView lr, double momentum,
           double weight_decay, bool nesterov) {
  CheckSizes(params, "grads", grads), CheckSizes(params, "momenta", momenta);
  CheckFraction("momentum", momentum);
  const SgdStep by = {static_cast<float>(momentum), static_cast<float>(weight_decay), static_cast<float>(Number(lr)),
                      nesterov};
  ForParams(params, [&](auto tag, const std::vector<Run>& runs) {
    using T = typename decltype(tag)::Type;
    ForRuns(runs, [&](size_t i) {
      const Run run = runs[i];
      Sgd<Level, T>(by, Data<T>(params[run.item]) + run.begin, Data<T>(grads[run.item]) + run.begin,
                    Data<float>(momenta[run.item]) + run.begin, run.count);
    });
  });
}

template <class Level>
void ClipGradNorm(MutTensors grads, double max_norm, kp::MutTensorView norm) {
  CheckMaxNorm(max_norm);
  *Data<float>(norm) = 0;
  ForParams(grads, [&](auto tag, const std::vector<Run>& runs) {
    using T = typename decltype(tag)::Type;
    std::vector<double> sums(runs.size());
    ForRuns(runs, [&](size_t i) {
      sums[i] = SumOfSquares<Level, T>(Data<T>(grads[runs[i].item]) + runs[i].begin, runs[i].count);
    });
    const double found = std::sqrt(std::accumulate(sums.begin(), sums.end(), 0.0));
    *Data<float>(norm) = static_cast<float>(found);
    const auto factor = static_cast<float>(max_norm / (found + 1e-6));
    if (factor >= 1) return;  // a NaN goes on: gradients that are NaN anyway
    ForRuns(runs,
            [&](size_t i) { Scale<Level, T>(Data<T>(grads[runs[i].item]) + runs[i].begin, factor, runs[i].count); });
  });
}

}  // namespace
}  // namespace kk

KP_DOC(adamw,
       "One step of AdamW on flat tensors (p.view(-1)), in place. Before the first step, exp_avg and "
       "exp_avg_sq are zeros. Steps are counted from 1.");
KK_EXPORT(adamw, kk::AdamwOp, KK_ADAMW_CONTRACT);
KP_DOC(lion, "One step of Lion on flat tensors (p.view(-1)), in place. Before the first step, exp_avg is zeros.");
KK_EXPORT(lion, kk::LionOp, KK_LION_CONTRACT);
KP_DOC(sgd,
       "One step of gradient descent with momentum on flat tensors (p.view(-1)), in place. Before the "
       "first step, momenta are zeros.");
KK_EXPORT(sgd, kk::SgdOp, KK_SGD_CONTRACT);
KP_DOC(clip_grad_norm,
       "The norm of all gradients, taken as one vector. If it exceeds max_norm, the gradients are scaled "
       "to max_norm, in place.");
KK_EXPORT(clip_grad_norm, kk::ClipGradNorm, KK_CLIP_GRAD_NORM_CONTRACT);
