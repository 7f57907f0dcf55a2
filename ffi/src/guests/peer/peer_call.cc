#include "guests/peer/peer_module.h"

#include <kernpack/host/host.h>

#include <unordered_set>

#include "base/guard.h"
#include "guests/peer/library.h"

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

// Looks for objects that the peer's library doesn't know in one argument, in what it contains too.
class ForeignArgument {
 public:
  ForeignArgument(const char* who, int32_t position) : who_(who), position_(position) {}

  int Check(const KpAny& value, int depth = 0) {
    const int32_t index = value.type_index;
    if (index == KP_TYPE_ARRAY || index == KP_TYPE_LIST || index == KP_TYPE_MAP || index == KP_TYPE_DICT) {
      return CheckItems(value, depth);
    }
    if (index < KP_TYPE_DYNAMIC_OURS) return 0;
    return kp_raise(
        "TypeError",
        "%s: argument %d: expected a value that apache-tvm-ffi knows, got an object of the class %s, which is "
        "registered with Kernpack only: pass what the function needs of it",
        who_, position_, kp_type_name(index));
  }

 private:
  // Lists and dicts may hold themselves, and deep ones may hold one container many times: those are looked at once.
  static constexpr int kShallow = 8;
  static constexpr int kMaxDepth = 1000;

  int CheckItems(const KpAny& value, int depth) {
    if (depth > kShallow && !seen_.insert(value.v.v_obj).second) return 0;
    if (depth > kMaxDepth) {
      return kp_raise("ValueError", "%s: argument %d: expected containers nested at most %d deep, got more", who_,
                      position_, kMaxDepth);
    }
    if (value.type_index == KP_TYPE_ARRAY || value.type_index == KP_TYPE_LIST) {
      const auto* sequence = reinterpret_cast<const KpSequenceObject*>(value.v.v_obj);
      for (int64_t i = 0; i < sequence->size; ++i) {
        if (Check(sequence->data[i], depth + 1) != 0) return -1;
      }
      return 0;
    }
    const auto* map = reinterpret_cast<const KpMapObject*>(value.v.v_obj);
    uint64_t cursor = 0;
    KpAny key, item;
    while (kp_map_next(map, &cursor, &key, &item) == 1) {
      if (Check(key, depth + 1) != 0 || Check(item, depth + 1) != 0) return -1;
    }
    return 0;
  }

  const char* who_;
  int32_t position_;
  std::unordered_set<const KpObject*> seen_;
};

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

int CheckForPeer(const char* who, const KpAny* args, int32_t num_args) {
  for (int32_t i = 0; i < num_args; ++i) {
    if (args[i].type_index < KP_TYPE_ARRAY) continue;
    if (Guard(who, [&] { return ForeignArgument(who, i).Check(args[i]); }) != 0) return -1;
  }
  return 0;
}

int PeerCallPlain(void* function, const KpAny* args, int32_t num_args, KpAny* result) {
  const auto* peer = static_cast<const PeerFunction*>(function);
  if (CheckForPeer(peer->name, args, num_args) != 0) return -1;
  return peer->call(nullptr, args, num_args, result);
}

int PeerCall(void* function, const KpAny* args, int32_t num_args, KpAny* result) {
  const auto* peer = static_cast<const PeerFunction*>(function);
  if (CheckForPeer(peer->name, args, num_args) != 0) return -1;
  const Environment environment(args, num_args);
  return peer->call(nullptr, args, num_args, result);
}

int PeerCallObject(void* function, const KpAny* args, int32_t num_args, KpAny* result) {
  if (CheckForPeer("a function of apache-tvm-ffi", args, num_args) != 0) return -1;
  const Environment environment(args, num_args);
  return static_cast<KpFunctionObject*>(function)->call(function, args, num_args, result);
}

}  // namespace kernpack::host
