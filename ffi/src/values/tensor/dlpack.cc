// DLPack in and out, both protocols.
#include <kernpack/host/host.h>

#include "base/guard.h"
#include "values/object/object.h"
#include "values/tensor/dltensor.h"
#include "values/tensor/tensor_object.h"

namespace kernpack::host {
namespace {

constexpr uint32_t kMajor = 1;
constexpr uint32_t kMinor = 1;
constexpr uint64_t kCopied = 2;

template <class Managed>
void ReleaseManaged(void* context) {
  auto* managed = static_cast<Managed*>(context);
  if (managed->deleter != nullptr) managed->deleter(managed);
}

template <class Managed>
int Import(Managed* managed, const char* what, uint64_t flags, KpAny* out) {
  if (kp_dltensor_validate(&managed->tensor, what) != 0) return -1;
  TensorBody* body = NewTensor(managed->tensor);
  body->flags = flags;
  body->context = managed;
  body->release = ReleaseManaged<Managed>;
  SetObject(out, body);
  return 0;
}

template <class Managed>
void DeleteExport(Managed* managed) {
  kp_release(static_cast<KpObject*>(managed->manager));
  FreeObject(managed);
}

template <class Managed>
Managed* Export(KpObject* tensor) {
  auto* managed = static_cast<Managed*>(std::calloc(1, sizeof(Managed)));
  if (managed == nullptr) throw std::bad_alloc();
  CountLive(1);
  kp_retain(tensor);
  managed->tensor = reinterpret_cast<KpTensorObject*>(tensor)->tensor;
  managed->manager = tensor;
  managed->deleter = DeleteExport<Managed>;
  return managed;
}

int CheckTensor(const KpObject* tensor, const char* who) {
  if (tensor != nullptr && tensor->type_index == KP_TYPE_TENSOR) return 0;
  return kp_raise("TypeError", "%s: expected a Tensor, got %s", who,
                  tensor ? kp_type_name(tensor->type_index) : "NULL");
}

}  // namespace
}  // namespace kernpack::host

using namespace kernpack::host;

int kp_tensor_from_dlpack(KpDLManagedTensor* managed, KpAny* out) {
  return Guard("kp_tensor_from_dlpack", [&] {
    if (managed == nullptr) return kp_raise("ValueError", "DLPack: the managed tensor is NULL");
    return Import(managed, "DLPack", 0, out);
  });
}

int kp_tensor_from_dlpack_versioned(KpDLManagedTensorVersioned* managed, KpAny* out) {
  return Guard("kp_tensor_from_dlpack_versioned", [&] {
    if (managed == nullptr) return kp_raise("ValueError", "DLPack: the managed tensor is NULL");
    if (managed->version.major != kMajor) {
      // Only version, manager and deleter may be read here: the rest may lie elsewhere in another major.
      return kp_raise("BufferError",
                      "DLPack: the producer speaks version %u.%u; expected major version %u. Ask it for "
                      "__dlpack__(max_version=(%u, %u)) or upgrade kernpack",
                      managed->version.major, managed->version.minor, kMajor, kMajor, kMinor);
    }
    return Import(managed, "DLPack", managed->flags, out);
  });
}

int kp_tensor_to_dlpack(KpObject* tensor, KpDLManagedTensor** out) {
  return Guard("kp_tensor_to_dlpack", [&] {
    if (CheckTensor(tensor, "kp_tensor_to_dlpack") != 0) return -1;
    if (TensorFlags(tensor) & kReadOnly) {
      return kp_raise("BufferError",
                      "the tensor is read-only, which the unversioned DLPack protocol cannot say; ask with "
                      "max_version=(1, 0) or newer, or copy it");
    }
    *out = Export<KpDLManagedTensor>(tensor);
    return 0;
  });
}

int kp_tensor_to_dlpack_versioned(KpObject* tensor, KpDLManagedTensorVersioned** out) {
  return Guard("kp_tensor_to_dlpack_versioned", [&] {
    if (CheckTensor(tensor, "kp_tensor_to_dlpack_versioned") != 0) return -1;
    *out = Export<KpDLManagedTensorVersioned>(tensor);
    (*out)->version = {kMajor, kMinor};
    (*out)->flags = TensorFlags(tensor) & ~kCopied;
    return 0;
  });
}
