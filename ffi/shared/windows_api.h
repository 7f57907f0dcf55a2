// <windows.h> without its rarely used parts, and without macros that hide names of ours.
#ifndef KERNPACK_SHARED_WINDOWS_API_H_
#define KERNPACK_SHARED_WINDOWS_API_H_

#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
#undef Yield

#endif  // KERNPACK_SHARED_WINDOWS_API_H_
