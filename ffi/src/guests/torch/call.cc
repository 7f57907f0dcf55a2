// One operator call: torch's stack in, the signature's check, results, the kernel, torch's stack out.
#include <kernpack/host/signature.h>
#include <kernpack/signature/typed_call.h>

#include "base/guard.h"
#include "base/call_flags.h"
#include "values/signature/signature.h"
#include "guests/torch/arguments.h"

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
    const signature::View contract{op_.function->program};
    return signature::TypedCall(contract, name_, *this, values_, given_out_);
  }

  // Hands the results over.
  void Give(Value* stack) {
    for (int32_t i = 0; i < num_made_; ++i) stack[i] = reinterpret_cast<uintptr_t>(made_[i]);
    num_made_ = 0;
  }

  // The interface that TypedCall requires of its caller.
  static const signature::Raiser& raiser() { return host::kHostRaiser; }
  int Check(const KpAny* args, const KpAny* destinations, KpSigFrame* frame) {
    return kp_sig_check(op_.function->program, name_, args, destinations, 0, frame);
  }
  int Resolve(KpDLDevice device, signature::Implementation* out) {
    *out = {op_.function->cpu_call, op_.function->cpu_self};
    if (device.device_type == KP_DEVICE_CPU && out->call != nullptr && !host::Watched()) return 0;
    return kp_function_resolve(op_.function, device, &out->call, &out->self);
  }
  int Lend(const KpSigFrame& frame, KpAny* lent) {
    const KpSigMemory memory = {this, MakeResult, MakeWorkspace};
    return kp_sig_lend(&frame, name_, &memory, lent);
  }

  // On a device: torch's current stream, and torch's memory for what the kernel asks of the host.
  int Enter(KpDLDevice device) {
    if (device.device_type == KP_DEVICE_CPU) return 0;
    cuda_ = FindCudaShim();
    if (cuda_ == nullptr) return -1;
    if (cuda_->create_guard(device.device_id, &guard_) != 0) {
      return RaiseTorchError(shim_, name_, "making the device current");
    }
    if (cuda_->get_current_stream(device.device_id, &context_.stream) != 0) {
      RaiseTorchError(shim_, name_, "asking for the current stream");
      cuda_->delete_guard(guard_);
      return -1;
    }
    context_.device = device;
    context_.tensor_alloc = AllocateForKernel;
    context_.tensor_alloc_context = const_cast<Shim*>(&shim_);
    kp_call_enter(&context_);
    return 0;
  }
  void Leave(KpDLDevice device) {
    if (device.device_type == KP_DEVICE_CPU) return;
    kp_call_leave(&context_);
    cuda_->delete_guard(guard_);
  }

 private:
  static int MakeResult(void* self, int32_t index, const KpDLTensor* prototype, KpAny* out) {
    Call& call = *static_cast<Call*>(self);
    Tensor& made = call.made_[index];
    if (Allocate(call.shim_, call.name_, *prototype, &made) != 0) return -1;
    call.num_made_ = index + 1;
    return call.arguments_.View(made, call.op_.params.size() + static_cast<size_t>(index), true, out);
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
  const CudaShim* cuda_ = nullptr;
  Guard guard_ = nullptr;
  KpCallContext context_ = {};
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
