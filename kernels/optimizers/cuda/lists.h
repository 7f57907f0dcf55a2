// Lists of flat tensors, some of which a launch takes by value: read by nvcc and by the host's compiler.
#pragma once

namespace kk_cuda {

constexpr int kTensors = 60;  // of a launch: parameters have 4 KiB
constexpr int kLists = 4;     // parameters, gradients, moments
constexpr int kRunThreads = 256;
constexpr int kRun = 16 * kRunThreads;  // numbers that a block takes

// Tensors `i` of the lists have count[i] numbers each. Their blocks are those from first_block[i] on.
struct ListPart {
  void* at[kLists][kTensors];
  long long count[kTensors];
  unsigned first_block[kTensors + 1];
  int tensors;
  unsigned long long aligned;  // bit i: four numbers of each tensor `i` can be read at once
};

struct AdamwParams {
  double log_beta1, log_beta2;
  float beta1, beta2, eps, weight_decay;
};

struct LionParams {
  float beta1, beta2, weight_decay;
};

struct SgdParams {
  float momentum, decay;
  int nesterov;
};

}  // namespace kk_cuda
