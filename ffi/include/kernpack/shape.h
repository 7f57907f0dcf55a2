// A borrowed list of dimensions.
#ifndef KERNPACK_SHAPE_H_
#define KERNPACK_SHAPE_H_

#include <kernpack/config.h>
#include <kernpack/error.h>

KP_NAMESPACE_BEGIN

// Borrows `size()` int64s (elements, not bytes); valid as long as what it came from. Negative indices count from the end.
class ShapeView {
 public:
  constexpr ShapeView() = default;
  constexpr ShapeView(const int64_t* data, size_t size) : data_(data), size_(size) {}
  template <size_t N>
  constexpr ShapeView(const int64_t (&items)[N]) : data_(items), size_(N) {}

  constexpr const int64_t* data() const { return data_; }
  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const int64_t* begin() const { return data_; }
  constexpr const int64_t* end() const { return data_ + size_; }
  constexpr int64_t operator[](size_t i) const { return data_[i]; }  // unchecked
  int64_t front() const { return at(0); }
  int64_t back() const { return at(-1); }

  // Checked: IndexError outside [-size, size).
  int64_t at(int64_t i) const {
    const int64_t n = static_cast<int64_t>(size_);
    if (KP_UNLIKELY(i < -n || i >= n)) detail::throw_bad_dim(i, n);
    return data_[i < 0 ? i + n : i];
  }
  // Product of the items; 1 when empty.
  int64_t numel() const {
    int64_t n = 1;
    for (size_t i = 0; i < size_; ++i) n *= data_[i];
    return n;
  }

  friend bool operator==(ShapeView a, ShapeView b) {
    return a.size_ == b.size_ && (a.size_ == 0 || !__builtin_memcmp(a.data_, b.data_, a.size_ * sizeof(int64_t)));
  }
  friend bool operator!=(ShapeView a, ShapeView b) { return !(a == b); }

 private:
  const int64_t* data_ = nullptr;
  size_t size_ = 0;
};

// "[2, 3]"
KP_COLD inline Text& operator<<(Text& text, ShapeView shape) {
  text << '[';
  for (size_t i = 0; i < shape.size(); ++i) (i ? text << ", " : text) << shape[i];
  return text << ']';
}

KP_NAMESPACE_END

#endif  // KERNPACK_SHAPE_H_
