// Libraries that other people loaded into this process.
#ifndef KERNPACK_SRC_BASE_LOADED_H_
#define KERNPACK_SRC_BASE_LOADED_H_

#include <string_view>

namespace kernpack::host {

// How many objects the dynamic linker has ever loaded: while it stands still, a library that was absent still is. About 50 ns.
unsigned long long LoadCount() noexcept;

// A handle on the first loaded object whose file name begins with `prefix` ("libgomp" finds "libgomp-24e2ab19.so.1.0.0"),
// kept in memory from now on; NULL when there is none. Loads nothing.
void* FindLoaded(std::string_view prefix) noexcept;

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_BASE_LOADED_H_
