// The bytes of a file that claims to be a shared object: headers, segments, sections, dynamic section, symbols.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include <kernpack/host/host.h>

#include "base/loader/image.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  kernpack::host::Image image;
  const int rc = kernpack::host::InspectImage("fuzz.so", {reinterpret_cast<const char*>(data), size}, &image);
  if ((rc == 0) == (kp_error_pending() != 0)) std::abort();  // an error is raised exactly when it is refused
  const bool has_functions = image.symbols.has_query || !image.symbols.aliases.empty() || image.symbols.peer_globals;
  if (rc == 0 && !has_functions) std::abort();
  kp_error_clear();
  return 0;
}
