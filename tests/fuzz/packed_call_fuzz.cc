// Packed values from fuzzed bytes: strings, bytes, nested arrays and maps of any tags, passed through a function, storage and
// ownership. Each step succeeds or raises, nothing leaks.
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <string>
#include <vector>

#include <kernpack/host/host.h>

namespace {

void Require(bool held) {
  if (!held) std::abort();
}

void RequireError() {
  Require(kp_error_pending() == 1);
  kp_error_clear();
}

// Reads the input as a program that makes values. Borrowed text stays valid for the whole input.
class Maker {
 public:
  Maker(const uint8_t* data, size_t size) : data_(data), end_(data + size) {}

  uint8_t Byte() { return data_ < end_ ? *data_++ : 0; }

  KpAny Make(int depth) {
    switch (Byte() % 10) {
      case 0:
        return kp_none();
      case 1:
        return Plain(KP_TYPE_INT);
      case 2:
        return Plain(KP_TYPE_FLOAT);
      case 3:
        return Plain(KP_TYPE_DTYPE);
      case 4:
        return Text(kp_string_new);
      case 5:
        return Text(kp_bytes_new);
      case 6:
        return BorrowedText();
      case 7:
        return depth < 4 ? Container(depth, false) : kp_none();
      case 8:
        return depth < 4 ? Container(depth, true) : kp_none();
      default:
        return UnknownTag();
    }
  }

 private:
  KpAny Plain(int32_t tag) {
    KpAny any = kp_none();
    any.type_index = tag;
    for (char& byte : any.v.v_bytes) byte = static_cast<char>(Byte());
    if (tag == KP_TYPE_DTYPE) any.v.v_bits &= 0xffffffff;
    return any;
  }

  std::string TakeText() {
    const size_t left = static_cast<size_t>(end_ - data_);
    size_t size = Byte() % 24;
    size = size < left ? size : 0;
    std::string text(reinterpret_cast<const char*>(data_), size);
    data_ += size;
    return text;
  }

  KpAny Text(int (*make)(KpBytes, KpAny*)) {
    const std::string text = TakeText();
    KpAny any = kp_none();
    Require(make(KpBytes{text.data(), text.size()}, &any) == 0);
    return any;
  }

  KpAny BorrowedText() {
    texts_.push_back(TakeText());
    KpAny any = kp_none();
    any.type_index = KP_TYPE_RAW_STR;
    any.v.v_c_str = texts_.back().c_str();
    return any;
  }

  // A tag that no value of this ABI version has; it must be refused wherever it arrives.
  KpAny UnknownTag() {
    KpAny any = kp_none();
    any.type_index = 13 + Byte() % 51;
    return any;
  }

  KpAny Container(int depth, bool map) {
    std::vector<KpAny> items;
    const int count = Byte() % 40 * (map ? 2 : 1);
    for (int i = 0; i < count; ++i) items.push_back(Make(depth + 1));
    KpAny out = kp_none();
    const int rc =
        map ? kp_map_new(items.data(), items.size() / 2, &out) : kp_array_new(items.data(), items.size(), &out);
    if (rc != 0) {
      RequireError();
      out = kp_none();
    }
    for (KpAny& item : items) kp_any_release(&item);
    if (map && rc == 0) CheckMap(out);
    return out;
  }

  // Every key that stepping shows is found by looking it up.
  static void CheckMap(const KpAny& any) {
    const auto* map = reinterpret_cast<const KpMapObject*>(any.v.v_obj);
    uint64_t cursor = 0;
    uint64_t seen = 0;
    KpAny key;
    KpAny value;
    for (; kp_map_next(map, &cursor, &key, &value); ++seen) {
      KpAny found = kp_none();
      int32_t is_there = 0;
      Require(kp_map_get(map, &key, &found, &is_there) == 0 && is_there == 1);
      Require(found.type_index == value.type_index && found.v.v_bits == value.v.v_bits);
      kp_any_release(&found);
    }
    Require(seen == map->size);
  }

  const uint8_t* data_;
  const uint8_t* end_;
  std::deque<std::string> texts_;  // addresses stay
};

// Gives its last argument back, raises when there is none.
int Echo(void*, const KpAny* args, int32_t num_args, KpAny* result) {
  if (num_args == 0) return kp_raise("TypeError", "echo: expected an argument");
  return kp_any_own(&args[num_args - 1], result);
}

void Call(const std::vector<KpAny>& args) {
  KpAny function = kp_none();
  Require(kp_function_new(nullptr, Echo, nullptr, &function) == 0);
  KpAny result = kp_none();
  if (kp_function_call(function.v.v_obj, args.data(), static_cast<int32_t>(args.size()), &result) != 0) RequireError();
  kp_any_release(&result);
  kp_any_release(&function);
}

void Store(const KpAny& value) {
  const KpHost* host = kp_host();
  const KpStorageKey key{kp_bytes("fuzz"), kp_bytes("key"), KP_SCOPE_PROCESS, 0, {0, 0}, nullptr};
  if (host->storage_set(host, &key, &value) != 0) return RequireError();
  KpAny got = kp_none();
  int32_t found = 0;
  Require(host->storage_get(host, &key, &got, &found) == 0 && found == 1);
  kp_any_release(&got);
  Require(host->storage_erase(host, &key, &found) == 0 && found == 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const int64_t live = kp_live_objects();
  {
    Maker maker(data, size);
    std::vector<KpAny> args;
    for (int count = maker.Byte() % 6; count > 0; --count) args.push_back(maker.Make(0));
    Call(args);
    for (const KpAny& arg : args) Store(arg);
    for (KpAny& arg : args) kp_any_release(&arg);
    const std::string text(reinterpret_cast<const char*>(data), size);
    KpDLDataType dtype;
    KpDLDevice device;
    if (kp_dtype_from_name(KpBytes{text.data(), text.size()}, &dtype) != 0) RequireError();
    if (kp_device_from_name(KpBytes{text.data(), text.size()}, &device) != 0) RequireError();
  }
  Require(kp_live_objects() == live);
  return 0;
}
