// What the host's file of a device module begins with.
#ifndef KERNPACK_SDK_SRC_CODEGEN_DEVICE_CXX_HOST_PRELUDE_H_
#define KERNPACK_SDK_SRC_CODEGEN_DEVICE_CXX_HOST_PRELUDE_H_

namespace kernpack::sdk::ir {

inline constexpr char kHostPrelude[] = R"(#include <kernpack/device_kernel.h>
#include <kernpack/kernel.h>

#include <cmath>
#include <cstdint>
#include <initializer_list>

#define LANE(x, i) (x).v[i]

namespace kp = kernpack;
)";

inline constexpr char kHostHelpers[] = R"(
// Blocks of a launch, and threads of a block.
class kp_shape {
 public:
  kp_shape(int64_t gx, int64_t gy, int64_t gz, int64_t bx, int64_t by, int64_t bz) : extents_{gx, gy, gz, bx, by, bz} {
    for (const int64_t n : extents_) {
      KP_CHECK(n <= INT32_MAX, ValueError) << "a launch has at most " << INT32_MAX << " blocks or threads a dimension, not " << n;
    }
  }
  bool empty() const {
    for (const int64_t n : extents_) {
      if (n <= 0) return true;
    }
    return false;
  }
  kp::Extent3 grid() const { return Three(0); }
  kp::Extent3 block() const { return Three(3); }
  // Of all blocks together.
  int64_t threads() const {
    int64_t n = empty() ? 0 : 1;
    for (const int64_t extent : extents_) {
      KP_CHECK(!__builtin_mul_overflow(n, extent, &n), ValueError) << "a launch of more than 2^63 threads";
    }
    return n;
  }

 private:
  int64_t extents_[6];

  kp::Extent3 Three(int at) const {
    return {static_cast<uint32_t>(extents_[at]), static_cast<uint32_t>(extents_[at + 1]),
            static_cast<uint32_t>(extents_[at + 2])};
  }
};

// How many elements all dimensions but the last `rest` make.
[[maybe_unused]] static int64_t kp_leading(const kp::TensorView& t, int64_t rest) {
  KP_CHECK(t.dim() >= rest, ValueError) << "expected a tensor of at least " << rest << " dimensions, got " << t.dim();
  return kp::ShapeView(t.sizes().data(), static_cast<size_t>(t.dim() - rest)).numel();
}

[[maybe_unused]] static uint64_t kp_bytes_of(int64_t item, std::initializer_list<int64_t> extents) {
  constexpr int64_t kMost = int64_t{1} << 48;
  for (const int64_t n : extents) {
    KP_CHECK(n >= 0, ValueError) << "a buffer of the function would have a negative extent";
    KP_CHECK(n == 0 || item <= kMost / n, MemoryError) << "a buffer of the function would be larger than 2^48 bytes";
    item *= n;
  }
  return item != 0 ? static_cast<uint64_t>(item) : 1;
}

// Device code that was cut out or changed after the module was built is refused when the module is loaded.
void kp_check_image(const kp::DeviceCode& image, uint64_t expected, const char* target) {
  uint64_t digest = 0xcbf29ce484222325u;
  const volatile char* data = image.image.data();  // what is there when the module is loaded, whatever the compiler knows
  for (size_t i = 0; i < image.image.size(); ++i) {
    digest = (digest ^ static_cast<unsigned char>(data[i])) * 0x100000001b3u;
  }
  KP_CHECK(digest == expected, ImportError)
      << "the device code for '" << target << "' inside this module is not what was built (digest " << digest << ", expected "
      << expected << "); build or install the module again";
}

)";

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_SRC_CODEGEN_DEVICE_CXX_HOST_PRELUDE_H_
