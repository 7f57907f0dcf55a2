// Arguments of a generated function. Its callers have checked them against the signature; these checks are what the code
// itself relies on, whatever signature it was given and whoever calls.
#include <kernpack/device.h>
#include <kernpack/dtype.h>
#include <kernpack/shape.h>
#include <kernpack/signature/memory.h>

#include "codegen/frame/instance.h"
#include "codegen/frame/launch.h"

namespace kernpack::frame {
namespace {

// "softmax: x: ".
Text& operator<<(Text& text, const KpFrameParam& p) { return text << p.name << ": "; }

int Fail(void* self, const char* kind, const Text& text) { return RaiseText(self, kind, text.bytes()); }

DType TypeOf(const KpFrameParam& p) { return DType(static_cast<KpDTypeCode>(p.code), p.bits); }

bool HasRank(const KpFrameParam& p, const KpDLTensor& t) {
  return p.any_rank ? t.ndim >= p.rank - 1 : t.ndim == p.rank;
}

// Where tensors have to be.
class Place {
 public:
  explicit Place(int32_t device_type) : device_{device_type, 0} {}
  KpDLDevice device() const { return device_; }
  // The first tensor's device is that of all; the CPU's numbers mean nothing.
  bool Takes(KpDLDevice device) {
    if (device.device_type != device_.device_type) return false;
    if (!known_) device_ = device;
    known_ = device.device_type != KP_DEVICE_CPU;
    return !known_ || device.device_id == device_.device_id;
  }

 private:
  KpDLDevice device_;
  bool known_ = false;
};

int BadTensor(void* self, const KpFrameFunction& f, const KpFrameParam& p, const KpAny& a, Place& place) {
  Text text;
  text << f.name << ": " << p;
  const KpDLTensor* t = kp_any_tensor(&a);
  if (!t) {
    text << "expected a tensor, got a value of type index " << a.type_index;
    return Fail(self, "TypeError", text);
  }
  if (DType(t->dtype) != TypeOf(p)) {
    text << "expected " << TypeOf(p) << ", got " << DType(t->dtype);
    return Fail(self, "TypeError", text);
  }
  if (!HasRank(p, *t)) {
    text << "expected " << (p.any_rank ? "at least " : "") << p.rank - p.any_rank << " dimensions, got " << t->ndim;
  } else if (!place.Takes(t->device)) {
    text << "expected a tensor on " << place.device() << ", got one on " << t->device;
  } else {
    text << "expected a contiguous tensor; call .contiguous() on it";
  }
  return Fail(self, "ValueError", text);
}

int BadScalar(void* self, const KpFrameFunction& f, const KpFrameParam& p, const KpAny& a, bool in_range) {
  Text text;
  text << f.name << ": " << p << "expected " << TypeOf(p) << ", got ";
  if (in_range)
    text << "a value of type index " << a.type_index;
  else
    text << a.v.v_int;
  return Fail(self, in_range ? "TypeError" : "ValueError", text);
}

// NULL with an error raised.
const KpDLTensor* Tensor(void* self, const KpFrameFunction& f, const KpFrameParam& p, const KpAny& a, Place& place,
                         uint64_t* slots) {
  const KpDLTensor* t = kp_any_tensor(&a);
  if (!t || DType(t->dtype) != TypeOf(p) || !HasRank(p, *t) || !place.Takes(t->device) || !signature::IsCompact(*t)) {
    BadTensor(self, f, p, a, place);
    return nullptr;
  }
  // What is behind the leading dimensions, and these as one where there may be any number of them.
  const int32_t leading = t->ndim - p.rank + p.any_rank;
  uint64_t* slot = slots + 1;
  if (p.any_rank) *slot++ = static_cast<uint64_t>(ShapeView(t->shape, static_cast<size_t>(leading)).numel());
  for (int32_t d = leading; d < t->ndim; ++d) *slot++ = static_cast<uint64_t>(t->shape[d]);
  return t;
}

bool Fits(const KpFrameParam& p, int64_t value) {
  if (p.code == KP_DTYPE_BOOL) return value == 0 || value == 1;
  if (p.bits == 64) return p.code == KP_DTYPE_INT || value >= 0;
  const int64_t end = int64_t{1} << (p.code == KP_DTYPE_INT ? p.bits - 1 : p.bits);
  return value < end && value >= (p.code == KP_DTYPE_INT ? -end : 0);
}

int Scalar(void* self, const KpFrameFunction& f, const KpFrameParam& p, const KpAny& a, uint64_t* slot) {
  const bool is_int = a.type_index == KP_TYPE_INT || a.type_index == KP_TYPE_BOOL;
  if (p.code == KP_DTYPE_INT || p.code == KP_DTYPE_UINT || p.code == KP_DTYPE_BOOL) {
    if (!is_int || !Fits(p, a.v.v_int)) return BadScalar(self, f, p, a, !is_int);
    *slot = static_cast<uint64_t>(a.v.v_int);
    return 0;
  }
  if (!is_int && a.type_index != KP_TYPE_FLOAT) return BadScalar(self, f, p, a, true);
  const double value = is_int ? static_cast<double>(a.v.v_int) : a.v.v_float;
  __builtin_memcpy(slot, &value, sizeof value);
  return 0;
}

// memory: of tensors that are on a device; NULL: those on the CPU are given by their address.
int Unpack(void* self, const KpFrameFunction& f, const KpAny* args, int32_t n, uint64_t* slots, Place& place,
           KpKernelArg* memory) {
  if (n != f.num_params) {
    Text text;
    text << f.name << ": expected " << f.num_params << " arguments, got " << n;
    return Fail(self, "TypeError", text);
  }
  for (int32_t i = 0; i < n; ++i) {
    const KpFrameParam& p = f.params[i];
    if (p.rank < 0) {
      if (Scalar(self, f, p, args[i], slots++)) return -1;
      continue;
    }
    const KpDLTensor* t = Tensor(self, f, p, args[i], place, slots);
    if (!t) return -1;
    if (memory) {
      memory[i] = {KP_ARG_MEMORY, p.bits / 8u, t->data, t->byte_offset};
      slots[0] = reinterpret_cast<uint64_t>(&memory[i]);
    } else {
      slots[0] = reinterpret_cast<uint64_t>(t->data) + t->byte_offset;
    }
    slots += p.rank + 1;
  }
  return 0;
}

}  // namespace
}  // namespace kernpack::frame

using namespace kernpack;

int kp_frame_unpack(void* self, const KpFrameFunction* function, const KpAny* args, int32_t n, uint64_t* slots) {
  frame::Place cpu(KP_DEVICE_CPU);
  return frame::Unpack(self, *function, args, n, slots, cpu, nullptr);
}

int kp_frame_unpack_device(void* self, const KpFrameFunction* function, const KpFrameCode* code, const KpAny* args,
                           int32_t n, uint64_t* slots, KpKernelArg* memory, KpFrameCall* call) {
  frame::Place place(code->device_type);
  const int rc = frame::Unpack(self, *function, args, n, slots, place, memory);
  *call = {self, code, place.device()};
  return rc;
}

int kp_frame_extent(void* self, const KpFrameFunction* function, int32_t param, int32_t axis, int64_t got,
                    int64_t expected) {
  Text text;
  text << function->name << ": " << function->params[param].name << ": dimension " << axis << ": expected " << expected
       << ", got " << got;
  return frame::Fail(self, "ValueError", text);
}
