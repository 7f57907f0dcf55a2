// A split reduction: threads add into semaphore-guarded partial sums that live in a workspace zeroed once and kept. Each call
// leaves the workspace as it found it, zero, so no call clears it first.
#include <kernpack/kernel.h>

namespace kp = kernpack;

struct Row {
  double sum;
  int64_t arrived;  // chunks that have added their part; back to 0 by the last one
};

static void RowSum(kp::TensorView x, int64_t splits, kp::MutTensorView out) {
  const int64_t rows = x.size(0), columns = x.size(1);
  const kp::Span<const float, 2> in(x);
  const kp::Span<float> sums(out);
  kp::Workspace workspace(x.device(), "row_sum", static_cast<uint64_t>(rows) * sizeof(Row), kp::zeroed);
  Row* partial = workspace.data_as<Row>();

  kp::parallel_for(rows * splits, 1, [&](int64_t begin, int64_t end) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t row = item / splits, split = item % splits;
      double sum = 0;
      for (int64_t i = columns * split / splits; i < columns * (split + 1) / splits; ++i) sum += in(row, i);
      double seen = partial[row].sum, wanted;
      do {
        wanted = seen + sum;
      } while (!__atomic_compare_exchange(&partial[row].sum, &seen, &wanted, true, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
      if (__atomic_add_fetch(&partial[row].arrived, 1, __ATOMIC_ACQ_REL) < splits) continue;
      sums[row] = static_cast<float>(partial[row].sum);
      partial[row] = Row{0, 0};
    }
  });

  const int64_t calls = kp::storage_get("calls") ? kp::storage_get("calls")->cast<int64_t>() : 0;
  kp::storage_set("calls", calls + 1);
}

static int64_t Calls() {
  const std::optional<kp::Any> calls = kp::storage_get("calls");
  return calls ? calls->cast<int64_t>() : 0;
}

KP_MODULE("keyed_workspace", "1.0.0");
KP_EXPORT(row_sum, RowSum, "(x: f32[R, C], *, splits: int = 4) -> (out: f32[R]) where splits > 0");
KP_EXPORT(calls, Calls);
KP_DOC(row_sum, "Sums each row, `splits` threads a row.");
