// Which launches come after which others: by their stream, by events, or because the host waited. The emulated device runs work in some
// order of its own; a GPU may take any that these allow.
#ifndef KERNPACK_SDK_EMULATOR_DRIVER_LAUNCH_ORDER_H_
#define KERNPACK_SDK_EMULATOR_DRIVER_LAUNCH_ORDER_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "exec/block.h"

namespace kernpack::cuda {

struct StreamOpaque;
struct Work;

// Of each stream, by its number, the work until which something has waited for it.
using Awaited = std::map<uint64_t, uint64_t>;

// The work after which a stream's comes, and its last launches.
struct StreamOrder {
  struct Launched {
    uint64_t sequence = 0;
    emulator::EarlierLaunch launch;
  };
  uint64_t number = 0;
  uint64_t running = 0;  // the work that runs
  Awaited after;
  std::deque<Launched> launches;
};

// The work that the host has waited for, for work that it queues now.
std::shared_ptr<const Awaited> HostAwaited();
// The host has waited for the stream's work until that one.
void HostWaited(const StreamOpaque& stream, uint64_t sequence);
// The stream's next work begins.
void BeginWork(StreamOpaque* stream, const Work& work);
// The work touches memory by itself, as copies and fills do.
void TouchMemory(const emulator::Region& region, uint64_t address, uint64_t bytes, bool writes);
// The work has ended. The race that it was, in words; empty: none.
std::string EndWork();
// A launch by the work that runs: its number, and the launches that nothing orders before it.
void OrderLaunch(std::shared_ptr<const emulator::Program> program, emulator::Launch* launch);
// Forgets what the host waited for, and the numbers of streams.
void ForgetOrder();

}  // namespace kernpack::cuda

#endif  // KERNPACK_SDK_EMULATOR_DRIVER_LAUNCH_ORDER_H_
