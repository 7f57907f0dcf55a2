// Makes the arguments of trial calls (modules/trial.h).
#ifndef KERNPACK_SRC_MODULES_TRIAL_ARGUMENTS_H_
#define KERNPACK_SRC_MODULES_TRIAL_ARGUMENTS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <vector>

#include <kernpack/signature/program.h>

namespace kernpack::host {

// Memory that is given back all at once. A module may have hundreds of gradients, and a call dozens of small arrays.
class Arena {
 public:
  template <class T>
  T* Take(size_t count) {
    static_assert(std::is_trivially_destructible_v<T> && alignof(T) <= alignof(int64_t));
    int64_t* place = TakeWords((count * sizeof(T) + sizeof(int64_t) - 1) / sizeof(int64_t));
    T* first = reinterpret_cast<T*>(place);
    for (size_t i = 0; i < count; ++i) new (first + i) T{};
    return first;
  }

  void Reset() { block_ = used_ = 0; }

 private:
  static constexpr size_t kBlock = 8192;  // words

  int64_t* TakeWords(size_t words) {
    while (block_ < blocks_.size() && used_ + words > blocks_[block_].size()) {
      ++block_;
      used_ = 0;
    }
    if (block_ == blocks_.size()) blocks_.emplace_back(std::max(kBlock, words));
    int64_t* const place = blocks_[block_].data() + used_;
    used_ += words;
    return place;
  }

  std::vector<std::vector<int64_t>> blocks_;
  size_t block_ = 0;
  size_t used_ = 0;  // words of blocks_[block_]
};

KpAny IntAny(int64_t value);
// It borrows the prototype's shape.
KpAny TensorAny(const KpDLTensor& prototype, Arena* arena);
// It borrows the items.
KpAny ListAny(KpAny* items, int64_t count, Arena* arena);
KpAny FirstItem(const KpAny& list);

// The default of a parameter; None where it has none.
KpAny GetDefault(signature::View view, int param, Arena* arena);

// Which of many calls: its sizes and its dtypes, each numbered from 0.
struct Trial {
  int sizes;
  int dtypes;
};

// All arguments of a trial call, also the optional ones; NULL where its sizes make no call. Tensors have no memory. The contract's
// conditions may refuse the call.
const KpAny* TrialArguments(signature::View view, Trial trial, Arena* arena);

// No two dims of the call are equal, and none is 1: then no tensor fits the shape of another by accident.
bool IsGeneric(signature::View view, Trial trial);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_MODULES_TRIAL_ARGUMENTS_H_
