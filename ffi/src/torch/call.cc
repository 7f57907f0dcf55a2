// One operator call: torch's stack in, the signature's check, results, the kernel, torch's stack out.
#include <kernpack/host/signature.h>

#include "base/guard.h"
#include "check/mode.h"
#include "torch/allocate.h"
#include "torch/arguments.h"

namespace kernpack::torch {
namespace {

class Call {
 public:
  Call(const Op& op, const Shim& shim) : op_(op), shim_(shim), name_(op.function->name), arguments_(op, shim) {}
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() {
    for (int32_t i = 0; i < num_made_; ++i) shim_.aoti_torch_delete_tensor_object(made_[i]);
    kp_any_release(&scratch_);
  }

  void Take(const Value* stack, size_t num_inputs) {
    given_out_ = num_inputs > op_.params.size();
    arguments_.Take(stack, num_inputs);
  }

  int Run() {
    const size_t params = op_.params.size();
    const size_t results = static_cast<size_t>(op_.num_results);
    values_ = arguments_.arena().Take<KpAny>(params + results + 1);
    for (size_t i = 0; i < params; ++i) {
      if (arguments_.Parameter(i, &values_[i]) != 0) return -1;
    }
    if (!given_out_) made_ = arguments_.arena().Take<Tensor>(results);
    for (size_t i = 0; i < results; ++i) {
      values_[params + i] = kp_none();
      if (given_out_ && arguments_.Destination(i, &values_[params + i]) != 0) return -1;
    }
    const KpAny* destinations = given_out_ ? values_ + params : nullptr;
    if (kp_sig_check(op_.function->program, name_, values_, destinations, 0, &frame_) != 0) return -1;
    if (frame_.device.device_type > KP_DEVICE_CPU) return RunOnDevice();
    KpSafeCall call = op_.function->cpu_call;
    void* self = op_.function->cpu_self;
    if ((call == nullptr || host::check::Checking()) &&
        kp_function_resolve(op_.function, {KP_DEVICE_CPU, 0}, &call, &self) != 0) {
      return -1;
    }
    return RunHere(call, self);
  }

  // Hands the results over.
  void Give(Value* stack) {
    for (int32_t i = 0; i < num_made_; ++i) stack[i] = reinterpret_cast<uintptr_t>(made_[i]);
    num_made_ = 0;
  }

 private:
  int RunHere(KpSafeCall call, void* self) {
    const KpSigMemory memory = {this, MakeResult, MakeWorkspace};
    if (kp_sig_lend(&frame_, name_, &memory, values_ + op_.params.size()) != 0) return -1;
    KpAny nothing = kp_none();
    const int count = static_cast<int>(op_.params.size()) + op_.num_results + op_.has_workspace;
    const int rc = call(self, values_, count, &nothing);
    kp_any_release(&nothing);
    return rc;
  }

  int RunOnDevice() {
    KpSafeCall call = nullptr;
    void* self = nullptr;
    if (kp_function_resolve(op_.function, frame_.device, &call, &self) != 0) return -1;
    const CudaShim* cuda = FindCudaShim();
    if (cuda == nullptr) return -1;
    Guard guard = nullptr;
    KpCallContext context = {};
    if (cuda->create_guard(frame_.device.device_id, &guard) != 0) {
      return RaiseTorchError(shim_, name_, "making the device current");
    }
    int rc = -1;
    if (cuda->get_current_stream(frame_.device.device_id, &context.stream) != 0) {
      RaiseTorchError(shim_, name_, "asking for the current stream");
    } else {
      context.device = frame_.device;
      context.tensor_alloc = AllocateForKernel;
      context.tensor_alloc_context = const_cast<Shim*>(&shim_);
      kp_call_enter(&context);
      rc = RunHere(call, self);
      kp_call_leave(&context);
    }
    cuda->delete_guard(guard);
    return rc;
  }

  static int MakeResult(void* self, int32_t index, const KpDLTensor* prototype, KpAny* out) {
    Call& call = *static_cast<Call*>(self);
    Tensor& made = call.made_[index];
    if (Allocate(call.shim_, call.name_, *prototype, &made) != 0) return -1;
    call.num_made_ = index + 1;
    return call.arguments_.View(made, true, out);
  }

  static int MakeWorkspace(void* self, const KpDLTensor* prototype, KpAny* out) {
    Call& call = *static_cast<Call*>(self);
    const int rc = AllocateForKernel(const_cast<Shim*>(&call.shim_), prototype, out);
    call.scratch_ = *out;
    return rc;
  }

  const Op& op_;
  const Shim& shim_;
  const char* name_;
  Arguments arguments_;
  bool given_out_ = false;
  KpAny* values_ = nullptr;
  KpSigFrame frame_;
  Tensor* made_ = nullptr;
  int32_t num_made_ = 0;
  KpAny scratch_ = kp_none();
};

}  // namespace

int CallOp(const Op& op, Value* stack, uint64_t num_inputs, uint64_t num_outputs) noexcept {
  (void)num_outputs;  // follows from which of the two schemas num_inputs belongs to
  return host::Guard(op.function->name, [&] {
    const Shim* shim = FindShim();
    if (shim == nullptr) return -1;
    Call call(op, *shim);
    call.Take(stack, num_inputs);
    if (call.Run() != 0) return -1;
    call.Give(stack);
    return 0;
  });
}

}  // namespace kernpack::torch
