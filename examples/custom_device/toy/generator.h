// target.build.toy: Kernpack's IR, compiled for the toy.
#ifndef TOY_GENERATOR_H_
#define TOY_GENERATOR_H_

#include <kernpack/device_api.h>

#include "program.h"

namespace toy {

// KpBackend.build: (IRModule, Target) -> the module's table. `self` is the host.
int Build(void* self, const KpAny* args, int32_t count, KpAny* result);

// backend.cc: queues a kernel on the stream that this call's work goes to.
void Run(const KpHost* host, KpDLDevice device, const Kernel& kernel, const KpLaunch& launch);

}  // namespace toy

#endif  // TOY_GENERATOR_H_
