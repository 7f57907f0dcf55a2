// Compiled programs on disk: a cache, never the only copy. What cannot be read, or is damaged, is compiled again.
#ifndef KERNPACK_BACKENDS_OPENCL_BINARY_CACHE_H_
#define KERNPACK_BACKENDS_OPENCL_BINARY_CACHE_H_

#include <string>
#include <string_view>
#include <vector>

#include "platforms.h"

namespace kernpack::opencl {

// Names what a compilation depends on: source, options, the device with its driver's, its platform's and its own version, and
// the environment that compilers of OpenCL read. "" where that is not all: the source includes files, which nothing lists.
std::string CacheKey(const DeviceFacts& device, std::string_view source, std::string_view options);

// The program stored under a key; empty when there is none, what is there is not what was written, or others could have
// written it: what is read here is run. No key, no program.
std::vector<unsigned char> ReadCache(const std::string& key);
// Replaces it in one step, in a folder of this user alone. A folder that can't be written to isn't an error: the next process compiles again.
void WriteCache(const std::string& key, const std::vector<unsigned char>& program);

}  // namespace kernpack::opencl

#endif  // KERNPACK_BACKENDS_OPENCL_BINARY_CACHE_H_
