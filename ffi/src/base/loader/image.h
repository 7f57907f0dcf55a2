// Reads a shared object's bytes before any of its code runs.
#ifndef KERNPACK_SRC_BASE_LOADER_IMAGE_H_
#define KERNPACK_SRC_BASE_LOADER_IMAGE_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kernpack::host {

struct ImageSymbols {
  bool has_query = false;            // kp_module_v1
  std::vector<std::string> aliases;  // exported names behind "__tvm_ffi_", in file order; left empty when has_query
  std::string other_query;           // "kp_module_v2", of a module of another major; left empty when has_query
  bool peer_environment = false;     // imports the peer's stream or allocation functions
  bool peer_globals = false;         // imports what registers the peer's global functions
  std::vector<std::string> globals;  // that it registered when it was loaded
};

struct Image {
  bool uses_origin = false;  // finds its neighbours through $ORIGIN, so it has to be loaded by path
  ImageSymbols symbols;
};

// Checks that `content`, read from `path`, is a complete shared object for this machine, every header and segment inside
// the file, and reads what the loader needs to know. Returns 0, or -1 with ImportError raised.
int InspectImage(const char* path, std::span<const char> content, Image* out);

// "kp_backend_v2" where `content` exports `prefix` with a number behind it, but not `own`; empty where it does, or isn't a
// shared object that can be read.
std::string QueryOfOtherMajor(std::span<const char> content, std::string_view prefix, std::string_view own);
// The major that such a name ends with; the largest number there is for one that is larger.
unsigned long ParseMajor(const std::string& query, std::string_view prefix);

// Why a file whose part would end at byte `end` isn't complete: an end of a sentence about it.
std::string Incomplete(const char* part, uint64_t end, uint64_t size);

// "kp_module_v2" and its like.
bool IsQueryOfSomeMajor(std::string_view name, std::string_view prefix);
// 0 where a host of this major makes a module of what the file exports; else -1 with ImportError raised.
int CheckExports(const char* path, const ImageSymbols& symbols);
// For a loaded image that isn't the file that was read: returns -1 with ImportError raised.
int RaiseReplaced(const char* path);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_BASE_LOADER_IMAGE_H_
