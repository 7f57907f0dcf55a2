#include "peer/peer_call.h"

#include <kernpack/host/host.h>

#include "peer/library.h"

namespace kernpack::host {
namespace {

// DLPackManagedTensorAllocator, over our allocation service.
int Allocate(KpDLTensor* prototype, KpDLManagedTensorVersioned** out, void* error_context,
             void (*set_error)(void* error_context, const char* kind, const char* message)) {
  KpAny tensor = kp_none();
  int rc = kp_host()->tensor_alloc(kp_host(), prototype, &tensor);
  if (rc == 0) rc = kp_tensor_to_dlpack_versioned(tensor.v.v_obj, out);
  kp_any_release(&tensor);
  if (rc == 0) return 0;
  KpAny error = kp_none();
  kp_error_take("tensor_alloc", rc, &error);
  const auto* body = reinterpret_cast<const KpErrorObject*>(error.v.v_obj);
  set_error(error_context, body->kind.data, body->message.data);
  kp_any_release(&error);
  return -1;
}

const KpDLTensor* FirstDeviceTensor(const KpAny* args, int32_t num_args) {
  for (int32_t i = 0; i < num_args; ++i) {
    const KpDLTensor* tensor = kp_any_tensor(&args[i]);
    if (tensor && tensor->device.device_type != KP_DEVICE_CPU) return tensor;
  }
  return nullptr;
}

class Environment {
 public:
  Environment(const KpAny* args, int32_t num_args) {
    Peer().set_allocator(reinterpret_cast<PeerManagedAllocator>(&Allocate), 0, &allocator_);
    const KpDLTensor* tensor = FirstDeviceTensor(args, num_args);
    void* stream = nullptr;
    if (!tensor) return;
    if (kp_host()->current_stream(kp_host(), tensor->device, &stream) != 0) {
      kp_error_clear();
      return;
    }
    device_ = tensor->device;
    Peer().set_stream(device_.device_type, device_.device_id, stream, &stream_);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment() {
    Peer().set_allocator(allocator_, 0, nullptr);
    if (device_.device_type != 0) Peer().set_stream(device_.device_type, device_.device_id, stream_, nullptr);
  }

 private:
  PeerManagedAllocator allocator_ = nullptr;
  KpDLDevice device_{0, 0};
  void* stream_ = nullptr;
};

}  // namespace

int PeerCall(void* symbol, const KpAny* args, int32_t num_args, KpAny* result) {
  const Environment environment(args, num_args);
  return reinterpret_cast<KpSafeCall>(symbol)(nullptr, args, num_args, result);
}

}  // namespace kernpack::host
