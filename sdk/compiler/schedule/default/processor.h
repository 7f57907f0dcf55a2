// The attributes of a Target that default schedules use.
#ifndef KERNPACK_SDK_COMPILER_SCHEDULE_DEFAULT_PROCESSOR_H_
#define KERNPACK_SDK_COMPILER_SCHEDULE_DEFAULT_PROCESSOR_H_

#include <kernpack/sdk/ir/stmt.h>
#include <kernpack/sdk/target.h>

namespace kernpack::sdk::ir {

struct Processor {
  // kItems: OpenCL where a work item is a core (PoCL on a CPU); kGpu: where many of them run in lock step.
  enum Kind { kCpu, kItems, kGpu, kOther } kind = kOther;
  int64_t vector_bytes = 16;
  Tail tail = Tail::kPeeled;  // of vectorized loops
  int64_t threads = 256;  // a block
  int64_t shared_bytes = 16384;
  // In one instruction: two products of numbers of 16 bits, or four of signed and unsigned bytes, and their sum.
  bool multiplies_pairs = false, multiplies_bytes = false;

  // Elements of this size in a vector.
  int Lanes(int bits) const;
};
Processor GetProcessor(const Target& target);

// Fewest elements that a thread should be given.
inline constexpr int64_t kGrain = 16384;

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_SCHEDULE_DEFAULT_PROCESSOR_H_
