// Services that the table of a foreign host lacks, for generated C, which calls the services of its host by itself.
#include <kernpack/foreign/parallel.h>
#include <kernpack/foreign/workspace.h>

#include "codegen/frame/frame.h"

int kp_frame_foreign_workspace(const KpHost* host, const KpStorageKey* key, uint64_t bytes, uint32_t flags,
                               void** out_data) {
  return kernpack::detail::foreign_workspace(host, key->key, key->device, bytes, flags, out_data);
}

int kp_frame_foreign_parallel_for(const KpHost* host, int64_t n, int64_t grain, KpParallelBody body, void* context) {
  return kernpack::detail::foreign_parallel_for(host, n, grain, body, context);
}
