#include "driver/image.h"

#include <dlfcn.h>

namespace kernpack::cuda {
namespace {

constexpr uint64_t kMostBytes = uint64_t{256} << 20;

// A function of a library that stays open; NULL when there is none.
void* Find(const char* library, const char* function) {
  void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  return handle == nullptr ? nullptr : dlsym(handle, function);
}

}  // namespace

bool Unpack(Packing packing, std::string_view packed, uint64_t bytes, std::string* out, std::string* why) {
  if (packing == Packing::kNone) {
    out->assign(packed);
    return true;
  }
  const bool zstd = packing == Packing::kZstd;
  const char* const library = zstd ? "libzstd.so.1" : "liblz4.so.1";
  void* const found = Find(library, zstd ? "ZSTD_decompress" : "LZ4_decompress_safe");
  if (found == nullptr) {
    *why = std::string("the PTX in this fatbin is compressed, and ") + library +
           ", which unpacks it, isn't installed; install it, or build with nvcc -no-compress";
    return false;
  }
  uint64_t made = 0;
  if (bytes <= kMostBytes && packed.size() <= kMostBytes) {
    out->resize(bytes);
    if (zstd) {
      made = reinterpret_cast<size_t (*)(void*, size_t, const void*, size_t)>(found)(out->data(), bytes, packed.data(),
                                                                                     packed.size());
    } else {
      const int result = reinterpret_cast<int (*)(const char*, char*, int, int)>(found)(
          packed.data(), out->data(), static_cast<int>(packed.size()), static_cast<int>(bytes));
      made = result < 0 ? 0 : static_cast<uint64_t>(result);
    }
  }
  if (bytes != 0 && made == bytes) return true;
  *why = "the compressed PTX in this fatbin is damaged: it doesn't unpack to the size that the fatbin says";
  return false;
}

}  // namespace kernpack::cuda
