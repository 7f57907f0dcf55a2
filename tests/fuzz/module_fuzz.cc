// The bytes of a file that claims to be a shared object: headers, segments, sections, dynamic section, symbols, notes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include <kernpack/host/host.h>

#include "base/loader/elf_view.h"
#include "base/loader/image.h"
#include "base/loader/needs.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  kernpack::host::Image image;
  const int rc = kernpack::host::InspectImage("fuzz.so", {reinterpret_cast<const char*>(data), size}, &image);
  if ((rc == 0) == (kp_error_pending() != 0)) std::abort();  // an error is raised exactly when it is refused
  const bool has_functions = image.symbols.has_query || !image.symbols.aliases.empty() || image.symbols.peer_globals;
  if (rc == 0 && !has_functions) std::abort();
  kp_error_clear();
  kernpack::host::ElfView elf({reinterpret_cast<const char*>(data), size});
  if (!elf.Check().empty()) return 0;
  for (const kernpack::host::Need& need : kernpack::host::ReadNeeds(elf)) {
    if (need.wheels.empty() || need.library.find('/') != std::string::npos) std::abort();
    for (const kernpack::host::LibraryWheel& wheel : need.wheels) {
      if (wheel.folder.empty() || wheel.folder.front() == '/' ||
          ("/" + wheel.folder + "/").find("/../") != std::string::npos) {
        std::abort();  // it would lead out of the folder of packages
      }
      (void)kernpack::host::RequirementAllows(wheel.requirement, need.library);
    }
  }
  return 0;
}
