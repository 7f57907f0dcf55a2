#include "backends/cuda/deferred_free.h"

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "backends/cuda/text.h"

namespace kernpack::cuda {

bool ReadRetiredLimit(uint64_t unset, uint64_t* out, std::string* reason) {
  constexpr uint64_t kMost = uint64_t{1} << 24;  // MiB: more than any device has, and its bytes fit
  const char* value = std::getenv("KERNPACK_CUDA_FREED_MIB");
  *out = unset;
  if (value == nullptr || *value == '\0') return true;
  const std::string_view text = value;
  uint64_t mebibytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), mebibytes);
  if (error != std::errc() || end != text.data() + text.size() || mebibytes > kMost) {
    *reason = Format("expected KERNPACK_CUDA_FREED_MIB to be a whole number of MiB from 0 to %llu, got '%s'",
                     static_cast<unsigned long long>(kMost), value);
    return false;
  }
  *out = mebibytes << 20;
  return true;
}

}  // namespace kernpack::cuda
