// Scratch memory of one call: on the stack for all usual calls, one heap block each beyond that.
#ifndef KERNPACK_SRC_GUESTS_TORCH_ARENA_H_
#define KERNPACK_SRC_GUESTS_TORCH_ARENA_H_

#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

namespace kernpack::torch {

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

}  // namespace kernpack::torch

#endif  // KERNPACK_SRC_GUESTS_TORCH_ARENA_H_
