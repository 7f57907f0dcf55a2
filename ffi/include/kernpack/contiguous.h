// contiguous(): a tensor in row-major order without gaps; copies only if necessary.
#ifndef KERNPACK_CONTIGUOUS_H_
#define KERNPACK_CONTIGUOUS_H_

#include <kernpack/device_code.h>
#include <kernpack/tensor.h>

KP_NAMESPACE_BEGIN
namespace detail {

// Elements of N bytes, in the order of `from`, whose strides are filled in; `to` is compact. Adjacent rows are copied together.
template <size_t N>
void pack_elements(const KpDLTensor& from, char* to) {
  const char* base = static_cast<const char*>(from.data) + from.byte_offset;
  int64_t at[64] = {};  // no host lets more dims in
  const int32_t last = from.ndim - 1;
  const int64_t step = from.strides[last];
  const size_t count = static_cast<size_t>(from.shape[last]);
  while (true) {
    int64_t offset = 0;
    for (int32_t d = 0; d < last; ++d) offset += at[d] * from.strides[d];
    const char* row = base + offset * static_cast<int64_t>(N);
    if (step == 1) {
      __builtin_memcpy(to, row, count * N);
    } else {
      for (size_t i = 0; i < count; ++i) {
        __builtin_memcpy(to + i * N, row + static_cast<int64_t>(i) * step * static_cast<int64_t>(N), N);
      }
    }
    to += count * N;
    int32_t d = last - 1;
    while (d >= 0 && ++at[d] == from.shape[d]) at[d--] = 0;
    if (d < 0) return;
  }
}

// `to`: compact, of the sizes of `from`. Elements have whole bytes; there is at least one, and a dim.
inline void pack(const KpDLTensor& from, const KpDLTensor& to) {
  if (from.device.device_type != KP_DEVICE_CPU) {
    const KpDevices* devices = nullptr;
    check_host(find_devices(host(), from.device, &devices));
    return check_host(devices->copy(&from, &to));
  }
  char* out = static_cast<char*>(to.data) + to.byte_offset;
  switch (from.dtype.bits * from.dtype.lanes) {
    case 8:
      return pack_elements<1>(from, out);
    case 16:
      return pack_elements<2>(from, out);
    case 32:
      return pack_elements<4>(from, out);
    case 64:
      return pack_elements<8>(from, out);
    default:
      return pack_elements<16>(from, out);
  }
}

// True if the elements can be copied one by one: no element shares a byte with its neighbour.
inline bool has_whole_elements(TensorView x) {
  const int bits = x.raw().dtype.bits * x.raw().dtype.lanes;
  return bits == 8 || bits == 16 || bits == 32 || bits == 64 || bits == 128;
}
KP_COLD inline void describe_shared_elements(Text& text, TensorView x) {
  text << "expected a contiguous tensor, got " << x.dtype() << x.sizes() << " with strides " << x.strides()
       << ": only elements of 1, 2, 4, 8 or 16 bytes can be copied one by one: pass a contiguous one";
}

}  // namespace detail

// The result of contiguous(): the tensor itself, or a compact copy that lives as long as this object. It has the members of a
// TensorView.
//
//   const auto rows = kp::contiguous(x);  // x is marked `strided` in the signature
//   const float* data = rows.data_ptr<float>();
class Contiguous : public TensorApi<Contiguous, const void> {
 public:
  // ValueError for strides between elements that share bytes (i4); MemoryError. On a device the copy is queued on the call's stream.
  explicit Contiguous(TensorView x) : view_(x) {
    if (!x.defined() || KP_LIKELY(x.is_contiguous())) return;
    if (KP_UNLIKELY(!detail::has_whole_elements(x))) {
      Text text;
      detail::describe_shared_elements(text, x);
      KP_THROW(ValueError) << text.bytes();
    }
    copy_ = Tensor::EmptyLike(x);
    detail::pack(x.raw(), copy_.raw());
    view_ = copy_;
  }

  bool is_copy() const { return copy_.defined(); }
  const KpDLTensor* tensor() const { return view_.tensor(); }
  // Not for a temporary, whose copy is freed with it: keep it in a variable first.
  operator TensorView() const& { return view_; }
  operator TensorView() && = delete;

 private:
  TensorView view_;
  Tensor copy_;
};

//   const auto rows = kp::contiguous(x);  // x is marked `strided` in the signature
//   const float* data = rows.data_ptr<float>();
[[nodiscard]] inline Contiguous contiguous(TensorView x) { return Contiguous(x); }

KP_NAMESPACE_END

#endif  // KERNPACK_CONTIGUOUS_H_
