// Scratch buffers kept between calls.
//
// On CPU a buffer belongs to one thread, since two threads may run the same kernel at once; it goes with the thread. On
// another device it belongs to a stream, whose order keeps two uses apart. A buffer that a larger one replaced on a device is
// kept: queued work and captured graphs may still use it.
#ifndef KERNPACK_SRC_DEVICES_WORKSPACE_WORKSPACE_H_
#define KERNPACK_SRC_DEVICES_WORKSPACE_WORKSPACE_H_

#include <functional>

#include "devices/storage/key.h"

namespace kernpack::host {

// At least `bytes` bytes for `key`, whose scope is STREAM. Returns 0, or -1 with an error raised.
int GetWorkspace(const KeyView& key, uint64_t bytes, uint32_t flags, void** out_data);
void ForEachWorkspace(const std::function<void(const KeyView&, uint64_t bytes)>& visit);
// Frees the workspaces that `match` says; no kernel may be using them.
void DropWorkspaces(const std::function<bool(const KeyView&)>& match);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_DEVICES_WORKSPACE_WORKSPACE_H_
