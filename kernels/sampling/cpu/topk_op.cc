// topk and its gradient; apply_repetition_penalty.
#include "common/cpu/values.h"
#include "sampling/contract.h"
#include "row.h"

namespace kk {
namespace {

template <class Level>
void Topk(kp::TensorView x, int64_t k, kp::MutTensorView values, kp::MutTensorView indices) {
  DispatchLogits(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const int64_t width = LastDim(x);
    ForRows(Rows(x), width, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const T* row = Data<T>(x) + r * width;
        int64_t at = r * k;
        for (const Candidate& c : Largest(Row<Level, T>(row, width), k, -INFINITY)) {
          Data<T>(values)[at] = row[c.index];
          Data<int32_t>(indices)[at++] = c.index;
        }
      }
    });
  });
}

void TopkBackward(kp::TensorView d_values, kp::TensorView x, kp::TensorView indices, int64_t k, kp::MutTensorView d_x) {
  Zeros(x, d_x);
  const int64_t width = LastDim(x), rows = Rows(x);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t at = r * k; at < (r + 1) * k; ++at) {
      const int64_t index = Data<int32_t>(indices)[at];
      KP_CHECK(index >= 0 && index < width, IndexError)
          << "indices: expected numbers from 0 to " << width - 1 << ", got " << index << ": pass what topk returned";
    }
  }
  DispatchLogits(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    for (int64_t at = 0; at < rows * k; ++at) {
      Data<T>(d_x)[at / k * width + Data<int32_t>(indices)[at]] = Data<T>(d_values)[at];
    }
  });
}

// Each token once, however often it comes.
template <class T, class I>
void Penalize(T* row, int64_t width, const I* tokens, int64_t count, double penalty) {
  std::vector<bool> seen(static_cast<size_t>(width));
  for (int64_t i = 0; i < count; ++i) {
    if (tokens[i] < 0 || seen[static_cast<size_t>(tokens[i])]) continue;
    seen[static_cast<size_t>(tokens[i])] = true;
    const double value = Load(row[tokens[i]]);
    Store(value < 0 ? value * penalty : value / penalty, row + tokens[i]);
  }
}

void ApplyRepetitionPenalty(kp::MutTensorView logits, kp::TensorView tokens, double penalty) {
  CheckPenalty(penalty);
  const int64_t width = LastDim(logits), count = LastDim(tokens);
  kp::dispatch<int32_t, int64_t>(tokens.dtype(), [&](auto t) {
    using I = typename decltype(t)::type;
    const I* of_rows = Data<I>(tokens);
    for (int64_t i = 0; i < tokens.numel(); ++i) {
      KP_CHECK(of_rows[i] < width, IndexError)
          << "tokens: element " << i << " is " << static_cast<int64_t>(of_rows[i]) << ": expected a number below "
          << width << ", the number of logits, or a negative one as padding";
    }
    DispatchLogits(logits.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::Type;
      ForRows(Rows(logits), count, [&](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end; ++r) {
          Penalize(Data<T>(logits) + r * width, width, of_rows + r * count, count, penalty);
        }
      });
    });
  });
}

}  // namespace
}  // namespace kk

KP_DOC(topk,
       "The k largest elements of each row, the largest first, and where they are. Equal elements are in the order of "
       "the row. A NaN counts as the largest.");
KK_EXPORT(topk, kk::Topk, KK_TOPK_CONTRACT);
KP_EXPORT(topk_backward, kk::TopkBackward, KK_TOPK_BACKWARD_CONTRACT);
KP_GRAD(topk, topk_backward);

KP_DOC(
    apply_repetition_penalty,
    "Changes the logits of tokens that a row has had already, in place: positive logits are divided by the penalty, "
    "negative logits are multiplied by it. A token that comes several times counts once; a negative token is padding.");
KP_EXPORT(apply_repetition_penalty, kk::ApplyRepetitionPenalty, KK_REPETITION_PENALTY_CONTRACT);
