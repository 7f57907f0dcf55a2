#include "codegen/frame/arguments.h"

#include "codegen/frame/instance.h"
#include "codegen/frame/launch.h"

using kernpack::frame::InstanceOf;

int kp_frame_unpack(void* self, const KpFrameFunction* function, const KpAny* args, int32_t n, uint64_t* slots) {
  return kp_unpack_on_cpu(InstanceOf(self).host, function, args, n, slots);
}

int kp_frame_unpack_device(void* self, const KpFrameFunction* function, const KpFrameCode* code, const KpAny* args,
                           int32_t n, uint64_t* slots, KpKernelArg* memory, KpFrameCall* call) {
  KpPlace place = {{code->device_type, 0}, nullptr};
  if (kp_unpack(InstanceOf(self).host, function, args, n, &place, slots)) return -1;
  *call = {self, code, place.device};
  // There a tensor is given by its handle and an offset, not by an address.
  for (int32_t i = 0; i < n; ++i) {
    const KpFrameParam& p = function->params[i];
    if (p.rank >= 0) {
      const KpDLTensor* t = kp_any_tensor(&args[i]);
      memory[i] = {KP_ARG_MEMORY, p.bits / 8u, t->data, t->byte_offset};
      *slots = reinterpret_cast<uint64_t>(&memory[i]);
    }
    slots += p.rank + (p.rank < 0 ? 2 : 1);
  }
  return 0;
}

int kp_frame_extent(void* self, const KpFrameFunction* function, int32_t param, int32_t axis, int64_t got,
                    int64_t expected) {
  return kp_check_extent(InstanceOf(self).host, function->name, function->params[param].name, axis, got, expected);
}
