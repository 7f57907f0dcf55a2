// The bytes of a file that claims to be a language model, as the C program of examples/chat reads it. Instead of being mapped they are
// copied into memory of their size, so that a read behind their end is found.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

extern "C" {
#include "../../examples/chat/c/gguf.h"
}

namespace {
const uint8_t* g_bytes;
}  // namespace

// Replacements for mmap and munmap (CMakeLists.txt).
extern "C" void* gguf_fuzz_map(void*, size_t size, int, int, int, off_t) {
  void* copy = std::malloc(size);
  return std::memcpy(copy, g_bytes, size);
}
extern "C" int gguf_fuzz_unmap(void* bytes, size_t) {
  std::free(bytes);
  return 0;
}

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  stderr = std::fopen("/dev/null", "w");  // what is wrong with each input isn't of interest; sanitizers write past it
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const int file = memfd_create("gguf", 0);  // for its size
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  if (file < 0 || ftruncate(file, static_cast<off_t>(size)) != 0) std::abort();
  g_bytes = data;
  Gguf model;
  if (gguf_open(path.c_str(), &model) == 0) {
    const Sizes& s = model.sizes;
    if (s.layers < 1 || s.heads % s.groups != 0 || s.rope_width > s.head_width || !(s.rope_factor > 0)) std::abort();
    Tensor matrix;
    if (gguf_matrix(&model, "token_embd.weight", s.vocabulary, s.width, &matrix) == 0) {
      const uint64_t bytes = gguf_row_bytes(matrix.format, matrix.shape[0]) * matrix.shape[1];
      volatile unsigned char last = bytes ? matrix.data[bytes - 1] : 0;
      static_cast<void>(last);
    }
    std::free(gguf_vector(&model, "output_norm.weight", s.width));
  }
  gguf_close(&model);
  return 0;
}
