// One factory run a key, even when many threads ask at once.
#ifndef KERNPACK_SRC_DEVICES_STORAGE_SINGLE_FLIGHT_H_
#define KERNPACK_SRC_DEVICES_STORAGE_SINGLE_FLIGHT_H_

#include "devices/storage/key.h"

namespace kernpack::host {

// The value of `key`, made by `factory` when absent. Other threads that ask for it wait, hearing Ctrl-C; when the factory fails the
// next of them runs its own. A factory that asks for its own key gets an error. Where threads' factories ask for each other's
// keys, the one that would close the circle makes the value itself, and everybody gets that: the same as if they had come one by one.
int GetOrInit(const KeyView& key, KpStorageFactory factory, void* context, KpAny* out);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_DEVICES_STORAGE_SINGLE_FLIGHT_H_
