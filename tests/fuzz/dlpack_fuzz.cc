// DLPack capsules from fuzzed bytes: every one is accepted or refused with an error, never a crash, and what is accepted goes
// out again through both protocols with the same shape.
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <kernpack/host/host.h>

namespace {

// Takes fixed-size values off the front of the input; zeros once it is used up.
class Input {
 public:
  Input(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  template <class T>
  T Take() {
    T value{};
    const size_t taken = size_ < sizeof value ? size_ : sizeof value;
    if (taken) std::memcpy(&value, data_, taken);
    data_ += taken;
    size_ -= taken;
    return value;
  }
  // A value that is small more often than not, so that legal tensors are found too.
  int64_t TakeExtent() {
    const auto kind = Take<uint8_t>();
    return kind < 224 ? kind % 9 : Take<int64_t>();
  }

 private:
  const uint8_t* data_;
  size_t size_;
};

void Require(bool held) {
  if (!held) std::abort();
}

void RequireError() {
  Require(kp_error_pending() == 1);
  kp_error_clear();
}

struct Sample {
  alignas(64) char data[64];
  int64_t shape[80];
  int64_t strides[80];
  KpDLTensor tensor;
};

void Read(Input& input, Sample& sample) {
  const auto bits = input.Take<uint8_t>();
  KpDLTensor& tensor = sample.tensor;
  tensor.ndim = bits & 1 ? input.Take<int32_t>() : input.Take<uint8_t>() % 80;
  tensor.device = bits & 2 ? input.Take<KpDLDevice>() : KpDLDevice{KP_DEVICE_CPU, 0};
  tensor.dtype = bits & 4 ? input.Take<KpDLDataType>() : KpDLDataType{KP_DTYPE_FLOAT, 32, 1};
  tensor.byte_offset = bits & 8 ? input.Take<uint64_t>() : 0;
  tensor.data = bits & 16 ? reinterpret_cast<void*>(input.Take<uintptr_t>()) : sample.data;
  tensor.shape = bits & 32 ? nullptr : sample.shape;
  tensor.strides = bits & 64 ? nullptr : sample.strides;
  for (int64_t& extent : sample.shape) extent = input.TakeExtent();
  for (int64_t& stride : sample.strides) stride = input.TakeExtent();
}

void RoundTrip(KpAny* value, const KpDLTensor& source) {
  KpDLManagedTensor* legacy = nullptr;
  KpDLManagedTensorVersioned* versioned = nullptr;
  if (kp_tensor_to_dlpack(value->v.v_obj, &legacy) != 0) RequireError();
  Require(kp_tensor_to_dlpack_versioned(value->v.v_obj, &versioned) == 0);
  kp_any_release(value);
  Require(versioned->tensor.ndim == source.ndim && versioned->tensor.data == source.data);
  for (int32_t i = 0; i < source.ndim; ++i) Require(versioned->tensor.shape[i] == source.shape[i]);
  if (legacy) legacy->deleter(legacy);
  versioned->deleter(versioned);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const int64_t live = kp_live_objects();
  Input input(data, size);
  Sample sample{};
  int deleted = 0;
  KpDLManagedTensorVersioned versioned{};
  versioned.version = input.Take<uint8_t>() & 1 ? input.Take<KpDLPackVersion>() : KpDLPackVersion{1, 1};
  versioned.flags = input.Take<uint8_t>();
  Read(input, sample);
  versioned.tensor = sample.tensor;
  versioned.manager = &deleted;
  versioned.deleter = [](KpDLManagedTensorVersioned* self) { ++*static_cast<int*>(self->manager); };
  KpAny value = kp_none();
  if (kp_tensor_from_dlpack_versioned(&versioned, &value) == 0) {
    RoundTrip(&value, sample.tensor);
    Require(deleted == 1);
  } else {
    RequireError();
    Require(deleted == 0);
  }
  KpDLManagedTensor legacy{sample.tensor, nullptr, nullptr};
  if (kp_tensor_from_dlpack(&legacy, &value) == 0) {
    RoundTrip(&value, sample.tensor);
  } else {
    RequireError();
  }
  Require(kp_live_objects() == live);
  return 0;
}
