// Running a linker.
#ifndef KERNPACK_SDK_COMPILER_EXPORT_LINKER_H_
#define KERNPACK_SDK_COMPILER_EXPORT_LINKER_H_

#include <string>
#include <string_view>
#include <vector>

namespace kernpack::sdk {

// Bytes of a file that is an input of the linker.
struct LinkerInput {
  const char* name;  // of the file, without its folder
  std::string_view bytes;
};

// As below, but joins the objects to one relocatable object.
void LinkObject(const std::vector<LinkerInput>& objects, const std::string& triple, const std::string& path);

// Links objects to a shared object at `path`, which appears there complete or not at all. `exports` is a version script.
// triple: of the machine that it is for; "" is this one. The linker is $KERNPACK_LINKER, else ld.lld, ld, cc; for another
// machine's triple <triple>-ld in place of the last two. RuntimeError: there is none (names the packages), or it fails (what
// it says).
void LinkShared(const std::vector<LinkerInput>& objects, std::string_view exports, const std::string& triple,
                const std::string& path);

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_COMPILER_EXPORT_LINKER_H_
