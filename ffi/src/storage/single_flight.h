// One factory run a key, even when many threads ask at once.
#ifndef KERNPACK_SRC_STORAGE_SINGLE_FLIGHT_H_
#define KERNPACK_SRC_STORAGE_SINGLE_FLIGHT_H_

#include "storage/key.h"

namespace kernpack::host {

// The value of `key`, made by `factory` when absent. Other threads that ask for it wait; when the factory fails the next of
// them runs its own. A factory that asks for its own key, directly or round a circle of threads, gets an error.
int GetOrInit(const KeyView& key, KpStorageFactory factory, void* context, KpAny* out);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_STORAGE_SINGLE_FLIGHT_H_
