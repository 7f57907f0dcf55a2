// Tables of device services, filled from the one list of them.
#ifndef KERNPACK_BACKENDS_SERVICE_TABLE_H_
#define KERNPACK_BACKENDS_SERVICE_TABLE_H_

#include <kernpack/device_api.h>
#include "shared/bytes.h"

#include <type_traits>

namespace kernpack::device_table {

using host::View;

template <class... Given>
using Service = int (*)(const KpDeviceApi*, Given...);

// `Services` has a static member by the name of each service that it serves: a function, or what converts to one.
template <class Services>
void FillServices(KpDeviceApi* table) {
#define KP_FILL_SERVICE(minor, needs, name, parameters) \
  if constexpr (requires { Services::name; }) table->KP_SERVICE_FIELD_(minor, name) = Services::name;
  KP_DEVICE_SERVICES(KP_FILL_SERVICE)
#undef KP_FILL_SERVICE
}

// A handle that a function gives by its own type; the caller gets it as the call ends.
template <class T>
struct Made {
  void** out;
  T made = nullptr;
  ~Made() { *out = made; }
  operator T*() { return &made; }
};

// A service's parameter as the function behind the service takes it.
template <class To, class From>
decltype(auto) Passed(From from) {
  if constexpr (std::is_same_v<From, KpBytes>) {
    return View(from);
  } else if constexpr (std::is_reference_v<To>) {
    return (*from);
  } else if constexpr (std::is_same_v<From, void**> && !std::is_same_v<To, void**>) {
    return Made<std::remove_pointer_t<To>>{from};
  } else {
    return static_cast<To>(from);
  }
}

}  // namespace kernpack::device_table

#endif  // KERNPACK_BACKENDS_SERVICE_TABLE_H_
