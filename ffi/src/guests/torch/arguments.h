// The arguments of one operator call, from torch's stack to our values; and new tensors of torch's own, for results, scratch memory
// and whatever a kernel asks the host for.
#ifndef KERNPACK_SRC_GUESTS_TORCH_ARGUMENTS_H_
#define KERNPACK_SRC_GUESTS_TORCH_ARGUMENTS_H_

#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

#include "guests/torch/op.h"
#include "guests/torch/shim.h"

namespace kernpack::torch {

// Scratch memory of one call: on the stack for all usual calls, one heap block each beyond that.
class Arena {
 public:
  // Room for `count` items, not initialised, valid as long as the arena.
  template <typename T>
  T* Take(size_t count) {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 16);
    // NOLINTNEXTLINE(bugprone-sizeof-expression): T may well be a pointer
    const size_t bytes = (count * sizeof(T) + 15) & ~size_t{15};
    if (bytes <= sizeof(inline_) - used_) {
      std::byte* place = inline_ + used_;
      used_ += bytes;
      return reinterpret_cast<T*>(place);
    }
    blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(bytes));
    return reinterpret_cast<T*>(blocks_.back().get());
  }

 private:
  alignas(16) std::byte inline_[4096];
  size_t used_ = 0;
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
};

class Arguments {
 public:
  Arguments(const Op& op, const Shim& shim) : op_(op), shim_(shim) {}
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;
  // Releases everything that Take took.
  ~Arguments();

  // Owns the first num_inputs values of the stack from now on: the parameters, then num_inputs - params destinations. Nothing
  // here can fail in a way that would leave one of them behind.
  void Take(const Value* stack, size_t num_inputs);

  // Views parameter `index` as a value, borrowed from this object. 0, or -1 with an error raised.
  int Parameter(size_t index, KpAny* out);
  // Views a destination.
  int Destination(size_t index, KpAny* out);

  // Views any tensor in memory that lives as long as this object. place: the number of the parameter, or behind them of the
  // result, for errors.
  int View(Tensor tensor, size_t place, bool mutated, KpAny* out);

  Arena& arena() { return arena_; }

 private:
  struct Item {
    Value value;
    bool present;  // false: an optional that is None
    Value* items;  // of a list: what torch_list_get_item gave
    size_t num_items;
  };

  void TakeList(Item* item, uint32_t kind);
  void Release(Value value, uint32_t kind);
  int Scalar(uint32_t kind, Value value, KpAny* out);
  int One(size_t index, Value value, KpAny* out);
  const char* NameAt(size_t place) const;
  int RaiseNotRead(const char* doing) { return RaiseTorchError(shim_, op_.function->name, doing); }

  const Op& op_;
  const Shim& shim_;
  Item* items_ = nullptr;
  size_t count_ = 0;
  Arena arena_;
};

// A fresh contiguous tensor like the prototype (ndim, shape, dtype, device). 0, or -1 with an error raised for `function`.
int Allocate(const Shim& shim, const char* function, const KpDLTensor& prototype, Tensor* out);

// KpCallContext.tensor_alloc; context is the Shim.
int AllocateForKernel(void* context, const KpDLTensor* prototype, KpAny* out);

}  // namespace kernpack::torch

#endif  // KERNPACK_SRC_GUESTS_TORCH_ARGUMENTS_H_
