// Copies between tensors of any two devices: directly where a backend can, else through the host.
#include <cstdlib>
#include <memory>

#include <kernpack/host/device.h>
#include <kernpack/signature/overlap.h>

#include "base/guard.h"
#include "devices/call/context.h"
#include "devices/box.h"
#include "devices/registry.h"
#include "values/tensor/dltensor.h"

namespace kernpack::host {
namespace {

KpMemory Place(const KpDLTensor& tensor) { return {tensor.data, tensor.byte_offset, tensor.device}; }

KpMemory Moved(const KpMemory& place, int64_t bytes) {
  return {place.handle, place.offset + static_cast<uint64_t>(bytes), place.device};
}

bool OnHost(KpDLDevice device) { return device.device_type == KP_DEVICE_CPU; }

// Memory of the host for data on its way.
struct Staging {
  explicit Staging(uint64_t bytes) : data(std::malloc(bytes), &std::free) {
    if (data == nullptr) throw std::bad_alloc();
  }
  KpMemory place() const { return {data.get(), 0, {KP_DEVICE_CPU, 0}}; }
  std::unique_ptr<void, decltype(&std::free)> data;
};

// One backend does it; `device` is whose current stream it is queued on.
class DirectCopy {
 public:
  DirectCopy(const KpDeviceApi* api, KpDLDevice device) : api_(api), stream_(CurrentStream(device)) {}

  int Run(const KpMemory& from, const KpMemory& to, const Box& box) const {
    if (box.is_run()) return api_->copy(api_, &from, &to, box.bytes(), stream_);
    int32_t done = 0;
    const KpStridedCopy view = box.view();
    if (api_->copy_strided(api_, &from, &to, &view, stream_, &done) != 0) return -1;
    return done != 0 ? 0 : Piecewise(from, to, box);
  }

 private:
  // Through packed memory of the host where one side is the host's; else run by run.
  int Piecewise(const KpMemory& from, const KpMemory& to, const Box& box) const {
    const KpDeviceApi* cpu = DeviceApi(KP_DEVICE_CPU);
    if (OnHost(from.device) && box.to_is_run()) {
      const Staging packed(box.bytes());
      const Box pack = box.WithPackedTo();
      if (DirectCopy(cpu, from.device).Run(from, packed.place(), pack) != 0) return -1;
      const KpMemory staged = packed.place();
      return api_->copy(api_, &staged, &to, box.bytes(), stream_);
    }
    if (OnHost(to.device) && box.from_is_run()) {
      const Staging packed(box.bytes());
      const KpMemory staged = packed.place();
      if (api_->copy(api_, &from, &staged, box.bytes(), stream_) != 0) return -1;
      return DirectCopy(cpu, to.device).Run(staged, to, box.WithPackedFrom());
    }
    return box.ForEachRun([&](int64_t from_offset, int64_t to_offset, uint64_t bytes) {
      const KpMemory source = Moved(from, from_offset);
      const KpMemory target = Moved(to, to_offset);
      return api_->copy(api_, &source, &target, bytes, stream_);
    });
  }

  const KpDeviceApi* api_;
  void* stream_;
};

// The backend that copies between two devices directly; NULL when none does. Returns 0, or -1 with an error raised.
int FindPeerCopy(KpDLDevice from, KpDLDevice to, const KpDeviceApi* from_api, const KpDeviceApi* to_api,
                 const KpDeviceApi** out) {
  for (const KpDeviceApi* api : {from_api, to_api}) {
    int32_t can = 0;
    if (api->can_copy(api, from, to, &can) != 0) return -1;
    if (can != 0) {
      *out = api;
      return 0;
    }
  }
  *out = nullptr;
  return 0;
}

// Earlier work on the target's stream may use what is overwritten, and later work there reads it; the copy itself is queued
// on one of the two.
int PeerCopy(const KpDeviceApi* api, const KpDeviceApi* from_api, const KpDeviceApi* to_api, const KpMemory& from,
             const KpMemory& to, const Box& box) {
  const KpDLDevice queued = api == from_api ? from.device : to.device;
  if (api == from_api && to_api->stream_sync(to_api, to.device, CurrentStream(to.device)) != 0) return -1;
  if (api != from_api && from_api->stream_sync(from_api, from.device, CurrentStream(from.device)) != 0) return -1;
  if (DirectCopy(api, queued).Run(from, to, box) != 0) return -1;
  return api->stream_sync(api, queued, CurrentStream(queued));
}

int Bounce(const KpDeviceApi* from_api, const KpDeviceApi* to_api, const KpMemory& from, const KpMemory& to,
           const Box& box) {
  const Staging staging(box.bytes());
  if (DirectCopy(from_api, from.device).Run(from, staging.place(), box.WithPackedTo()) != 0) return -1;
  return DirectCopy(to_api, to.device).Run(staging.place(), to, box.WithPackedFrom());
}

// True if the two tensors share a byte, or may.
bool Overlap(const KpDLTensor& from, const KpDLTensor& to) {
  if (!SameDevice(from.device, to.device)) return false;
  const Backend* backend = KnownBackend(from.device.device_type);
  const bool addresses = backend != nullptr && (backend->api.table.flags & KP_DEVICE_ADDRESSES) != 0;
  if (from.data != to.data && !addresses) return false;
  const signature::Range a = signature::GetRange(from);
  const signature::Range b = signature::GetRange(to);
  return a.begin < b.end && b.begin < a.end && signature::SharedBytes(from, a, to, b) != signature::Sharing::kNone;
}

int CopyBox(const KpMemory& from, const KpMemory& to, const Box& box, bool overlap) {
  const KpDeviceApi* from_api = DeviceApi(from.device.device_type);
  const KpDeviceApi* to_api = from_api != nullptr ? DeviceApi(to.device.device_type) : nullptr;
  if (to_api == nullptr) return -1;
  if (overlap) return Bounce(from_api, to_api, from, to, box);
  if (OnHost(from.device)) return DirectCopy(to_api, to.device).Run(from, to, box);
  if (OnHost(to.device) || SameDevice(from.device, to.device)) {
    return DirectCopy(from_api, from.device).Run(from, to, box);
  }
  const KpDeviceApi* direct = nullptr;
  if (FindPeerCopy(from.device, to.device, from_api, to_api, &direct) != 0) return -1;
  if (direct != nullptr) return PeerCopy(direct, from_api, to_api, from, to, box);
  return Bounce(from_api, to_api, from, to, box);
}

int CheckPair(const KpDLTensor& from, const KpDLTensor& to) {
  if (from.dtype.code != to.dtype.code || from.dtype.bits != to.dtype.bits || from.dtype.lanes != to.dtype.lanes) {
    return kp_raise("TypeError", "kp_copy: expected two tensors of one dtype, got %s and %s", kp_dtype_name(from.dtype),
                    kp_dtype_name(to.dtype));
  }
  bool same = from.ndim == to.ndim;
  for (int32_t i = 0; same && i < from.ndim; ++i) same = from.shape[i] == to.shape[i];
  if (!same) return kp_raise("ValueError", "kp_copy: expected two tensors of one shape, got different ones");
  if (ElementBits(from.dtype) % 8 != 0 && !(IsCompact(from) && IsCompact(to))) {
    return kp_raise("ValueError", "kp_copy: elements of %s share bytes, so both tensors must be compact",
                    kp_dtype_name(from.dtype));
  }
  return 0;
}

// A compact tensor as one row of bytes.
KpDLTensor AsBytes(const KpDLTensor& tensor, int64_t* bytes) {
  *bytes = NumBytes(tensor);
  return {tensor.data, tensor.device, 1, {KP_DTYPE_UINT, 8, 1}, bytes, nullptr, tensor.byte_offset};
}

bool SameMemory(const KpDLTensor& from, const KpDLTensor& to) {
  return SameDevice(from.device, to.device) && from.data == to.data && from.byte_offset == to.byte_offset &&
         IsCompact(from) && IsCompact(to);
}

}  // namespace
}  // namespace kernpack::host

using namespace kernpack::host;

int kp_copy(const KpDLTensor* from, const KpDLTensor* to) {
  return Guard("kp_copy", [&] {
    if (kp_dltensor_validate(from, "kp_copy: the source") != 0) return -1;
    if (kp_dltensor_validate(to, "kp_copy: the target") != 0) return -1;
    if (CheckPair(*from, *to) != 0) return -1;
    if (NumElements(*from) == 0 || SameMemory(*from, *to)) return 0;
    const bool overlap = Overlap(*from, *to);
    if (!IsCompact(*from) || !IsCompact(*to)) return CopyBox(Place(*from), Place(*to), Box(*from, *to), overlap);
    int64_t bytes = 0;
    return CopyBox(Place(*from), Place(*to), Box(AsBytes(*from, &bytes), AsBytes(*to, &bytes)), overlap);
  });
}
