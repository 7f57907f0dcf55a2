// Whose keys are whose, where different modules have one name.
#ifndef KERNPACK_SRC_DEVICES_STORAGE_OWNER_H_
#define KERNPACK_SRC_DEVICES_STORAGE_OWNER_H_

#include <string_view>

#include <kernpack/abi.h>

namespace kernpack::host {

// From now on, keys of the module whose table has its name at this address are kept under `owner`. A module's name says who asks
// for a key; the same text in two modules doesn't make them share.
void KeepKeysUnder(const char* name, std::string_view owner);

// What the keys of the module are kept under: its name, as long as it is the first of that name. Any thread; takes no lock.
std::string_view OwnerOfKeys(KpBytes module) noexcept;

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_DEVICES_STORAGE_OWNER_H_
