// The target kinds that Kernpack has generators for: the first word of a target. C++17, header-only.
#ifndef KERNPACK_SHARED_TARGET_KINDS_H_
#define KERNPACK_SHARED_TARGET_KINDS_H_

#include <string_view>

namespace kernpack::host {

inline constexpr const char* kLlvmKind = "llvm";
inline constexpr const char* kCKind = "c";
inline constexpr const char* kCudaKind = "cuda";
inline constexpr const char* kOpenClKind = "opencl";

// Kinds whose code runs on the CPU, best first; NULL-terminated.
inline constexpr const char* kCpuKinds[] = {kLlvmKind, kCKind, nullptr};
inline bool IsCpuKind(std::string_view kind) { return kind == kLlvmKind || kind == kCKind; }

}  // namespace kernpack::host

#endif  // KERNPACK_SHARED_TARGET_KINDS_H_
