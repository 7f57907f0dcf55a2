// Span: a contiguous tensor of known dtype, indexed without a check, as fast as a pointer.
#ifndef KERNPACK_SPAN_H_
#define KERNPACK_SPAN_H_

#include <kernpack/typed_view.h>

KP_NAMESPACE_BEGIN

// N of a Span of all elements, of a tensor of any rank.
inline constexpr int kFlat = -1;

// Elements in row-major order without gaps: what a signature's tensors are unless it says `strided`. The constructor checks dtype,
// rank, device and strides once. Trivially copyable; borrows the tensor's memory.
//
//   const kp::Span<const float, 2> in(x);  // T is const for a TensorView; TypeError, ValueError if x isn't such a tensor
//   const kp::Span<float> to(out);         // all elements, whatever the rank
//   for (int64_t i = 0; i < in.size(0); ++i)
//     for (int64_t j = 0; j < in.size(1); ++j) to[i] += in(i, j);
//
// in[i] is a row, of rank N - 1; begin() and end() are over all elements. CUDA kernels take it by value. With -DKP_CHECKED_AT=1 an index
// out of range is an IndexError; device code is never checked.
template <class T, int N = kFlat>
class Span {
  static_assert(N >= 1 || N == kFlat,
                "kp::Span<T, N>: N is the tensor's number of dims, from 1; kp::Span<T> has all elements of any tensor");
  static constexpr int kRank = N == kFlat ? 1 : N;
  using View = detail::ViewOf<T>;

 public:
  template <bool kAnyDevice = KP_VIEWS_OF_ANY_DEVICE_>
  explicit Span(View x) : Span(x, std::bool_constant<kAnyDevice>()) {}
  Span(View x, AnyDevice) : Span(x, std::true_type()) {}
  // The memory at `data`, of these sizes: N of them; one, the number of elements, for a Span<T>.
  KP_HOST_DEVICE_ Span(T* data, const int64_t* sizes) : data_(data) {
    for (int d = 0; d < kRank; ++d) sizes_[d] = sizes[d];
  }

  // One element, by an index per dim, each in [0, size).
  template <bool kChecked = (KP_CHECKED_AT != 0), class... Index>
  KP_HOST_DEVICE_ T& at(Index... index) const {
    static_assert(sizeof...(Index) == kRank, "kp::Span<T, N>: expected one index per dim, one index for kp::Span<T>");
    int64_t offset = 0;
    int d = 0;
    if constexpr (kChecked) (check(d++, static_cast<int64_t>(index)), ...);
    d = 0;
    ((offset = offset * sizes_[d++] + static_cast<int64_t>(index)), ...);
    return data_[offset];
  }
  template <class... Index>
  KP_HOST_DEVICE_ T& operator()(Index... index) const {
    return at(index...);
  }
  // An element if N is 1 or kFlat, else the part of the tensor at that index of the first dim.
  KP_HOST_DEVICE_ decltype(auto) operator[](int64_t i) const {
    if constexpr (KP_CHECKED_AT != 0) check(0, i);
    if constexpr (kRank == 1)
      return (data_[i]);
    else
      return Span<T, N - 1>(data_ + i * stride(0), sizes_ + 1);
  }

  KP_HOST_DEVICE_ T* data() const { return data_; }
  KP_HOST_DEVICE_ T* begin() const { return data_; }
  KP_HOST_DEVICE_ T* end() const { return data_ + size(); }
  // The number of elements.
  KP_HOST_DEVICE_ int64_t size() const {
    int64_t n = 1;
    for (int d = 0; d < kRank; ++d) n *= sizes_[d];
    return n;
  }
  KP_HOST_DEVICE_ static constexpr int dim() { return kRank; }
  // `d` is in [0, dim()).
  KP_HOST_DEVICE_ int64_t size(int d) const { return sizes_[d]; }
  KP_HOST_DEVICE_ int64_t stride(int d) const {
    int64_t n = 1;
    while (++d < kRank) n *= sizes_[d];
    return n;
  }

 private:
  template <bool kAnyDevice>
  Span(View x, std::bool_constant<kAnyDevice>) : data_(static_cast<T*>(x.data_ptr())) {
    constexpr detail::TypedViewName name{"Span", N};
    detail::check_typed<kAnyDevice>(name, x, dtype_of<T>);
    if (KP_UNLIKELY(!x.is_contiguous())) detail::throw_not_compact(name, x);
    if constexpr (N == kFlat) {
      sizes_[0] = x.numel();
    } else {
      for (int d = 0; d < N; ++d) sizes_[d] = x.raw().shape[d];
    }
  }

  KP_HOST_DEVICE_ void check(int d, int64_t index) const {
#ifdef __CUDA_ARCH__
    (void)d, (void)index;
#else
    if (KP_UNLIKELY(index < 0 || index >= sizes_[d])) detail::throw_wrong_index(d, index, {sizes_, kRank});
#endif
  }

  T* data_;
  int64_t sizes_[kRank];
};

KP_NAMESPACE_END

#endif  // KERNPACK_SPAN_H_
