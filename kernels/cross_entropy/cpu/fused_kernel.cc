// Cross-entropy fused with the product that makes its logits: 120 classes beside 64 tokens at a time. A row per class, so that what
// a token has one of is a lane, and weights are read as they lie.
#include "fused.h"

#include <algorithm>

#include "common/cpu/math.h"
#include "fused_products.h"

namespace kk {
namespace {

template <class T>
int64_t CountTokens(const FusedArgs<T>& args, int64_t block) {
  return std::min(kT, args.tokens - block * kT);
}

// f(token of the block, its logit) for the targets among the classes [first, first + count).
template <class T, class F>
void ForTargets(const FusedArgs<T>& args, int64_t block, int64_t first, int64_t count, float* logits, F f) {
  for (int64_t i = 0; i < CountTokens(args, block); ++i) {
    const int64_t row = args.targets[block * kT + i] - first;
    if (row >= 0 && row < count) f(block * kT + i, logits[row * kT + i]);
  }
}

// The lanes of one vector of tokens, after `count` more classes.
void Update(const float* logits, int64_t count, bool sums, float* largest, float* total, float* sum) {
  const VF before = Pack<float>::Load(largest);
  VF now = before, added = {}, all = {};
  for (int64_t j = 0; j < count; ++j) now = Max(Pack<float>::Load(logits + j * kT), now);
  const VF lowest = Splat(-__builtin_inff()), origin = now == lowest ? VF{} : now;
  for (int64_t j = 0; j < count; ++j) added += Exp(Pack<float>::Load(logits + j * kT) - origin);
  if (sums) {
    for (int64_t j = 0; j < count; ++j) all += Pack<float>::Load(logits + j * kT);
    Pack<float>::Store(sum, Pack<float>::Load(sum) + all);
  }
  Pack<float>::Store(largest, now);
  Pack<float>::Store(total, Pack<float>::Load(total) * Exp(before - origin) + added);
}

}  // namespace

template <class Level, class T>
void FusedPack(const T* x, const int64_t* index, int64_t count, int64_t width, float* rows, float* columns) {
  FusedProducts<T>::PackBlock(x, index, count, width, rows, columns);
}

template <class Level, class T>
void FusedForward(const FusedArgs<T>& args, int64_t first, int64_t last, const FusedState& state, float* targets,
                  float* scratch) {
  float* const logits = scratch;
  FusedProducts<T> products(args.width, logits + kFusedClasses * kT);
  std::fill(state.largest, state.largest + args.blocks() * kT, -__builtin_inff());
  std::fill(state.total, state.total + args.blocks() * kT, 0.0f);
  std::fill(state.sum, state.sum + args.blocks() * kT, 0.0f);
  for (int64_t c = first; c < last; c += kFusedClasses) {
    const int64_t count = std::min(kFusedClasses, last - c);
    products.SetClasses(args.weight + c * args.width, count, false);
    for (int64_t block = 0; block < args.blocks(); ++block) {
      products.Logits(args.columns + block * args.block_size(), logits);
      for (int64_t i = 0; i < kT; i += kLanes) {
        const int64_t at = block * kT + i;
        Update(logits + i, count, args.options.smoothing > 0, state.largest + at, state.total + at, state.sum + at);
      }
      ForTargets(args, block, c, count, logits, [&](int64_t token, float logit) { targets[token] = logit; });
    }
  }
}

template <class Level, class T>
void FusedBackward(const FusedArgs<T>& args, int64_t first, int64_t last, const FusedSlopes& slopes, float* d_x,
                   T* d_weight, float* scratch) {
  const int64_t width = args.width, padded = PaddedWidth(width);
  float *logits = scratch, *sums = logits + kFusedClasses * kT, *memory = sums + kFusedClasses * padded;
  FusedProducts<T> products(width, memory);
  std::fill(d_x, d_x + args.blocks() * args.block_size(), 0.0f);
  for (int64_t c = first; c < last; c += kFusedClasses) {
    const int64_t count = std::min(kFusedClasses, last - c);
    products.SetClasses(args.weight + c * width, count, true);
    for (int64_t block = 0; block < args.blocks(); ++block) {
      const int64_t at = block * args.block_size();
      products.Logits(args.columns + at, logits);
      for (int64_t i = 0; i < kT; i += kLanes) {
        const auto of = [&](const float* slope) { return Pack<float>::Load(slope + block * kT + i); };
        const VF lse = of(slopes.lse), weight = of(slopes.weight), all = of(slopes.all);
        for (int64_t j = 0; j < count; ++j) {
          float* at = logits + j * kT + i;
          Pack<float>::Store(at, weight * Exp(Pack<float>::Load(at) - lse) - all);
        }
      }
      ForTargets(args, block, c, count, logits, [&](int64_t token, float& slope) { slope -= slopes.target[token]; });
      products.Add(logits, args.rows + at, CountTokens(args, block), block > 0, sums, d_x + at);
    }
    for (int64_t j = 0; j < count; ++j) {
      ForRow<T>(width, [&](int64_t d, auto extent) {
        Put(d_weight + (c + j) * width + d, extent, Get(sums + j * padded + d, extent));
      });
    }
  }
}

template <class Level, class T>
void FusedUnpack(const float* parts_of_block, int64_t parts, int64_t stride, const int64_t* index, int64_t count,
                 int64_t width, T* d_x) {
  for (int64_t i = 0; i < count; ++i) {
    const float* from = parts_of_block + i * PaddedWidth(width);
    ForRow<T>(width, [&](int64_t d, auto extent) {
      VF sum = {};
      for (int64_t p = 0; p < parts; ++p) sum += Get(from + p * stride + d, extent);
      Put(d_x + index[i] * width + d, extent, sum);
    });
  }
}

#define KK_INSTANTIATE(T)                                                                                              \
  template void FusedPack<KP_VARIANT, T>(const T*, const int64_t*, int64_t, int64_t, float*, float*);                  \
  template void FusedForward<KP_VARIANT, T>(const FusedArgs<T>&, int64_t, int64_t, const FusedState&, float*, float*); \
  template void FusedBackward<KP_VARIANT, T>(const FusedArgs<T>&, int64_t, int64_t, const FusedSlopes&, float*, T*,    \
                                             float*);                                                                  \
  template void FusedUnpack<KP_VARIANT, T>(const float*, int64_t, int64_t, const int64_t*, int64_t, int64_t, T*);
#if defined(__AVX512BF16__)
KK_INSTANTIATE(Bf16)
#else
KK_CROSS_ENTROPY_TYPES(KK_INSTANTIATE)
#endif

}  // namespace kk
