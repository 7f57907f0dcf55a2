// Compiled programs on disk: a cache, never the only copy. What cannot be read, or is damaged, is compiled again.
#ifndef KERNPACK_SDK_DEVICE_OPENCL_BINARY_CACHE_H_
#define KERNPACK_SDK_DEVICE_OPENCL_BINARY_CACHE_H_

#include <string>
#include <string_view>
#include <vector>

#include "platforms.h"

namespace kernpack::opencl {

// Names what a compilation depends on: source, options, and the device with its driver's and its own version.
std::string CacheKey(const DeviceFacts& device, std::string_view source, std::string_view options);

// The program stored under a key; empty when there is none, or what is there is not what was written.
std::vector<unsigned char> ReadCache(const std::string& key);
// Replaces it in one step. A folder that cannot be written to is no error: the next process compiles again.
void WriteCache(const std::string& key, const std::vector<unsigned char>& program);

}  // namespace kernpack::opencl

#endif  // KERNPACK_SDK_DEVICE_OPENCL_BINARY_CACHE_H_
