// Declarations of what the host table points at; one from each line of KP_HOST_SERVICES, defined by the part that serves it.
#ifndef KERNPACK_SRC_BASE_SERVICES_H_
#define KERNPACK_SRC_BASE_SERVICES_H_

#include <kernpack/abi.h>

namespace kernpack::host::service {

#define KP_DECLARE_SERVICE(version, name, parameters) int name parameters noexcept;
KP_HOST_SERVICES(KP_DECLARE_SERVICE)
#undef KP_DECLARE_SERVICE

}  // namespace kernpack::host::service

#endif  // KERNPACK_SRC_BASE_SERVICES_H_
