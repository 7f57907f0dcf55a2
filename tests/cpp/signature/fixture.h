// One call against one signature, in a line or two of a test.
#ifndef KERNPACK_TESTS_CPP_SIGNATURE_FIXTURE_H_
#define KERNPACK_TESTS_CPP_SIGNATURE_FIXTURE_H_

#include <kernpack/host/signature.h>
#include <kernpack/signature/program.h>

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

// "<kind>: <message>" of the error raised on this thread, which is cleared.
inline std::string TakeError() {
  KpAny error = kp_none();
  kp_error_take("test", -1, &error);
  const auto* body = reinterpret_cast<const KpErrorObject*>(error.v.v_obj);
  std::string text =
      std::string(body->kind.data, body->kind.size) + ": " + std::string(body->message.data, body->message.size);
  kp_any_release(&error);
  return text;
}

// The error of parsing `text`, or "".
inline std::string ParseError(const std::string& text, const char* name = nullptr) {
  const KpSignature* signature = nullptr;
  return kp_signature_parse(KpBytes{text.data(), text.size()}, name, &signature) ? TakeError() : "";
}

constexpr KpDLDataType kF16{KP_DTYPE_FLOAT, 16, 1}, kF32{KP_DTYPE_FLOAT, 32, 1}, kF64{KP_DTYPE_FLOAT, 64, 1};
constexpr KpDLDataType kI32{KP_DTYPE_INT, 32, 1}, kI64{KP_DTYPE_INT, 64, 1}, kC64{KP_DTYPE_COMPLEX, 64, 1};
constexpr KpDLDevice kCpu{KP_DEVICE_CPU, 0}, kCuda{KP_DEVICE_CUDA, 0};

class Call {
 public:
  explicit Call(const std::string& text) {
    const KpSignature* signature = nullptr;
    if (kp_signature_parse(KpBytes{text.data(), text.size()}, nullptr, &signature)) {
      ADD_FAILURE() << TakeError();
      return;
    }
    program = kp_signature_program(signature);
  }

  Call& Add(KpAny value) {
    args.push_back(value);
    return *this;
  }
  Call& None() { return Add(kp_none()); }
  Call& Int(int64_t v) { return Add(Plain(KP_TYPE_INT, v)); }
  Call& Bool(bool v) { return Add(Plain(KP_TYPE_BOOL, v)); }
  Call& Float(double v) {
    KpAny a = Plain(KP_TYPE_FLOAT, 0);
    a.v.v_float = v;
    return Add(a);
  }
  Call& Str(const char* v) {
    KpAny a = Plain(KP_TYPE_RAW_STR, 0);
    a.v.v_c_str = v;
    return Add(a);
  }
  Call& DType(KpDLDataType v) {
    KpAny a = Plain(KP_TYPE_DTYPE, 0);
    a.v.v_dtype = v;
    return Add(a);
  }
  Call& Device(KpDLDevice v) {
    KpAny a = Plain(KP_TYPE_DEVICE, 0);
    a.v.v_device = v;
    return Add(a);
  }
  Call& Tensor(std::vector<int64_t> shape, KpDLDataType dtype = kF32, KpDLDevice device = kCpu) {
    return Add(View(std::move(shape), dtype, device));
  }
  Call& Out(std::vector<int64_t> shape, KpDLDataType dtype = kF32, KpDLDevice device = kCpu) {
    results.push_back(View(std::move(shape), dtype, device));
    return *this;
  }
  // Turns the last `count` arguments into one list argument.
  Call& List(size_t count) {
    std::vector<KpAny> items;
    for (size_t i = args.size() - count; i < args.size(); ++i) items.push_back(args[i]);
    args.resize(args.size() - count);
    KpAny list = kp_none();
    // Borrowed tensors may not be kept in a host's array, so the list is built by hand.
    lists_.push_back({});
    lists_.back().items = items;
    KpSequenceObject& body = lists_.back().body;
    body = KpSequenceObject{};
    body.header.counts = 1 | uint64_t{1} << 32;
    body.header.type_index = KP_TYPE_ARRAY;
    body.data = lists_.back().items.data();
    body.size = body.capacity = static_cast<int64_t>(count);
    list.type_index = KP_TYPE_ARRAY;
    list.v.v_obj = &body.header;
    return Add(list);
  }

  KpDLTensor& At(size_t i) { return *args[i].v.v_tensor; }
  KpDLTensor& ResultAt(size_t i) { return *results[i].v.v_tensor; }
  Call& Strides(std::vector<int64_t> strides) {
    vectors_.push_back(std::move(strides));
    At(args.size() - 1).strides = vectors_.back().data();
    return *this;
  }

  // "" or "<kind>: <message>".
  std::string Check(const char* function = "f", uint32_t flags = 0) {
    return kp_sig_check(program, function, args.data(), results.empty() ? nullptr : results.data(), flags, &frame)
               ? TakeError()
               : "";
  }
  std::vector<int64_t> ResultShape(int i) {
    EXPECT_EQ(ResultError(i), "");
    return {shape, shape + prototype.ndim};
  }
  std::string ResultError(int i) {
    wanted_ = i;
    return Lend();
  }
  // Of a call that is given none of its results.
  std::string LendError() {
    wanted_ = kAll;
    return Lend();
  }
  std::string WorkspaceError() {
    wanted_ = -1;  // every result is given
    return Lend();
  }

  const uint32_t* program = nullptr;
  std::vector<KpAny> args;
  std::vector<KpAny> results;
  KpSigFrame frame{};
  int64_t shape[KP_MAX_NDIM]{};
  KpDLTensor prototype{};
  int64_t workspace_bytes = -1;  // of the last ResultError or WorkspaceError

 private:
  static constexpr int kAll = -2;

  std::string Lend() {
    std::vector<KpAny> lent(KP_SIG_MAX_RESULTS + 1, Plain(KP_TYPE_INT, 0));
    for (int i = 0; i < kp_sig_num_results(program); ++i) {
      if (wanted_ == i || wanted_ == kAll) lent[static_cast<size_t>(i)] = kp_none();
    }
    const KpSigMemory memory = {this, NoteResult, NoteWorkspace};
    return kp_sig_lend(&frame, "f", &memory, lent.data()) ? TakeError() : "";
  }
  static int NoteResult(void* self, int32_t index, const KpDLTensor* asked, KpAny*) {
    Call& call = *static_cast<Call*>(self);
    if (call.wanted_ != kAll) {
      EXPECT_EQ(index, call.wanted_);
    }
    call.prototype = *asked;
    for (int32_t d = 0; d < asked->ndim; ++d) call.shape[d] = asked->shape[d];
    call.prototype.shape = call.shape;
    call.prototype.strides = nullptr;  // its memory ends here
    return 0;
  }
  static int NoteWorkspace(void* self, const KpDLTensor* asked, KpAny*) {
    static_cast<Call*>(self)->workspace_bytes = asked->shape[0];
    return 0;
  }

  static KpAny Plain(int32_t type_index, int64_t v) {
    KpAny a = kp_none();
    a.type_index = type_index;
    a.v.v_int = v;
    return a;
  }
  // Every tensor has an address range of its own; nothing reads the memory.
  KpAny View(std::vector<int64_t> dims, KpDLDataType dtype, KpDLDevice device) {
    vectors_.push_back(std::move(dims));
    tensors_.push_back(KpDLTensor{});
    KpDLTensor& t = tensors_.back();
    t.data = reinterpret_cast<void*>(next_address_);
    next_address_ += uintptr_t{1} << 40;
    t.device = device;
    t.ndim = static_cast<int32_t>(vectors_.back().size());
    t.dtype = dtype;
    t.shape = vectors_.back().data();
    KpAny a = Plain(KP_TYPE_DLTENSOR_PTR, 0);
    a.v.v_tensor = &t;
    return a;
  }

  struct BuiltList {
    KpSequenceObject body;
    std::vector<KpAny> items;
  };
  std::deque<std::vector<int64_t>> vectors_;
  std::deque<KpDLTensor> tensors_;
  std::deque<BuiltList> lists_;
  int32_t wanted_ = -1;  // the result that Lend() asks for
  uintptr_t next_address_ = uintptr_t{1} << 41;
};

#endif  // KERNPACK_TESTS_CPP_SIGNATURE_FIXTURE_H_
