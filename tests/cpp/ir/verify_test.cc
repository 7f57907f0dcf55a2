// What the verifier refuses, and what it must let pass.
#include <kernpack/sdk/ir/verify.h>

#include <gtest/gtest.h>

#include "ir/support.h"

namespace ir_test {
namespace {

struct Case {
  const char* text;
  const char* message;  // "": it is fine
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.text; }

class IrVerify : public testing::TestWithParam<Case> {};

TEST_P(IrVerify, Says) {
  EXPECT_EQ(MessageOf([&] { Verify(Parse(GetParam().text)); }), GetParam().message) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    Fine, IrVerify,
    testing::Values(Case{"func f(x: f32[N]) -> (o: f32[N]) { parallel i in 0..N { o[i] = x[i] } }", ""},
                    Case{"func f(x: f32[N, D]) -> (o: f32[N, D]) { parallel i in 0..N { vectorized(8) j in 0..D { o[i, "
                         "j] = x[i, j] } } }",
                         ""},
                    Case{"func f(x: f32[N]) -> (o: f32[N]) { parallel i in 0..N / 8 { for j in 0..8 { o[i * 8 + j] = "
                         "x[i * 8 + j] } } }",
                         ""},
                    Case{"func f(n!: f32[N, D], x: f32[K]) -> (o: f32[K]) { parallel i in 0..N { for j in 0..D { o[i * "
                         "D + j] = x[i * D + j] } } }",
                         ""},
                    Case{"func f(x!: f32[N]) -> () { parallel i in 0..N { let k = i x[k] = x[i] * 2.0 } }", ""},
                    Case{"func f(x: f32[N]) -> (o: f32[N]) { parallel i in 0..N { o[N - 1 - i] = x[i] } }", ""},
                    Case{
                        "func f(x: f32[N, D]) -> (o: f32[N, D]) { parallel f in 0..N * D { let i = f / D let j = f % D "
                        "o[i, j] = x[i, j] } }",
                        ""},
                    Case{"func f(x: f32[N]) -> (o: f32[N]) { for i in 0..N { if i > 0 { o[i - 1] = x[i] } } }", ""},
                    Case{"func f(x: f32[N]) -> (o: f32[N]) { parallel i in 0..N / 4 { o[ramp(i * 4, 1, 4)] = x[ramp(i "
                         "* 4, 1, 4)] } }",
                         ""}));

INSTANTIATE_TEST_SUITE_P(
    Names, IrVerify,
    testing::Values(
        Case{"func f(x: f32[N]) -> () { x[0] = 1.0 }",
             "ValueError: line 1, column 27: f: 'x' is an input and is written to; declare it 'x!:'"},
        Case{"func f() -> () { barrier }", "ValueError: line 1, column 18: f: barrier outside a launch"},
        Case{"func f() -> () { let a = thread.x }", "ValueError: line 1, column 26: f: thread index outside a launch"},
        Case{"func f() -> () { call g() }",
             "NameError: line 1, column 18: f: call of 'g', which the module does not have"},
        Case{"func f() -> () { call g() } func g() -> () { call f() }",
             "ValueError: f: calls itself, directly or through others; recursion is not supported"},
        Case{"private func g(x: f32[N]) -> () { } func f(x: f64[2]) -> () { call g(x) }",
             "TypeError: line 1, column 63: f: call of 'g': x: expected f32 with 1 dimensions, got f64 with 1"},
        Case{"func f() -> () grad \"g\" { }",
             "ValueError: line 1, column 1: f: its gradient 'g' is no function of this module"},
        Case{"private func g() -> () { } func f() -> () grad \"g\" { }",
             "ValueError: line 1, column 28: f: its gradient 'g' is private; callers must reach it"},
        Case{"func g() -> () { } private func f() -> () grad \"g\" { }",
             "ValueError: line 1, column 28: f: a private function has no gradient: no caller reaches it"},
        Case{"func f() -> () { parallel i in 0..4 { return } }",
             "ValueError: line 1, column 39: f: return inside a parallel or vectorized loop or a launch"}));

INSTANTIATE_TEST_SUITE_P(
    Bounds, IrVerify,
    testing::Values(Case{"func f(x: f32[8]) -> (o: f32[1]) { o[0] = x[8] }",
                         "IndexError: line 1, column 43: f: access past the end of dimension 0 of 'x', by 1"},
                    Case{"func f(x: f32[N]) -> (o: f32[N]) { for i in 0..N { o[i] = x[i + 1] } }",
                         "IndexError: line 1, column 59: f: access past the end of dimension 0 of 'x', by 1"},
                    Case{"func f(x: f32[N]) -> (o: f32[N]) { for i in 0..N { o[i] = x[i - 1] } }",
                         "IndexError: line 1, column 59: f: access before the start of dimension 0 of 'x'"},
                    Case{"func f(x: f32[4]) -> (o: f32[4]) { o[ramp(2, 1, 4)] = broadcast(1.0, 4) }",
                         "IndexError: line 1, column 36: f: access past the end of dimension 0 of 'o', by 2"}));

constexpr const char* kRace =
    "may touch the same elements of 'o', and write them; make the loop serial, or index 'o' with i so that it shows "
    "that they do not";

class IrRace : public testing::TestWithParam<const char*> {};
TEST_P(IrRace, IsRefused) {
  const std::string message = MessageOf([] { Verify(Parse(GetParam())); });
  EXPECT_NE(message.find(kRace), std::string::npos) << GetParam() << "\n" << message;
}
INSTANTIATE_TEST_SUITE_P(
    All, IrRace,
    testing::Values(
        "func f(x: f32[N]) -> (o: f32[N]) { parallel i in 0..N { o[0] = x[i] } }",
        "func f(x: i64[N]) -> (o: i64[N]) { parallel i in 0..N { o[x[i]] = 1 } }",
        "func f(x: f32[N]) -> (o: f32[N]) { parallel i in 1..N { o[i] = o[i - 1] } }",
        "func f(x: f32[N]) -> (o: f32[N]) { parallel i in 0..N { for j in 0..3 { o[i * 2 + j] = 1.0 } } }",
        "func f(x: f32[N]) -> (o: f32[N]) { vectorized(4) i in 0..N { o[i % 2] = 1.0 } }",
        "func f(x: f32[N, D]) -> (o: f32[N, D]) { parallel i in 0..N * D { o[i / D, i % N] = 1.0 } }",
        "func f(x: f32[N, D]) -> (o: f32[N]) { parallel i in 0..N { for j in 0..D { o[j] = x[i, j] } } }",
        "private func g(o!: f32[N]) -> () { } func f(x: f32[N]) -> (o: f32[N]) { parallel i in 0..N { call g(o) } }"));

INSTANTIATE_TEST_SUITE_P(
    Devices, IrVerify,
    testing::Values(
        Case{"func f(x: f32[N]) -> (o: f32[N]) target \"cuda -arch=sm_90\" { o[0] = 1.0 }",
             "ValueError: line 1, column 62: f: host code touches 'o', which is memory of the device (cuda); put the "
             "access into a launch"},
        Case{"func f() -> () target \"opencl -max_num_threads=256\" { launch grid(1) block(512) { } }",
             "ValueError: line 1, column 55: f: launch: 512 threads a block; the target has at most 256"},
        Case{"func f() -> () target \"cuda -max_shared_memory_per_block=1024\" { launch grid(1) block(1) { alloc t: "
             "f32[512] shared } }",
             "ValueError: line 1, column 92: f: the launch uses 2048 bytes of shared memory; the target has 1024"},
        Case{"func f() -> () { alloc t: f32[2] shared }",
             "ValueError: line 1, column 18: f: 't': shared memory outside a launch"}));

}  // namespace
}  // namespace ir_test
