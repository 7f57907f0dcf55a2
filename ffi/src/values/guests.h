// The host's calls of apache-tvm-ffi's library, whose modules, functions and errors may be in the process beside ours. The room
// `guests` serves it; everything below knows this table alone. Unless a line says so, nothing here loads the library.
#ifndef KERNPACK_SRC_VALUES_GUESTS_H_
#define KERNPACK_SRC_VALUES_GUESTS_H_

#include <set>
#include <string>
#include <string_view>

#include <kernpack/host/host.h>

namespace kernpack::host {

struct Library;  // modules/library.h

struct Guests {
  // True if a libtvm_ffi of a supported version is in the process.
  bool (*loaded)() noexcept;
  // Moves the error in this thread's slot of libtvm_ffi to *out (an ERROR, owned); false when it has none or is not loaded.
  bool (*take_error)(KpAny* out) noexcept;
  // Puts `error` (borrowed; NULL clears) into that slot; does nothing when the library is not loaded.
  void (*set_error)(KpObject* error) noexcept;
  // Objects of types that were registered here only: the library ends the process when it looks for their names. 0, or -1 with
  // TypeError raised.
  int (*check_arguments)(const char* who, const KpAny* args, int32_t num_args);
  // Its global function of that name as a FUNCTION of ours (owned), or NONE. 0, or -1 raised.
  int (*global_function)(KpBytes name, KpAny* out);
  // The names of its global functions; none when it is not loaded or does not tell.
  std::set<std::string> (*global_names)();
  // Loads the library where it has to, for the module at `path`: 0, or -1 with ImportError raised. Calls must not overlap.
  int (*require)(const char* path);
  // Makes a module of the functions of a file that was built with its SDK. contracts: those of kp_module_load_contracts, or empty. 0, or
  // -1 raised.
  int (*build_module)(const Library& library, std::string_view contracts, KpLoadedModule* out);
};

extern const Guests kGuests;  // guests/guests.cc

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_VALUES_GUESTS_H_
