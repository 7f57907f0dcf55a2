/* The device of a call of a function without a contract; with a contract, the check determines it. C99. */
#ifndef KERNPACK_CALL_DEVICE_H_
#define KERNPACK_CALL_DEVICE_H_

#include <kernpack/abi.h>

/* The device of the first tensor that isn't on the CPU; the CPU if there is none. */
static inline KpDLDevice kp_call_device(const KpAny* args, int64_t count) {
  KpDLDevice device = {KP_DEVICE_CPU, 0};
  int64_t i;
  for (i = 0; i < count && device.device_type == KP_DEVICE_CPU; ++i) {
    const KpDLTensor* tensor = kp_any_tensor(&args[i]);
    if (tensor != NULL) device = tensor->device;
  }
  return device;
}

#endif /* KERNPACK_CALL_DEVICE_H_ */
