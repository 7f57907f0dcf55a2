// Any text through the compiler, the JSON form and a check with shapes taken from the same bytes. The input is the text, a NUL,
// then bytes that pick arguments.
#include <kernpack/host/signature.h>
#include <kernpack/signature/result.h>

#include <cstring>
#include <vector>

namespace {

void DropError() {
  KpAny error = kp_none();
  kp_error_take("fuzz", -1, &error);
  kp_any_release(&error);
}

struct Arguments {
  const uint8_t* at;
  const uint8_t* end;
  int64_t shapes[KP_SIG_MAX_PARAMS + KP_SIG_MAX_RESULTS][4];
  KpDLTensor tensors[KP_SIG_MAX_PARAMS + KP_SIG_MAX_RESULTS];
  KpSequenceObject lists[KP_SIG_MAX_PARAMS + KP_SIG_MAX_RESULTS];
  KpAny items[KP_SIG_MAX_PARAMS + KP_SIG_MAX_RESULTS][4];

  uint8_t Next() { return at == end ? 0 : *at++; }

  KpAny Make(int slot) {
    static constexpr int64_t kSizes[] = {0, 1, 2, 3, 4, 8, -1, INT64_MAX};
    static constexpr KpDLDataType kDTypes[] = {
        {KP_DTYPE_FLOAT, 32, 1}, {KP_DTYPE_FLOAT, 16, 1}, {KP_DTYPE_INT, 64, 1}, {KP_DTYPE_COMPLEX, 64, 1}};
    KpAny a = kp_none();
    const uint8_t choice = Next();
    a.type_index = choice % 8;
    a.v.v_int = Next();
    if (a.type_index == KP_TYPE_DLTENSOR_PTR) {
      KpDLTensor& t = tensors[slot];
      t = KpDLTensor{reinterpret_cast<void*>(uintptr_t{4096} * (Next() + 1u)),
                     {KP_DEVICE_CPU, 0},
                     choice / 8 % 5,
                     kDTypes[Next() % 4],
                     shapes[slot],
                     nullptr,
                     0};
      for (int64_t& size : shapes[slot]) size = kSizes[Next() % 8];
      a.v.v_tensor = &t;
    }
    if (a.type_index == KP_TYPE_OPAQUE_PTR) a.v.v_ptr = nullptr;
    if (choice >= 0xf0) a = MakeList(slot);
    return a;
  }

  // Of up to 4 numbers, mostly ints.
  KpAny MakeList(int slot) {
    KpSequenceObject& list = lists[slot];
    list = KpSequenceObject{};
    list.header.type_index = KP_TYPE_ARRAY;
    list.data = items[slot];
    list.size = list.capacity = Next() % 5;
    for (KpAny& item : items[slot]) {
      const uint8_t choice = Next();
      item = kp_none();
      item.type_index = choice < 0xe0 ? KP_TYPE_INT : choice % 4;
      item.v.v_int = choice == 0xdf ? INT64_MIN : static_cast<int8_t>(Next());
    }
    KpAny a = kp_none();
    a.type_index = KP_TYPE_ARRAY;
    a.v.v_obj = &list.header;
    return a;
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const void* nul = size ? std::memchr(data, 0, size) : nullptr;
  const size_t length = nul ? static_cast<size_t>(static_cast<const uint8_t*>(nul) - data) : size;
  const KpSignature* signature = nullptr;
  if (kp_signature_parse(KpBytes{reinterpret_cast<const char*>(data), length}, nullptr, &signature)) {
    DropError();
    return 0;
  }
  KpAny json = kp_none();
  if (kp_signature_json(signature, &json)) __builtin_trap();  // what compiles has a JSON form
  kp_any_release(&json);
  const uint32_t* program = kp_signature_program(signature);
  static Arguments arguments;
  arguments.at = data + length;
  arguments.end = data + size;
  KpAny args[KP_SIG_MAX_PARAMS];
  KpAny results[KP_SIG_MAX_RESULTS];
  const int32_t params = kp_sig_num_params(program);
  const int32_t outs = kp_sig_num_results(program);
  for (int32_t i = 0; i < params; ++i) args[i] = arguments.Make(i);
  for (int32_t i = 0; i < outs; ++i) results[i] = arguments.Make(KP_SIG_MAX_PARAMS + i);
  KpSigFrame frame;
  const bool given = arguments.Next() & 1;
  if (kp_sig_check(program, "fuzz", args, given ? results : nullptr, arguments.Next() & 1, &frame)) {
    DropError();
    return 0;
  }
  // Each result by itself, as kp_sig_lend stops at the first that fails.
  const kernpack::signature::Raiser raiser{nullptr, [](void*, const char*, KpBytes) { return -1; }};
  for (int32_t i = 0; i < outs; ++i) {
    int64_t shape[KP_MAX_NDIM];
    KpDLTensor prototype;
    (void)kernpack::signature::ResultPrototype(frame, "fuzz", i, raiser, shape, &prototype);
  }
  uint64_t bytes = 0;
  (void)kernpack::signature::WorkspaceBytes(frame, "fuzz", raiser, &bytes);
  return 0;
}
