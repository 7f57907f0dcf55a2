// What can be learnt from a shared object's bytes before any of its code runs.
#ifndef KERNPACK_SRC_LOADER_IMAGE_H_
#define KERNPACK_SRC_LOADER_IMAGE_H_

#include <span>
#include <string>
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

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_LOADER_IMAGE_H_
