// A module as one host sees it: kernpack/call.h's Instance, which the aliases of kernpack/foreign/serve.h make too.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_FRAME_INSTANCE_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_FRAME_INSTANCE_H_

#include <kernpack/call.h>

#include "codegen/frame/frame.h"

namespace kernpack::frame {

inline const detail::Instance& InstanceOf(void* self) { return *detail::Instance::from(self); }

}  // namespace kernpack::frame

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_FRAME_INSTANCE_H_
