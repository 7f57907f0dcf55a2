// Accessor: a tensor of known dtype and rank and any strides, indexed without a check.
#ifndef KERNPACK_ACCESSOR_H_
#define KERNPACK_ACCESSOR_H_

#include <kernpack/typed_view.h>

KP_NAMESPACE_BEGIN

// Reads strided inputs: the constructor checks dtype, rank and device once and copies the strides; in(i, j) multiplies and adds.
// Contiguous tensors have the faster Span.
//
//   const kp::Accessor<const float, 2> in(x);   // TypeError, ValueError if x has another dtype, rank or device
//   for (...) sum += in(i, j);                  // or in[i][j]; in[i] is a row, of rank 1
//
// T is const for a TensorView. CUDA kernels take it by value. With -DKP_CHECKED_AT=1 an index out of range is an IndexError; device
// code is never checked.
template <class T, int N>
class Accessor {
  static_assert(N >= 1,
                "kp::Accessor<T, N>: N is the tensor's number of dims, from 1; of a tensor of rank 0 use kp::Span<T>");
  using View = detail::ViewOf<T>;

 public:
  template <bool kAnyDevice = KP_VIEWS_OF_ANY_DEVICE_>
  explicit Accessor(View x) : Accessor(x, std::bool_constant<kAnyDevice>()) {}
  Accessor(View x, AnyDevice) : Accessor(x, std::true_type()) {}
  // The memory at `data`, whose elements lie `strides` apart.
  KP_HOST_DEVICE_ Accessor(T* data, const int64_t* sizes, const int64_t* strides) : data_(data) {
    for (int d = 0; d < N; ++d) {
      sizes_[d] = sizes[d];
      strides_[d] = strides[d];
    }
  }

  // One element, by an index per dim, each in [0, size).
  template <bool kChecked = (KP_CHECKED_AT != 0), class... Index>
  KP_HOST_DEVICE_ T& at(Index... index) const {
    static_assert(sizeof...(Index) == N, "kp::Accessor<T, N>::at: expected one index per dim");
    int64_t offset = 0;
    int d = 0;
    if constexpr (kChecked) (check(d++, static_cast<int64_t>(index)), ...);
    d = 0;
    ((offset += static_cast<int64_t>(index) * strides_[d++]), ...);
    return data_[offset];
  }
  template <class... Index>
  KP_HOST_DEVICE_ T& operator()(Index... index) const {
    return at(index...);
  }
  // An element if N is 1, else the part of the tensor at that index of the first dim.
  KP_HOST_DEVICE_ decltype(auto) operator[](int64_t i) const {
    if constexpr (KP_CHECKED_AT != 0) check(0, i);
    if constexpr (N == 1)
      return (data_[i * strides_[0]]);
    else
      return Accessor<T, N - 1>(data_ + i * strides_[0], sizes_ + 1, strides_ + 1);
  }

  KP_HOST_DEVICE_ static constexpr int dim() { return N; }
  KP_HOST_DEVICE_ T* data() const { return data_; }
  // `d` is in [0, N).
  KP_HOST_DEVICE_ int64_t size(int d) const { return sizes_[d]; }
  KP_HOST_DEVICE_ int64_t stride(int d) const { return strides_[d]; }

 private:
  template <bool kAnyDevice>
  Accessor(View x, std::bool_constant<kAnyDevice>) : data_(static_cast<T*>(x.data_ptr())) {
    detail::check_typed<kAnyDevice>({"Accessor", N}, x, dtype_of<T>);
    for (int d = 0; d < N; ++d) {
      sizes_[d] = x.raw().shape[d];
      strides_[d] = x.stride(d);
    }
  }

  KP_HOST_DEVICE_ void check(int d, int64_t index) const {
#ifdef __CUDA_ARCH__
    (void)d, (void)index;
#else
    if (KP_UNLIKELY(index < 0 || index >= sizes_[d])) detail::throw_wrong_index(d, index, {sizes_, N});
#endif
  }

  T* data_;
  int64_t sizes_[N];
  int64_t strides_[N];
};

KP_NAMESPACE_END

#endif  // KERNPACK_ACCESSOR_H_
