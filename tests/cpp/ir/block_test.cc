// Threads of a block: barriers that only some of them reach, and elements of shared memory that two touch.
#include <kernpack/sdk/ir/verify.h>

#include <gtest/gtest.h>

#include "ir/support.h"

namespace ir_test {
namespace {

struct BlockCase {
  const char* name;
  const char* body;  // of a launch of blocks of 64 threads; memory t[64] is shared
  const char* message;  // what the message says; "": it is fine
};
void PrintTo(const BlockCase& c, std::ostream* out) { *out << c.name; }

class IrBlocks : public testing::TestWithParam<BlockCase> {};

std::string Function(const char* body) {
  return std::string(R"ir(func f(x: f32[N], k: i32[N], n: i64) -> (o: f32[N]) {
    launch grid(2) block(64) {
      alloc t: f32[64] shared
      )ir") +
         body +
         R"ir(
    }
  })ir";
}

TEST_P(IrBlocks, AreProvedToGoWrong) {
  const std::string said = CatchMessage([&] { Verify(Parse(Function(GetParam().body))); });
  if (!*GetParam().message) {
    EXPECT_EQ(said, "");
  } else {
    EXPECT_NE(said.find(GetParam().message), std::string::npos) << said;
  }
}

constexpr const char* kOnThread = "f: a barrier inside an `if` whose condition depends on thread.x: ";
constexpr const char* kMeet = "of a block touch 't[";

INSTANTIATE_TEST_SUITE_P(
    Barriers, IrBlocks,
    testing::Values(
        BlockCase{"some_threads", "if thread.x < 32i32 { barrier }", kOnThread},
        BlockCase{"all_threads", "if thread.x < 64i32 { barrier }", ""},
        BlockCase{"no_thread", "if i64(thread.x) + 1 > 64 { barrier }", ""},
        BlockCase{"other_axis", "if thread.y == 0i32 { barrier }", ""},
        BlockCase{"tail", "if i64(thread.x) < n { barrier }", kOnThread},
        BlockCase{"by_let", "let i = thread.x * 2i32 if i > 5i32 { } else { barrier }", kOnThread},
        BlockCase{"by_memory", "if k[thread.x] > 0i32 { barrier }", kOnThread},
        BlockCase{"by_own_memory",
                  "alloc a: i64[1] local a[0] = 0 for j in 0..i64(thread.x) { a[0] = j } if a[0] > 3 { barrier }",
                  kOnThread},
        BlockCase{"own_memory_alike", "alloc a: i64[1] local a[0] = n if a[0] > 3 { barrier }", ""},
        BlockCase{"of_the_block", "if block.x == 0i32 { barrier }", ""},
        BlockCase{"same_element", "let m = k[block.x] if m > 0i32 { barrier } for j in 0i32..m { barrier }", ""},
        BlockCase{"loop", "for j in 0..i64(thread.x) { barrier }",
                  "f: a barrier inside a loop whose bounds depend on thread.x: "},
        BlockCase{"loop_alike", "for j in 0..n { barrier }", ""}),
    [](const auto& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Shared, IrBlocks,
    testing::Values(
        BlockCase{"one_element", "t[0] = f32(thread.x)", kMeet},
        BlockCase{"one_element_alike", "t[0] = 1.0 barrier o[0] = t[0]", ""},
        BlockCase{"one_thread", "if thread.x == 0i32 { t[0] = f32(thread.x) } barrier o[0] = t[0]", ""},
        BlockCase{"no_barrier_after_one_thread", "if thread.x == 0i32 { t[0] = x[0] } o[thread.x] = t[0]", kMeet},
        BlockCase{"neighbour", "t[thread.x] = x[thread.x] o[thread.x] = t[(thread.x + 1i32) % 64i32]",
                  "threads (1, 0, 0) and (0, 0, 0) of a block touch 't[1]', which is shared, with no barrier between"},
        BlockCase{"neighbour_behind_a_barrier",
                  "t[thread.x] = x[thread.x] barrier o[thread.x] = t[(thread.x + 1i32) % 64i32]", ""},
        BlockCase{"own_element", "t[thread.x] = x[thread.x] o[thread.x] = t[thread.x]", ""},
        BlockCase{"next_turn", "for j in 0..N { t[thread.x] = x[j] barrier o[j] = t[63i32 - thread.x] }", kMeet},
        BlockCase{"next_turn_behind_a_barrier",
                  "for j in 0..N { t[thread.x] = x[j] barrier o[j] = t[63i32 - thread.x] barrier }", ""},
        BlockCase{"turns_of_unknown_count", "for j in 0..n { t[thread.x] = x[j] barrier o[j] = t[63i32 - thread.x] }",
                  kMeet},
        BlockCase{
            "two_buffers_in_turn",
            "alloc u: f32[2, 64] shared for j in 0..n { u[j % 2, i64(thread.x)] = x[j] barrier o[j] = u[j % 2, 63 - "
            "i64(thread.x)] }",
            ""},
        BlockCase{"behind_a_tail", "if i64(thread.x) < N { t[thread.x] = x[thread.x] } o[0] = t[0]", kMeet},
        BlockCase{"tree",
                  "t[thread.x] = x[thread.x] barrier if thread.x < 32i32 { t[thread.x] = t[thread.x] + t[thread.x + "
                  "32i32] } barrier if thread.x < 16i32 { t[thread.x] = t[thread.x] + t[thread.x + 16i32] }",
                  ""},
        BlockCase{"tree_without_barriers",
                  "t[thread.x] = x[thread.x] barrier if thread.x < 32i32 { t[thread.x] = t[thread.x] + t[thread.x + "
                  "32i32] } if thread.x < 16i32 { t[thread.x] = t[thread.x] + t[thread.x + 16i32] }",
                  kMeet},
        BlockCase{"lanes", "if thread.x < 16i32 { t[ramp(i64(thread.x) * 4, 1, 4)] = broadcast(1.0, 4) }", ""},
        BlockCase{"lanes_that_overlap",
                  "if thread.x < 16i32 { t[ramp(i64(thread.x) * 3, 1, 4)] = broadcast(f32(thread.x), 4) }", kMeet},
        BlockCase{"where_memory_says", "t[k[thread.x]] = x[thread.x]", ""},
        BlockCase{"loop_over_elements",
                  "for j in 0..4 { if thread.x < 16i32 { t[i64(thread.x) + j * 16] = x[j] } } barrier o[thread.x] = "
                  "t[thread.x]",
                  ""}),
    [](const auto& info) { return info.param.name; });

TEST(IrBlocksOfExtents, AreNotJudgedByExtentsThatACallCannotHave) {
  const char* text =
      R"ir(func f(x: f32[N]) -> (o: f32[N]) {
        assert N <= 8, "few"
        launch grid(1) block(64) {
          alloc t: f32[64] shared
          for j in 0..(N - 1) / 8 {
            t[0] = f32(thread.x)
          }
        }
      })ir";
  EXPECT_EQ(CatchMessage([&] { Verify(Parse(text)); }), "");
}

}  // namespace
}  // namespace ir_test
