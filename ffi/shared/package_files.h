// The host's answer to backends: where a file of a Python package is installed. The host knows the folders of packages, because it looks
// for the libraries of other wheels in them.
#ifndef KERNPACK_SHARED_PACKAGE_FILES_H_
#define KERNPACK_SHARED_PACKAGE_FILES_H_

#include <kernpack/abi.h>

// The extension "kernpack.package_files", version 1 (KpHost.get_extension).
struct KpPackageFiles {
  uint32_t struct_size;
  uint32_t reserved;  // zero
  // STR: the first folder of Python's packages that has a file or folder of that path below it ("nvidia/cu13/lib/libnvrtc.so.13"); NONE
  // where none has.
  int (*find)(KpBytes below, KpAny* out);
};
#define KP_PACKAGE_FILES_EXTENSION "kernpack.package_files"

#endif  // KERNPACK_SHARED_PACKAGE_FILES_H_
