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
      KP_CHECK(n <= INT32_MAX, ValueError) << "a launch has at most " << INT32_MAX << " blocks or threads per dimension, not " << n;
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

// Only where a kernel has asserts: a launch that is waited for, and raises what failed first.
inline constexpr char kHostAsserts[] = R"(
struct kp_assert {
  const char* kind;
  const char* message;
  int count;
};

template <class... Args>
static void kp_launch_asserting(kp::Device device, const kp::DeviceCode& code, const char* kernel, const kp_shape& shape,
                                std::initializer_list<kp_assert> asserts, const Args&... args) {
  if (shape.empty()) return;
  int64_t word[5] = {};
  const kp::Workspace there(device, "asserts", sizeof word, kp::uninitialized);
  const KpDeviceApi& api = kp::device_api(device);
  void* const stream = kp::stream(device);
  const KpMemory on_device = {there.data(), 0, device}, here = {word, 0, {KP_DEVICE_CPU, 0}};
  kp::detail::check_host(api.fill(&api, &on_device, sizeof word, 0, stream));
  kp::launch(device, code, kernel, shape.grid(), shape.block(), args..., kp::DeviceMemory{there.data(), 0, sizeof *word});
  kp::detail::check_host(api.copy(&api, &on_device, &here, sizeof word, stream));
  if (word[0] == 0) return;
  const kp_assert& failed = asserts.begin()[word[0] - 1];
  kp::Text text;
  const char* rest = failed.message;
  for (int i = 0; i < failed.count; ++i) {
    const char* const at = std::strstr(rest, "{}");
    text << kp::StringView(rest, static_cast<size_t>(at - rest)) << word[i + 1];
    rest = at + 2;
  }
  text << rest;
  throw kp::Error(failed.kind, text.bytes());
}

)";

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_SRC_CODEGEN_DEVICE_CXX_HOST_PRELUDE_H_
