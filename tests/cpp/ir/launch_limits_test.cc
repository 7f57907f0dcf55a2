// Launches that no device of the target runs are refused when the module is built for it.
#include <gtest/gtest.h>

#include "ir/compiled.h"

namespace ir_test {
namespace {

struct LimitCase {
  const char* target;
  const char* launch;  // what stands in the function
  const char* message;  // "": it is fine
};
void PrintTo(const LimitCase& c, std::ostream* out) { *out << c.target << ": " << c.launch; }

class LaunchLimits : public testing::TestWithParam<LimitCase> {};

TEST_P(LaunchLimits, AreThoseOfTheTargetThatIsBuiltFor) {
  const LimitCase& c = GetParam();
  const std::string text = std::string("func f(x: f32[N], n: i64) -> (o: f32[N]) { ") + c.launch + " }";
  EXPECT_EQ(CatchMessage([&] { kernpack::sdk::Source(Parse(text), kernpack::sdk::Target(c.target)); }), c.message);
}

#define KP_STORE " { o[block.x] = 1.0 }"
#define KP_AT "ValueError: line 1, column 44: f: launch: expected "

INSTANTIATE_TEST_SUITE_P(
    Cases, LaunchLimits,
    testing::Values(
        LimitCase{"cuda -arch=sm_80", "launch grid(1) block(1024)" KP_STORE, ""},
        LimitCase{"cuda -arch=sm_80", "launch grid(1) block(2048)" KP_STORE,
                  KP_AT "at most 1024 threads per block along dimension 0 (the limit of cuda -arch=sm_80), got 2048"},
        LimitCase{"cuda -arch=sm_80 -max_threads_per_block=1024", "launch grid(1) block(64, 32)" KP_STORE,
                  KP_AT "at most 1024 threads per block (max_threads_per_block of cuda -arch=sm_80 "
                        "-max_threads_per_block=1024), got 2048: (64, 32, 1)"},
        LimitCase{"cuda -max_threads_per_block=512", "launch grid(1) block(1024)" KP_STORE,
                  KP_AT "at most 512 threads per block (max_threads_per_block of cuda -max_threads_per_block=512), got "
                        "1024: (1024, 1, 1)"},
        LimitCase{"cuda", "let wide = 2048 launch grid(1) block(wide / 1)" KP_STORE, ""},
        LimitCase{"cuda", "launch grid(1) block(1024 + 1024)" KP_STORE,
                  KP_AT "at most 1024 threads per block along dimension 0 (the limit of cuda), got 2048"},
        LimitCase{"cuda", "launch grid(1) block(1, 1, 65)" KP_STORE,
                  KP_AT "at most 64 threads per block along dimension 2 (the limit of cuda), got 65"},
        LimitCase{"cuda", "launch grid(3000000000) block(1)" KP_STORE,
                  KP_AT
                  "a grid of at most 2147483647 blocks along dimension 0 (the limit of cuda), got 3000000000; put "
                  "more work into a block, or use another dimension"},
        LimitCase{"cuda", "launch grid(1, 65536) block(1)" KP_STORE,
                  KP_AT
                  "a grid of at most 65535 blocks along dimension 1 (the limit of cuda), got 65536; put more work "
                  "into a block, or use another dimension"},
        LimitCase{"cuda", "launch grid(1, 65535, 65535) block(1)" KP_STORE, ""},
        LimitCase{"cuda", "launch grid(1) block(32) { alloc t: f32[12288] shared o[block.x] = 1.0 }", ""},
        LimitCase{"cuda", "launch grid(1) block(32) { alloc t: f32[12289] shared o[block.x] = 1.0 }",
                  "ValueError: line 1, column 71: f: launch: expected at most 49152 bytes of shared memory per block "
                  "(max_shared_memory_per_block of cuda), got 49156"},
        LimitCase{"cuda -arch=sm_90", "launch grid(1) block(32) { alloc t: f32[58112] shared o[block.x] = 1.0 }", ""},
        LimitCase{"cuda -arch=sm_90a", "launch grid(1) block(32) { alloc t: f32[58113] shared o[block.x] = 1.0 }",
                  "ValueError: line 1, column 71: f: launch: expected at most 232448 bytes of shared memory per block "
                  "(max_shared_memory_per_block of cuda -arch=sm_90a), got 232452"},
        // sm_86 runs this machine code, too, and has less; so does sm_120 with PTX.
        LimitCase{"cuda -arch=sm_80", "launch grid(1) block(32) { alloc t: f32[25344] shared o[block.x] = 1.0 }", ""},
        LimitCase{"cuda -arch=sm_80", "launch grid(1) block(32) { alloc t: f32[25345] shared o[block.x] = 1.0 }",
                  "ValueError: line 1, column 71: f: launch: expected at most 101376 bytes of shared memory per block "
                  "(max_shared_memory_per_block of cuda -arch=sm_80), got 101380"},
        LimitCase{"cuda -arch=compute_90", "launch grid(1) block(32) { alloc t: f32[25344] shared o[block.x] = 1.0 }",
                  ""},
        LimitCase{"cuda -arch=sm_90 -max_shared_memory_per_block=49152",
                  "launch grid(1) block(32) { alloc t: f32[12289] shared o[block.x] = 1.0 }",
                  "ValueError: line 1, column 71: f: launch: expected at most 49152 bytes of shared memory per block "
                  "(max_shared_memory_per_block of cuda -arch=sm_90 -max_shared_memory_per_block=49152), got 49156"},
        LimitCase{"cuda -max_shared_memory_per_block=232448",
                  "launch grid(1) block(32) { alloc t: f32[58112] shared o[block.x] = 1.0 }", ""},
        LimitCase{"cuda -max_shared_memory_per_block=232448",
                  "launch grid(1) block(32) { alloc t: f32[58113] shared o[block.x] = 1.0 }",
                  "ValueError: line 1, column 71: f: launch: expected at most 232448 bytes of shared memory per block "
                  "(max_shared_memory_per_block of cuda -max_shared_memory_per_block=232448), got 232452"},
        LimitCase{"cuda", "launch grid(1) block(n)" KP_STORE, ""},
        LimitCase{"opencl", "launch grid(1, 70000) block(256)" KP_STORE, ""},
        LimitCase{"opencl", "launch grid(1) block(512)" KP_STORE,
                  KP_AT "at most 256 threads per block (max_threads_per_block of opencl), got 512: (512, 1, 1)"},
        LimitCase{"opencl -max_threads_per_block=4096", "launch grid(1) block(4096)" KP_STORE, ""},
        LimitCase{"opencl", "launch grid(1) block(32) { alloc t: f32[4097] shared o[block.x] = 1.0 }",
                  "ValueError: line 1, column 71: f: launch: expected at most 16384 bytes of shared memory per block "
                  "(max_shared_memory_per_block of opencl), got 16388"}));

}  // namespace
}  // namespace ir_test
