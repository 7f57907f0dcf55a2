// Steps of optimizers on a run of numbers: plain pointers, compiled once per CPU level.
#pragma once

#include "common/cpu/types.h"

namespace kk {

// X(type): what parameters may be. Moments are f32: beside bf16 ones small steps would be lost.
#define KK_OPTIMIZER_TYPES(X) X(float) X(Bf16) X(F16)

struct AdamwStep {
  float beta1, beta2, eps;
  float keep;  // what weight decay leaves of a parameter
  float rate;  // the learning rate, corrected for the bias of the first moment
  float root_correction;  // 1 / sqrt(1 - beta2^step)
};

struct LionStep {
  float beta1, beta2, keep, rate;
};

struct SgdStep {
  float momentum, decay, rate;
  bool nesterov;
};

template <class Level, class T>
void Adamw(const AdamwStep& step, T* param, const T* grad, float* mean, float* square, int64_t count);
template <class Level, class T>
void Lion(const LionStep& step, T* param, const T* grad, float* mean, int64_t count);
template <class Level, class T>
void Sgd(const SgdStep& step, T* param, const T* grad, float* momentum, int64_t count);

template <class Level, class T>
double SumOfSquares(const T* x, int64_t count);
template <class Level, class T>
void Scale(T* x, float factor, int64_t count);

}  // namespace kk
