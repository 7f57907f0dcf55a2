// The gradient of attention as tasks: shared by all ops of attention that have one.
#pragma once

#include "common/cpu/ops.h"
#include "backward.h"

namespace kk {

// Pieces of work at least, where there are as many: few heads then still make work for several threads. They follow from shapes
// alone, and with them the order of sums.
constexpr int64_t kEnoughTasks = 8;

template <class Level, class T>
void RunAttentionGradient(const AttentionGradientArgs<T>& args, T* d_k, T* d_v) {
  const AttentionArgs<T>& forward = args.forward;
  const int64_t width = forward.width, padded = PaddedWidth(width), pairs = forward.batch * forward.groups;
  const int64_t parts = std::clamp<int64_t>((kEnoughTasks + pairs - 1) / pairs, 1, args.units());
  const int64_t size = forward.keys * padded;
  float* const sums = FloatScratch("attention gradients", 2 * pairs * parts * size);
  kp::parallel_for(pairs * parts, 1, [&](int64_t begin, int64_t end) {
    float* const memory = FloatScratch("attention gradient", AttentionGradientScratch(width));
    for (int64_t t = begin; t < end; ++t) {
      const int64_t pair = t / parts;
      AttentionGradientRun<Level, T>(args, {pair / forward.groups, pair % forward.groups, t % parts, parts},
                                     sums + 2 * t * size, sums + (2 * t + 1) * size, memory);
    }
  });
  ForRows(pairs * forward.keys, 2 * parts * width, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const int64_t pair = r / forward.keys, key = r % forward.keys;
      const float* const row = sums + 2 * pair * parts * size + key * padded;
      const int64_t at =
          ((pair / forward.groups * forward.keys + key) * forward.groups + pair % forward.groups) * width;
      AttentionGradientSum<Level, T>(row, parts, 2 * size, d_k + at, width);
      AttentionGradientSum<Level, T>(row + size, parts, 2 * size, d_v + at, width);
    }
  });
}

}  // namespace kk
