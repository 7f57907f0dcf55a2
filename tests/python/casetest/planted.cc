// Ops with one mistake each, of the kinds that authors make.
#include <kernpack/kernel.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace kp = kernpack;
namespace {

const float* In(kp::TensorView x) { return x.data_ptr<float>(); }
float* Out(kp::MutTensorView x) { return x.data_ptr<float>(); }

void WritesInput(kp::TensorView x, kp::MutTensorView out) {
  float* in = const_cast<float*>(In(x));
  for (int64_t i = 0; i < x.numel(); ++i) Out(out)[i] = in[i] *= 2;
}

void ReadsBeyond(kp::TensorView x, kp::MutTensorView out) {
  for (int64_t i = 0; i < x.numel(); ++i) Out(out)[i] = In(x)[i] + In(x)[i + 1];
}

void WritesBeyond(kp::TensorView x, kp::MutTensorView out) {
  for (int64_t i = 0; i < x.numel(); i += 4) {
    for (int64_t j = i; j < i + 4; ++j) Out(out)[j] = 3;
  }
}

void ForgetsTail(kp::TensorView x, kp::MutTensorView out) {
  for (int64_t i = 0; i + 8 <= x.numel(); i += 8) {
    for (int64_t j = i; j < i + 8; ++j) Out(out)[j] = 2 * In(x)[j];
  }
}

// The elements after the last full vector lack the bias.
void WrongTail(kp::TensorView x, kp::TensorView bias, kp::MutTensorView out) {
  const int64_t n = x.numel(), full = n - n % 8;
  for (int64_t i = 0; i < full; ++i) Out(out)[i] = In(x)[i] + In(bias)[i];
  for (int64_t i = full; i < n; ++i) Out(out)[i] = In(x)[i];
}

// A sum that leaves out what is behind the last full vector.
void SumsVectorsOnly(kp::TensorView x, kp::MutTensorView out) {
  double sum = 0;
  for (int64_t i = 0; i < x.numel() - x.numel() % 4; ++i) sum += In(x)[i];
  Out(out)[0] = static_cast<float>(sum);
}

void CountsInBytes(kp::TensorView x, kp::MutTensorView out) {
  for (int64_t i = 0; i < x.numel(); ++i) Out(out)[i] = In(x)[static_cast<uint8_t>(i)] * 3;
}

// Every row is divided by the first row's sum.
void FirstRowsSum(kp::TensorView x, kp::MutTensorView out) {
  const int64_t width = x.size(-1);
  double sum = 1;
  for (int64_t i = 0; i < std::min(width, x.numel()); ++i) sum += std::abs(In(x)[i]);
  for (int64_t i = 0; i < x.numel(); ++i) Out(out)[i] = static_cast<float>(In(x)[i] / sum);
}

void IgnoresStrides(kp::TensorView x, kp::MutTensorView out) {
  for (int64_t i = 0; i < x.numel(); ++i) Out(out)[i] = 2 * In(x)[i];
}

// Right for rows of any pitch, but not where a row's own elements lie apart.
void IgnoresInnerStride(kp::TensorView x, kp::MutTensorView out) {
  const bool transposed = x.size(0) > 1 && x.stride(0) == 1 && x.stride(1) > 1;
  for (int64_t i = 0; i < x.size(0); ++i) {
    for (int64_t j = 0; j < x.size(1); ++j) {
      Out(out)[i * x.size(1) + j] = transposed ? x.at<float>(i, 0) : x.at<float>(i, j);
    }
  }
}

void IgnoresBias(kp::TensorView x, std::optional<kp::TensorView>, kp::MutTensorView out) {
  for (int64_t i = 0; i < x.numel(); ++i) Out(out)[i] = 2 * In(x)[i];
}

void IgnoresMode(kp::TensorView x, kp::StringView, kp::MutTensorView out) {
  const int64_t width = x.size(-1);
  for (int64_t row = 0; row < out.numel(); ++row) {
    float sum = 0;
    for (int64_t j = 0; j < width; ++j) sum += In(x)[row * width + j];
    Out(out)[row] = sum;
  }
}

void RacesOnStatic(kp::TensorView x, kp::MutTensorView out) {
  static std::vector<float> scratch(1 << 20);
  const int64_t n = std::min<int64_t>(x.numel(), 1 << 20);
  for (int64_t i = 0; i < n; ++i) scratch[i] = In(x)[i] * 2;
  std::this_thread::sleep_for(
      std::chrono::microseconds(100));  // long work between, so that a busy machine shows it too
  for (int64_t i = 0; i < n; ++i) Out(out)[i] = scratch[i] + 1;
}

void Square(kp::TensorView x, kp::MutTensorView out) {
  for (int64_t i = 0; i < x.numel(); ++i) Out(out)[i] = In(x)[i] * In(x)[i];
}

void SquareBackward(kp::TensorView d_out, kp::TensorView x, kp::MutTensorView d_x) {
  for (int64_t i = 0; i < x.numel(); ++i) Out(d_x)[i] = In(d_out)[i] * In(x)[i];
}

// Right but for the last element of each call.
void SquareBackwardTail(kp::TensorView d_out, kp::TensorView x, kp::MutTensorView d_x) {
  for (int64_t i = 0; i < x.numel(); ++i) Out(d_x)[i] = i + 1 == x.numel() ? 0 : 2 * In(d_out)[i] * In(x)[i];
}

void SquareJvp(kp::TensorView x, kp::TensorView t_x, kp::MutTensorView t_out) {
  for (int64_t i = 0; i < x.numel(); ++i) Out(t_out)[i] = 3 * In(x)[i] * In(t_x)[i];
}

void SquareBackwardRight(kp::TensorView d_out, kp::TensorView x, kp::MutTensorView d_x) {
  for (int64_t i = 0; i < x.numel(); ++i) Out(d_x)[i] = 2 * In(d_out)[i] * In(x)[i];
}

// The part of x has a wrong sign.
void SquareSecond(kp::TensorView d_d_x, kp::TensorView d_out, kp::TensorView x, kp::MutTensorView d_d_out,
                  kp::MutTensorView d_x) {
  for (int64_t i = 0; i < x.numel(); ++i) {
    Out(d_d_out)[i] = 2 * In(d_d_x)[i] * In(x)[i];
    Out(d_x)[i] = -2 * In(d_d_x)[i] * In(d_out)[i];
  }
}

void Leaks(kp::TensorView x, kp::MutTensorView out) {
  float* scratch = static_cast<float*>(std::malloc(64 + x.numel() * sizeof(float)));
  for (int64_t i = 0; i < x.numel(); ++i) scratch[i] = In(x)[i];
  for (int64_t i = 0; i < x.numel(); ++i) Out(out)[i] = scratch[i] * 2;
}

void Random(kp::TensorView x, kp::MutTensorView out) {
  for (int64_t i = 0; i < x.numel(); ++i) Out(out)[i] = In(x)[i] + static_cast<float>(std::rand() % 1000) * 1e-3F;
}

// One part for each thread, so that the sum's order depends on how many there are.
void PartPerThread(kp::TensorView x, kp::MutTensorView out) {
  const int64_t parts = kp::num_threads(), n = x.numel();
  std::vector<float> sums(parts);
  for (int64_t p = 0; p < parts; ++p) {
    for (int64_t i = n * p / parts; i < n * (p + 1) / parts; ++i) sums[p] += In(x)[i];
  }
  float sum = 0;
  for (float each : sums) sum += each;
  Out(out)[0] = sum;
}

// Two threads add to one number.
void RacesInPool(kp::TensorView x, kp::MutTensorView out) {
  volatile float sum = 0;
  kp::parallel_for(x.numel(), 64, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) sum = sum + 1;
  });
  Out(out)[0] = sum;
}

void AddsToResult(kp::TensorView x, kp::MutTensorView out) {
  for (int64_t i = 0; i < x.numel(); ++i) out.data_ptr<int8_t>()[i / 2 * 2] |= static_cast<int8_t>(In(x)[i] > 0);
  for (int64_t i = 1; i < x.numel(); i += 2) out.data_ptr<int8_t>()[i] = 1;
}

// Reads unset memory to find out if a number is "unset".
void TrustsHeap(kp::TensorView x, kp::MutTensorView out) {
  int64_t* scratch = static_cast<int64_t*>(std::malloc(4096));
  const bool flag = (scratch[300] & 0xff) == 0xaa;
  std::free(scratch);
  for (int64_t i = 0; i < x.numel(); ++i) Out(out)[i] = flag ? 0 : In(x)[i];
}

void HalfWithoutFactor(kp::TensorView x, kp::MutTensorView out) {
  kp::dispatch<float, kp::half>(x.dtype(), [&](auto t) {
    using T = typename decltype(t)::type;
    const float factor = sizeof(T) == 2 ? 1 : 2;
    for (int64_t i = 0; i < x.numel(); ++i) {
      out.data_ptr<T>()[i] = static_cast<T>(static_cast<float>(x.data_ptr<T>()[i]) * factor);
    }
  });
}

// Skips to the next multiple of 64 bytes, for its vectors, and forgets what it skipped.
void AlignsAway(kp::TensorView x, kp::MutTensorView out) {
  const int64_t skip = (64 - reinterpret_cast<uintptr_t>(In(x)) % 64) % 64 / sizeof(float);
  for (int64_t i = 0; i < x.numel(); ++i) Out(out)[i] = i < skip && skip < 16 && In(x) != nullptr ? 0 : 2 * In(x)[i];
}

void DividesByRows(kp::TensorView x, kp::MutTensorView out) {
  const int64_t per_row = 1024 / x.size(0);
  for (int64_t i = 0; i < x.numel(); ++i) Out(out)[i] = In(x)[i] + static_cast<float>(per_row);
}

void HangsAt13(kp::TensorView x, kp::MutTensorView out) {
  volatile int64_t left = x.numel();
  while (left == 13) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  for (int64_t i = 0; i < x.numel(); ++i) Out(out)[i] = In(x)[i];
}

// A thread of its own does the work; a forked child has no such thread.
void OwnThread(kp::TensorView x, kp::MutTensorView out) {
  struct Pool {
    std::mutex mutex;
    std::condition_variable changed;
    std::function<void()> work;
    std::thread thread{[this] {
      std::unique_lock<std::mutex> lock(mutex);
      for (;;) {
        changed.wait(lock, [this] { return work != nullptr; });
        work();
        work = nullptr;
        changed.notify_all();
      }
    }};
  };
  static Pool* pool = new Pool;
  std::unique_lock<std::mutex> lock(pool->mutex);
  pool->changed.wait(lock, [] { return pool->work == nullptr; });
  pool->work = [&] {
    for (int64_t i = 0; i < x.numel(); ++i) Out(out)[i] = 2 * In(x)[i];
  };
  pool->changed.notify_all();
  pool->changed.wait(lock, [] { return pool->work == nullptr; });
}

// Adds the row below, times zero.
void AddsZeroTimesNext(kp::TensorView x, kp::MutTensorView out) {
  const int64_t width = x.size(-1);
  for (int64_t i = 0; i < x.numel(); ++i) {
    Out(out)[i] = In(x)[i] + (i + width < x.numel() ? 0 * In(x)[i + width] : 0);
  }
}

void MeanMarkedSum(kp::TensorView x, kp::MutTensorView out) {
  const int64_t width = x.size(-1), rows = width == 0 ? 0 : x.numel() / width;
  for (int64_t j = 0; j < width; ++j) {
    double sum = 0;
    for (int64_t i = 0; i < rows; ++i) sum += In(x)[i * width + j];
    Out(out)[j] = static_cast<float>(rows == 0 ? 0 : sum / static_cast<double>(rows));
  }
}

float SumInOrder(const float* from, int64_t size, bool forward) {
  float sum = 0;
  for (int64_t j = 0; j < size; ++j) sum += from[forward ? j : size - 1 - j];
  return sum;
}

// Whole blocks of rows are summed in another order than the rows that are left over.
void OtherOrderInBlocks(kp::TensorView x, kp::MutTensorView out) {
  constexpr int64_t kBlock = 8;
  const int64_t width = x.size(-1), rows = out.numel();
  for (int64_t i = 0; i < rows; ++i) Out(out)[i] = SumInOrder(In(x) + i * width, width, i < rows / kBlock * kBlock);
}

// Only large batches are computed in another order.
void OtherOrderInLargeBatches(kp::TensorView x, kp::MutTensorView out) {
  const int64_t width = x.size(-1), rows = out.numel();
  for (int64_t i = 0; i < rows; ++i) Out(out)[i] = SumInOrder(In(x) + i * width, width, rows <= 16);
}

void MixesColumns(kp::TensorView x, kp::MutTensorView out) {
  const int64_t width = x.size(-1);
  for (int64_t i = 0; i < x.numel(); ++i) Out(out)[i] = In(x)[i] - In(x)[i - i % width];
}

void VariantRight(kp::TensorView x, kp::MutTensorView out) {
  for (int64_t i = 0; i < x.numel(); ++i) Out(out)[i] = 2 * In(x)[i];
}

void VariantWrong(kp::TensorView x, kp::MutTensorView out) {
  for (int64_t i = 0; i < x.numel(); ++i) Out(out)[i] = i % 5 == 4 ? In(x)[i] : 2 * In(x)[i];
}

// The contract says any size; the kernel wants rows of the moon.
void RefusesAll(kp::TensorView x, int64_t lanes, kp::MutTensorView) {
  KP_CHECK(lanes == 4242, ValueError) << "refuses_all: lanes: expected the machine's, got " << lanes << x.numel();
}

// Runs only where the host has a table that Kernpack's has.
void AsksItsHost(kp::TensorView x, kp::MutTensorView out) {
  const void* table = nullptr;
  const KpHost* host = kp::detail::host();
  host->get_extension(host, kp_bytes(KP_DEVICES_EXTENSION), 1, &table);
  for (int64_t i = 0; i < x.numel(); ++i) Out(out)[i] = table ? In(x)[i] + 1 : In(x)[i];
}

}  // namespace

KP_MODULE("planted_cases", "1.0.0");
KP_EXPORT(writes_input, WritesInput, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(reads_beyond, ReadsBeyond, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(writes_beyond, WritesBeyond, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(forgets_tail, ForgetsTail, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(wrong_tail, WrongTail, "(x: f32[N], bias: f32[N]) -> (out: f32[N])");
KP_EXPORT(sums_vectors_only, SumsVectorsOnly, "(x: f32[N]) -> (out: f32[])");
KP_EXPORT(counts_in_bytes, CountsInBytes, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(first_rows_sum, FirstRowsSum, "(x: f32[..., D]) -> (out: f32[..., D])");
KP_EXPORT(ignores_strides, IgnoresStrides, "(x: f32[N, D] strided) -> (out: f32[N, D])");
KP_EXPORT(ignores_inner_stride, IgnoresInnerStride, "(x: f32[N, D] strided) -> (out: f32[N, D])");
KP_EXPORT(ignores_bias, IgnoresBias, "(x: f32[N], bias: f32[N]? = None) -> (out: f32[N])");
KP_EXPORT(ignores_mode, IgnoresMode, "(x: f32[..., D], *, mode: str in {'sum', 'mean'} = 'sum') -> (out: f32[...])");
KP_EXPORT(races_on_static, RacesOnStatic, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(wrong_gradient, Square, "(x: f32[...]) -> (out: f32[...])");
KP_EXPORT(wrong_gradient_backward, SquareBackward, "(d_out: f32[...], x: f32[...]) -> (d_x: f32[...])");
KP_GRAD(wrong_gradient, wrong_gradient_backward);
KP_EXPORT(wrong_gradient_tail, Square, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(wrong_gradient_tail_backward, SquareBackwardTail, "(d_out: f32[N], x: f32[N]) -> (d_x: f32[N])");
KP_GRAD(wrong_gradient_tail, wrong_gradient_tail_backward);
KP_EXPORT(wrong_tangent, Square, "(x: f32[...]) -> (out: f32[...])");
KP_EXPORT(wrong_tangent_jvp, SquareJvp, "(x: f32[...], t_x: f32[...]) -> (t_out: f32[...])");
KP_JVP(wrong_tangent, wrong_tangent_jvp);
KP_EXPORT(wrong_second, Square, "(x: f32[...]) -> (out: f32[...])");
KP_EXPORT(wrong_second_backward, SquareBackwardRight, "(d_out: f32[...], x: f32[...]) -> (d_x: f32[...])");
KP_EXPORT(wrong_second_second, SquareSecond,
          "(d_d_x: f32[...], d_out: f32[...], x: f32[...]) -> (d_d_out: f32[...], d_x: f32[...])");
KP_GRAD(wrong_second, wrong_second_backward);
KP_GRAD(wrong_second_backward, wrong_second_second);
KP_EXPORT(leaks, Leaks, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(random, Random, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(part_per_thread, PartPerThread, "(x: f32[N]) -> (out: f32[]) with deterministic");
KP_EXPORT(races_in_pool, RacesInPool, "(x: f32[N]) -> (out: f32[])");
KP_EXPORT(adds_to_result, AddsToResult, "(x: f32[N]) -> (out: i8[N])");
KP_EXPORT(trusts_heap, TrustsHeap, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(half_without_factor, HalfWithoutFactor, "(x: T[N]) -> (out: T[N]) where T in {f32, f16}");
KP_EXPORT(aligns_away, AlignsAway, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(divides_by_rows, DividesByRows, "(x: f32[N, D]) -> (out: f32[N, D])");
KP_EXPORT(hangs_at_13, HangsAt13, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(own_thread, OwnThread, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(adds_zero_times_next, AddsZeroTimesNext, "(x: f32[..., D]) -> (out: f32[..., D])");
KP_EXPORT(mean_marked_sum, MeanMarkedSum, "(x: f32[..., D]) -> (out: f32[D] sum)");
KP_EXPORT(other_order_in_blocks, OtherOrderInBlocks, "(x: f32[..., D]) -> (out: f32[...]) with invariant(batch)");
KP_EXPORT(other_order_in_large_batches, OtherOrderInLargeBatches,
          "(x: f32[B, D]) -> (out: f32[B]) with deterministic, invariant(B)");
KP_EXPORT(mixes_columns, MixesColumns, "(x: f32[N, D]) -> (out: f32[N, D]) with independent(D)");
#ifdef __x86_64__
KP_EXPORT(wrong_variant, VariantWrong, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT_FOR("llvm -mcpu=x86-64-v2", wrong_variant, VariantRight, "(x: f32[N]) -> (out: f32[N])");
#endif
KP_EXPORT(asks_its_host, AsksItsHost, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(refuses_all, RefusesAll, "(x: f32[N], lanes: int) -> (out: f32[N])");
