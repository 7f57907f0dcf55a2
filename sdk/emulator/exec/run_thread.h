// The only thread of a warp, which never parts or meets: a block of one thread is nothing else.
#ifndef KERNPACK_SDK_EMULATOR_EXEC_RUN_THREAD_H_
#define KERNPACK_SDK_EMULATOR_EXEC_RUN_THREAD_H_

#include "exec/warp.h"

namespace kernpack::emulator {

enum class Alone : uint8_t {
  kNeedsGroups,  // at an instruction that concerns others or ends the thread, or where something is noted of each register
  kTimeIsOver,
};

// Runs a warp with one thread until it has to stop; groups[0] says where.
Alone RunThread(Warp* warp);

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_EXEC_RUN_THREAD_H_
