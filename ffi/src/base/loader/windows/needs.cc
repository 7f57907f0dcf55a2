// Libraries of other wheels: the table (kernpack/library_table.h) has those of Linux only, so that Windows looks for all that a module
// needs: beside the module, among the system's libraries, and in the folders of os.add_dll_directory().
#include "base/loader/needs.h"

namespace kernpack::host {

int OpenNeeds(const char*, std::span<const char>, std::vector<NeededLibrary>*) { return 0; }

int OpenNeedsOfFile(const char*, const char*, std::vector<NeededLibrary>*) { return 0; }

}  // namespace kernpack::host
