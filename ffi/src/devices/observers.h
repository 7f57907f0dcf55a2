// Hooks of the checking mode and of profiles into services of the host. The room `observe` fills this table, and it is read only while
// somebody checks or profiles (base/call_flags.h), so a call that nobody watches costs one load.
#ifndef KERNPACK_SRC_DEVICES_OBSERVERS_H_
#define KERNPACK_SRC_DEVICES_OBSERVERS_H_

#include <kernpack/host/host.h>

#include "devices/storage/key.h"

namespace kernpack::host {

using ParallelFor = int(int64_t n, int64_t grain, KpParallelBody body, void* context);

struct Observers {
  // While calls are checked. Each does nothing outside a checked call of this thread, and where a `served` is false what is asked for
  // has to come from elsewhere. 0, or -1 with an error raised.
  int (*tensor_alloc)(const KpDLTensor* prototype, KpAny* out, bool* served);
  int (*workspace)(const KeyView& key, uint64_t bytes, uint32_t flags, void** out_data, bool* served);
  int (*stored)(const KeyView& key, const KpAny& value);  // before it is stored
  int (*parallel_for)(ParallelFor* run, int64_t n, int64_t grain, KpParallelBody body, void* context);
  // While calls are checked or profiled: replaces what calls `function` by a stand-in, which may be kept. It calls straight on when
  // nobody watches any more.
  void (*resolved)(const KpLoadedFunction* function, KpSafeCall* call, void** self);
};

extern const Observers kObservers;  // observe/observers.cc

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_DEVICES_OBSERVERS_H_
