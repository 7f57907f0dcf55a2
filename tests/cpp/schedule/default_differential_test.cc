// Default schedules are legal by construction: random functions verify and lower for every kind of target, and
// results stay what they are. KERNPACK_DIFFERENTIAL_ROUNDS=20 draws twenty times as many.
#include <kernpack/sdk/ir/pass.h>
#include <kernpack/sdk/schedule/default.h>

#include <cstdlib>

#include "schedule/support.h"

namespace schedule_test {
namespace {

using kernpack::sdk::Target;

constexpr const char* kEveryTarget[] = {"llvm -mcpu=x86-64-v2",
                                        "llvm -mcpu=x86-64-v3",
                                        "c -mcpu=x86-64-v4",
                                        "opencl",
                                        "opencl -thread_warp_size=32 -max_num_threads=64",
                                        "cuda -arch=sm_90"};

// One to three nests over matrices [B, M, N] and the like: elementwise, transposed, stencils, rows, products of several
// forms and what is computed of each, flattened and gathered by quotients; extents are variables or constants.
class RandomNests {
 public:
  explicit RandomNests(uint64_t seed) : engine_(seed) {}

  std::string Text() {
    const std::string m = Extent("M", "13"), k = Extent("K", "6"), n = Extent("N", "20");
    batched_ = Below(3) == 0;
    const std::string q = batched_ ? Below(3) ? "B, " : "2, " : "";
    std::string text = "func f(s: f32[B, M, K, N], a: f32[" + q + m + ", " + k + "], b: f32[" + (Below(3) ? q : "") +
                       k + ", " + n + "], c: f32[" + n + "], d: f32[" + q + m + ", " + n + "]) -> (o: f32[" + q + m +
                       ", " + n + "], t: f32[" + n + ", " + m + "], r: f32[" + m + "]) { ";
    shared_ = text.find("b: f32[" + k) != std::string::npos;
    const std::string loops = (batched_ ? "for q in 0.." + q.substr(0, q.size() - 2) + " { " : "");
    const std::string rows = "for i in 0.." + m + " { ", columns = "for j in 0.." + n + " { ",
                      close = batched_ ? "} } } " : "} } ";
    if (Below(3) == 0) text += "let w = 1.0 + f32(M) ", scale_ = "w";
    text += loops + rows + columns + Stored(k) + close;
    text += columns + rows + "t[j, i] = " + At("d", "i, j", "0") + " * " + scale_ + " } } ";
    text += rows +
            (Below(2) ? "r[i] = reduce(+, k in 0.." + k + ", any 16, " + At("a", "i, k", "0") + ") "
                      : "let v = reduce(max, k in 0.." + k + ", any 4, " + At("a", "i, k", "0") +
                            ") if v > 0.0 { r[i] = v } else { r[i] = 0.0 } ") +
            "} ";
    if (Below(2))
      text += "alloc e: f32[" + m + " * " + n + "] workspace for f in 0.." + m + " * " + n +
              " { e[f] = " + At("d", "f / " + n + ", f % " + n, "0") + " } for i in 0.." + m + " { for j in 0.." + n +
              " { t[j, i] = e[i * " + n + " + j] } } ";
    return text + "}";
  }

 private:
  std::mt19937_64 engine_;
  bool batched_ = false, shared_ = false;
  std::string scale_ = "0.5";

  int Below(int n) { return static_cast<int>(engine_() % static_cast<uint64_t>(n)); }
  std::string Extent(const std::string& name, const std::string& constant) { return Below(4) ? name : constant; }
  std::string At(const std::string& x, const std::string& indices, const std::string& q) const {
    return x + "[" + (batched_ && !(x == "b" && shared_) ? q + ", " : "") + indices + "]";
  }

  std::string Stored(const std::string& k) {
    const std::string sum = "reduce(+, k in 0.." + k +
                            (Below(3) ? ", sequential, " : ", any " + std::to_string(2 << Below(6)) + ", ") +
                            At("a", "i, k", "q") + " * " + At("b", "k, j", "q") + ")";
    const std::string to = At("o", "i, j", "q") + " = ", own = At("d", "i, j", "q");
    switch (Below(8)) {
      case 0:
        return to + sum + " + c[j] ";
      case 1:
        return to + "max(" + sum + " * " + scale_ + ", 0.0) ";
      case 2:
        return "let v = " + sum + " " + to + "v / (1.0 + exp(-v)) + " + own + " ";
      case 3:
        return to + own + " * 2.0 + load_if(" + At("d", "i, j - 1", "q") + ", j > 0, 1.0) ";
      case 4:
        return to + "f32(bf16(" + sum + ")) ";
      case 5:
        return to + "c[j] * " + scale_ + " ";
      default:
        return to + sum + " ";
    }
  }
};

TEST(ScheduleDefaultDifferential, MakesWhatEveryTargetTakes) {
  const char* rounds = std::getenv("KERNPACK_DIFFERENTIAL_ROUNDS");
#if defined(__SANITIZE_ADDRESS__)
  constexpr uint64_t kFunctions = 12;  // the plain build draws more
#else
  constexpr uint64_t kFunctions = 36;
#endif
  const uint64_t count = kFunctions * (rounds ? std::strtoull(rounds, nullptr, 10) : 1);
  const std::vector<int64_t> sizes{2, 13, 6, 20};  // those that constants stand for
  for (uint64_t seed = 0; seed < count; ++seed) {
    const std::string text = RandomNests(seed).Text();
    IRModule plain;
    ASSERT_EQ(CatchMessage([&] { plain = Parse(text); }), "") << text;
    for (size_t t = 0; t < std::size(kEveryTarget); ++t) {
      IRModule there = plain, scheduled;
      there.target = Target(kEveryTarget[t]).str();
      ASSERT_EQ(CatchMessage([&] { Lower(scheduled = ScheduleByDefault(there, Target(kEveryTarget[t]))); }), "")
          << kEveryTarget[t] << "\nseed " << seed << "\n"
          << text;
      if (seed % std::size(kEveryTarget) != t) continue;
      std::vector<std::byte> wanted, got;
      const unsigned values = static_cast<unsigned>(seed);
      ASSERT_EQ(CatchMessage([&] { wanted = GetResults(plain.functions[0], sizes, values); }), "") << text;
      ASSERT_EQ(CatchMessage([&] { got = GetResults(scheduled.functions[0], sizes, values); }), "")
          << kEveryTarget[t] << "\nseed " << seed << "\n"
          << text << Print(scheduled);
      ASSERT_EQ(wanted, got) << kEveryTarget[t] << "\nseed " << seed << "\n" << text;
    }
  }
}

}  // namespace
}  // namespace schedule_test
