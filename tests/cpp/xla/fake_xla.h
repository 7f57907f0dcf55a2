// An XLA runtime of a chosen API minor, small enough to look into: builds call frames, keeps states, runs tasks.
#ifndef KERNPACK_TESTS_CPP_XLA_FAKE_XLA_H_
#define KERNPACK_TESTS_CPP_XLA_FAKE_XLA_H_

#include <kernpack/host/xla.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "guests/xla/xla_ffi_abi.h"

namespace kernpack::xla {

struct Error {
  std::string message;
  ErrorCode code;
};
struct ExecutionContext {
  class FakeXla* runtime;
};

class FakeXla {
 public:
  explicit FakeXla(int32_t minor = kApiMinor);
  ~FakeXla();
  FakeXla(const FakeXla&) = delete;
  FakeXla& operator=(const FakeXla&) = delete;

  // ---- the next call ----
  FakeXla& Text(const std::string& name, const std::string& value);
  FakeXla& Int(const std::string& name, int64_t value) { return Number(name, DataType::kS64, &value, sizeof value); }
  FakeXla& Float(const std::string& name, double value) { return Number(name, DataType::kF64, &value, sizeof value); }
  FakeXla& Bool(const std::string& name, bool value) { return Number(name, DataType::kPred, &value, 1); }
  FakeXla& Ints(const std::string& name, std::vector<int64_t> values);
  FakeXla& Texts(const std::string& name, const std::vector<std::string>& values);
  FakeXla& Argument(DataType dtype, void* data, std::vector<int64_t> dims);
  FakeXla& Result(DataType dtype, void* data, std::vector<int64_t> dims);
  void ClearBuffers();

  // Each returns "" or the error's message.
  std::string Instantiate();
  std::string Execute();
  std::string Run() {
    std::string error = Instantiate();
    return error.empty() ? Execute() : error;
  }
  // The frame that Execute() passes; valid for any number of kp_xla_ffi_execute_cpu calls until the next change to the call.
  CallFrame ExecuteFrame();
  // The API version that `handler` reports, as 100 * major + minor.
  int32_t Probe(void* (*handler)(void*));

  // ---- what the handlers see and do ----
  Api& api;
  size_t frame_size = kCallFrameSize;
  ErrorCode last_code{};
  int32_t width = 4;
  std::function<void(void (*)(void*), void*)> schedule;  // empty: the pool is not available

 private:
  struct Named {
    AttributeType type;
    std::shared_ptr<void> value;
  };
  struct Dictionary {
    std::vector<AttributeType> types;
    std::vector<Span> spans;
    std::vector<Span*> names;
    std::vector<void*> values;
    Attributes attributes{};
  };

  FakeXla& Number(const std::string& name, DataType dtype, const void* value, size_t size);
  FakeXla& Add(const std::string& name, AttributeType type, std::shared_ptr<void> value);
  std::shared_ptr<Span> NewSpan(const std::string& text);
  static void Fill(const std::map<std::string, Named>& from, Dictionary* out);
  void AddBuffer(std::vector<void*>* list, DataType dtype, void* data, std::vector<int64_t> dims);
  CallFrame Frame(Stage stage);
  std::string Finish(void* error);

  ExecutionContext context_{this};
  std::map<std::string, Named> attributes_;
  std::deque<std::string> texts_;
  std::deque<std::vector<int64_t>> dims_;
  std::deque<Buffer> buffers_;
  std::vector<void*> arguments_;
  std::vector<void*> results_;
  std::vector<int32_t> types_;
  Dictionary dictionary_;
  void* state_ = nullptr;
  void (*delete_state_)(void*) = nullptr;
};

}  // namespace kernpack::xla

#endif  // KERNPACK_TESTS_CPP_XLA_FAKE_XLA_H_
