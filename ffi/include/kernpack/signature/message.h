// Error texts of a check, built in a buffer on the stack.
#ifndef KERNPACK_SIGNATURE_MESSAGE_H_
#define KERNPACK_SIGNATURE_MESSAGE_H_

#include <kernpack/signature/device_names.h>
#include <kernpack/signature/dtypes.h>
#include <kernpack/signature/program.h>

KP_NAMESPACE_BEGIN
namespace signature {

// Where errors go: the host's raise, or a foreign host's. `kind` is NUL-terminated, text borrowed. Returns -1.
struct Raiser {
  void* self;
  int (*raise)(void* self, const char* kind, KpBytes text);
};

class Message {
 public:
  KP_COLD Message& Add(const char* text) {
    while (*text && size_ < sizeof(buffer_)) buffer_[size_++] = *text++;
    return *this;
  }
  KP_COLD Message& Add(KpBytes text) {
    for (size_t i = 0; i < text.size && size_ < sizeof(buffer_); ++i) buffer_[size_++] = text.data[i];
    return *this;
  }
  KP_COLD Message& Add(int64_t value) {
    char digits[20];
    int n = 0;
    uint64_t rest = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    do {
      digits[n++] = static_cast<char>('0' + rest % 10);
      rest /= 10;
    } while (rest);
    if (value < 0) Add("-");
    while (n) Add(KpBytes{&digits[--n], 1});
    return *this;
  }
  // [2, 3]
  KP_COLD Message& AddList(const int64_t* values, int32_t count) {
    Add("[");
    for (int32_t i = 0; i < count; ++i) Add(i ? ", " : "").Add(values[i]);
    return Add("]");
  }
  KP_COLD Message& AddDType(KpDLDataType t) {
    const char* name = nullptr;
    for (const DTypeName& known : kDTypeNames) {
      if (PackDType(known.code, known.bits) == PackDType(t)) name = known.name;
    }
    if (name) {
      Add(name);
    } else {
      Add("dtype(code ").Add(int64_t{t.code}).Add(", ").Add(int64_t{t.bits}).Add(" bits)");
    }
    if (t.lanes != 1) Add("x").Add(int64_t{t.lanes});
    return *this;
  }
  KP_COLD Message& AddDevice(KpDLDevice device) {
    AddDeviceType(device.device_type);
    if (device.device_type != KP_DEVICE_CPU) Add(":").Add(int64_t{device.device_id});
    return *this;
  }
  KP_COLD Message& AddDeviceType(int32_t type) {
    for (const DeviceName& known : kDeviceNames) {
      if (known.type == type) return Add(known.name);
    }
    return Add("device_type(").Add(int64_t{type}).Add(")");
  }
  // What kind of value it is: "Tensor", "int", ...
  KP_COLD Message& AddType(const KpAny& a) {
    constexpr char kPlain[][8] = {"None", "int", "bool", "float", "pointer", "dtype", "device", "Tensor", "str", "bytes",
                                  "rvalue", "str", "bytes"};
    constexpr char kObjects[][9] = {"object", "str",    "bytes", "Error",  "Function", "Shape",
                                    "Tensor", "Array",  "Map",   "Module", "object",   "List"};
    if (a.type_index >= 0 && a.type_index <= KP_TYPE_SMALL_BYTES) return Add(kPlain[a.type_index]);
    if (a.type_index >= KP_TYPE_OBJECT && a.type_index <= KP_TYPE_LIST) return Add(kObjects[a.type_index - KP_TYPE_OBJECT]);
    return Add("an object");
  }
  KP_COLD int Raise(const Raiser& raiser, const char* kind) const {
    return raiser.raise(raiser.self, kind, KpBytes{buffer_, size_});
  }

 private:
  size_t size_ = 0;
  char buffer_[1024];
};

}  // namespace signature
KP_NAMESPACE_END

#endif  // KERNPACK_SIGNATURE_MESSAGE_H_
