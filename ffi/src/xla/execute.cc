#include "xla/execute.h"

#include <kernpack/host/signature.h>

#include "xla/arena.h"
#include "xla/dtype.h"

namespace kernpack::xla {
namespace {

class Execution {
 public:
  Execution(const CallFrame* frame, CallSite* site, KpDLDevice device)
      : frame_(*frame), site_(*site), name_(site->function->name), device_(device) {}

  int ViewBuffers() {
    const int64_t expected_results = site_.num_mutated + site_.num_results + site_.has_workspace;
    if (frame_.arguments.size != site_.num_buffers || frame_.results.size != expected_results) {
      return kp_raise("TypeError", "%s: expected %d operands and %d results in the XLA call, got %d and %d", name_,
                      site_.num_buffers, static_cast<int>(expected_results), static_cast<int>(frame_.arguments.size),
                      static_cast<int>(frame_.results.size));
    }
    inputs_ = arena_.Take<KpDLTensor>(static_cast<size_t>(frame_.arguments.size));
    results_ = arena_.Take<KpDLTensor>(static_cast<size_t>(frame_.results.size));
    return ViewAll(frame_.arguments, inputs_) || ViewAll(frame_.results, results_) ? -1 : 0;
  }

  // In the order of the calling convention: parameters, results, workspace.
  int FillValues() {
    const size_t parameters = site_.arguments.size();
    num_values_ = static_cast<int32_t>(parameters) + site_.num_results + site_.has_workspace;
    values_ = arena_.Take<KpAny>(static_cast<size_t>(num_values_));
    auto* lists = arena_.Take<KpSequenceObject>(static_cast<size_t>(site_.num_lists));
    KpDLTensor* next = inputs_;
    KpDLTensor* aliased = results_;
    for (size_t i = 0; i < parameters; ++i) {
      const CallSite::Argument& argument = site_.arguments[i];
      if (argument.mutated && CheckAliases(next, aliased, argument.count)) return -1;
      if (argument.mutated) aliased += argument.count;
      if (argument.kind == CallSite::Argument::kConstant) {
        values_[i] = argument.constant;
      } else if (argument.kind == CallSite::Argument::kTensor) {
        values_[i] = TensorValue(next);
      } else {
        values_[i] = ListValue(lists++, next, argument.count);
      }
      next += argument.count;
    }
    KpDLTensor* result = results_ + site_.num_mutated;
    for (int32_t i = static_cast<int32_t>(parameters); i < num_values_; ++i) values_[i] = TensorValue(result++);
    return 0;
  }

  int CheckOnce() {
    if (site_.checked_shapes.load(std::memory_order_relaxed) == shapes_) return 0;
    KpSigFrame checked;
    const uint32_t* program = site_.function->program;
    const KpAny* results = values_ + site_.arguments.size();
    if (kp_sig_check(program, name_, values_, results, 0, &checked)) return -1;
    if (site_.has_workspace) {
      uint64_t bytes = 0;
      if (kp_sig_workspace_bytes(&checked, name_, &bytes)) return -1;
      const KpDLTensor& given = *values_[num_values_ - 1].v.v_tensor;
      if (given.ndim != 1 || static_cast<uint64_t>(given.shape[0]) < bytes) {
        return kp_raise("ValueError", "%s: expected a workspace of %llu bytes as the last XLA result", name_,
                        static_cast<unsigned long long>(bytes));
      }
    }
    site_.checked_shapes.store(shapes_, std::memory_order_relaxed);
    return 0;
  }

  int Call(KpSafeCall call, void* self) {
    KpAny result = kp_none();
    const int rc = call(self, values_, num_values_, &result);
    kp_any_release(&result);
    return rc;
  }

 private:
  static KpAny TensorValue(KpDLTensor* tensor) {
    KpAny value = {};
    value.type_index = KP_TYPE_DLTENSOR_PTR;
    value.v.v_tensor = tensor;
    return value;
  }

  // An ARRAY on the stack. Its items are borrowed views, so a function that keeps the list gets a TypeError, as for a
  // tensor that it tries to keep.
  KpAny ListValue(KpSequenceObject* list, KpDLTensor* tensors, int32_t count) {
    auto* items = arena_.Take<KpAny>(static_cast<size_t>(count));
    for (int32_t i = 0; i < count; ++i) items[i] = TensorValue(tensors + i);
    *list = {};
    list->header.counts = 1 | uint64_t{1} << 32;
    list->header.type_index = KP_TYPE_ARRAY;
    list->data = items;
    list->size = count;
    list->capacity = count;
    KpAny value = {};
    value.type_index = KP_TYPE_ARRAY;
    value.v.v_obj = &list->header;
    return value;
  }

  int CheckAliases(const KpDLTensor* inputs, const KpDLTensor* results, int32_t count) const {
    for (int32_t i = 0; i < count; ++i) {
      if (inputs[i].data == results[i].data) continue;
      return kp_raise("TypeError",
                      "%s: a parameter written in place needs input_output_aliases in the XLA call; call the function "
                      "through kernpack.jax",
                      name_);
    }
    return 0;
  }

  int ViewAll(const BufferList& list, KpDLTensor* out) {
    for (int64_t i = 0; i < list.size; ++i) {
      const auto& buffer = *static_cast<const Buffer*>(list.items[i]);
      const KpDLDataType dtype = ToDLPack(buffer.dtype);
      if (list.types[i] != kBufferArgument || dtype.bits == 0) {
        return kp_raise("TypeError", "%s: operand or result %d of the XLA call is no tensor (XLA element type %d)",
                        name_, static_cast<int>(i), static_cast<int>(buffer.dtype));
      }
      const int64_t rank = buffer.rank;
      auto* strides = arena_.Take<int64_t>(static_cast<size_t>(rank));
      int64_t stride = 1;
      Mix(static_cast<uint64_t>(buffer.dtype) << 8 | static_cast<uint64_t>(rank));
      for (int64_t d = rank - 1; d >= 0; --d) {
        strides[d] = stride;
        stride *= buffer.dims[d];
        Mix(static_cast<uint64_t>(buffer.dims[d]));
      }
      out[i] = {buffer.data, device_, static_cast<int32_t>(rank), dtype, buffer.dims, strides, 0};
    }
    return 0;
  }

  void Mix(uint64_t value) {
    shapes_ = (shapes_ ^ value) * 0x9E3779B97F4A7C15u;
    shapes_ ^= shapes_ >> 32;
  }

  const CallFrame& frame_;
  CallSite& site_;
  const char* name_;
  KpDLDevice device_;
  uint64_t shapes_ = 1;
  Arena arena_;
  KpDLTensor* inputs_ = nullptr;
  KpDLTensor* results_ = nullptr;
  KpAny* values_ = nullptr;
  int32_t num_values_ = 0;
};

}  // namespace

int Execute(const CallFrame* frame, CallSite* site, KpSafeCall call, void* self, KpCallContext* context) {
  Execution execution(frame, site, context->device);
  if (execution.ViewBuffers() || execution.FillValues() || execution.CheckOnce()) return -1;
  kp_call_enter(context);
  const int rc = execution.Call(call, self);
  kp_call_leave(context);
  return rc;
}

}  // namespace kernpack::xla
