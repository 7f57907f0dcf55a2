// Resources that the library takes from a process that loads it.
#include <kernpack/host/host.h>
#include <link.h>

#include <gtest/gtest.h>

#include <cstring>

namespace kernpack_test {
namespace {

// Bytes of thread-local memory of libkernpack, which every thread of the process has.
size_t ThreadLocalBytes() {
  size_t bytes = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* library, size_t, void* out) {
        if (std::strstr(library->dlpi_name, "libkernpack.so") == nullptr) return 0;
        for (int i = 0; i < library->dlpi_phnum; ++i) {
          if (library->dlpi_phdr[i].p_type == PT_TLS) *static_cast<size_t*>(out) = library->dlpi_phdr[i].p_memsz;
        }
        return 1;
      },
      &bytes);
  return bytes;
}

TEST(Library, LeavesOthersTheirShareOfTheReserveOfThreadLocalMemory) {
  ASSERT_EQ(kp_error_pending(), 0);  // a call, so that the library is linked
  const size_t bytes = ThreadLocalBytes();
  EXPECT_GT(bytes, 0u);
  EXPECT_LE(bytes, 512u) << "the dynamic loader has 1664 for all libraries that are loaded late";
}

}  // namespace
}  // namespace kernpack_test
