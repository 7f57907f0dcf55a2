// For headers whose code runs on CUDA devices too, also where NVRTC compiles them, which has no C and C++ library: the namespace
// macros, integer types, `detail::stdlib` for traits, and the mark of such functions.
#ifndef KERNPACK_ON_DEVICES_H_
#define KERNPACK_ON_DEVICES_H_

#include <kernpack/config.h>

#ifdef __CUDACC_RTC__
#include <cuda/std/limits>
#include <cuda/std/type_traits>
#else
#include <limits>
#include <type_traits>
#endif

#ifdef __CUDACC__
#define KP_HOST_DEVICE_ __host__ __device__
#else
#define KP_HOST_DEVICE_
#endif

KP_NAMESPACE_BEGIN
namespace detail {

#ifdef __CUDACC_RTC__
namespace stdlib = ::cuda::std;
#else
namespace stdlib = ::std;
#endif

}  // namespace detail
KP_NAMESPACE_END

#endif  // KERNPACK_ON_DEVICES_H_
