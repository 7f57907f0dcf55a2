// Parameters that the host passes to the kernels of fused_linear_cross_entropy by value: read by nvcc and by the host's compiler.
#pragma once

namespace kk_cuda {

constexpr int kFusedTile = 128;  // rows and columns of a product that a block computes
constexpr int kFusedThreads = 256;
constexpr int kFusedStride = kFusedTile + 8;  // of the tile in shared memory: rows begin in other banks
constexpr int kFusedStripe = 8;  // tiles of classes that a block of the forward pass goes through, whatever the batch
constexpr int kFusedBytes = kFusedTile * kFusedStride * 4;  // of shared memory

struct FusedParams {
  int rows, width, classes;
  int wide;  // targets are i64, else i32
  long long ignored;  // the target that doesn't count
  float smoothing, z_loss;
  // Of the gradient, which takes the classes in chunks: its first class, how many, and the slopes' stride, a multiple of kFusedTile.
  int first, count, stride;
  int fours;  // rows of d_x and d_weight can be written four numbers at a time
  int begins, ends;  // whether it is the first chunk, and the last
};

}  // namespace kk_cuda
