// Modules that the verifier refuses, and modules that it must accept.
#include <kernpack/sdk/ir/equal.h>
#include <kernpack/sdk/ir/verify.h>

#include <gtest/gtest.h>

#include <functional>

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
  EXPECT_EQ(CatchMessage([&] { Verify(Parse(GetParam().text)); }), GetParam().message) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    Fine, IrVerify,
    testing::Values(Case{"func f(x: f32[N]) -> (o: f32[N]) { parallel i in 0..N { o[i] = x[i] } }", ""},
                    Case{R"ir(func f(x: f32[N, D]) -> (o: f32[N, D]) {
                      parallel i in 0..N {
                        vectorized(8) j in 0..D {
                          o[i, j] = x[i, j]
                        }
                      }
                    })ir",
                         ""},
                    Case{R"ir(func f(x: f32[N]) -> (o: f32[N]) {
                      parallel i in 0..N / 8 {
                        for j in 0..8 {
                          o[i * 8 + j] = x[i * 8 + j]
                        }
                      }
                    })ir",
                         ""},
                    Case{R"ir(func f(n!: f32[N, D], x: f32[K]) -> (o: f32[K]) {
                      parallel i in 0..N {
                        for j in 0..D {
                          o[i * D + j] = x[i * D + j]
                        }
                      }
                    })ir",
                         ""},
                    Case{"func f(x!: f32[N]) -> () { parallel i in 0..N { let k = i x[k] = x[i] * 2.0 } }", ""},
                    Case{"func f(x: f32[N]) -> (o: f32[N]) { parallel i in 0..N { o[N - 1 - i] = x[i] } }", ""},
                    Case{
                        R"ir(func f(x: f32[N, D]) -> (o: f32[N, D]) {
                          parallel f in 0..N * D {
                            let i = f / D
                            let j = f % D
                            o[i, j] = x[i, j]
                          }
                        })ir",
                        ""},
                    Case{"func f(x: f32[N]) -> (o: f32[N]) { for i in 0..N { if i > 0 { o[i - 1] = x[i] } } }", ""},
                    Case{R"ir(func f(x: f32[N]) -> () {
                      if N > 2 {
                        alloc p: f32[2] persistent("k")
                      } else {
                        alloc p: f32[8] persistent("k")
                      }
                    })ir",
                         ""},
                    Case{R"ir(func f(x: f32[N]) -> (o: f32[N]) {
                      parallel i in 0..N / 4 {
                        o[ramp(i * 4, 1, 4)] = x[ramp(i * 4, 1, 4)]
                      }
                    })ir",
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
             "ValueError: line 1, column 1: f: its gradient 'g' isn't a function of this module"},
        Case{"private func g() -> () { } func f() -> () grad \"g\" { }",
             "ValueError: line 1, column 28: f: its gradient 'g' is private; callers must reach it"},
        Case{"func g() -> () { } private func f() -> () grad \"g\" { }",
             "ValueError: line 1, column 28: f: a private function has no gradient: no caller reaches it"},
        Case{"func f() -> () { parallel i in 0..4 { return } }",
             "ValueError: line 1, column 39: f: return inside a parallel or vectorized loop or a launch"}));

INSTANTIATE_TEST_SUITE_P(
    LoopsThatAreLeft, IrVerify,
    testing::Values(
        Case{"func f(x!: f32[N]) -> () { parallel i in 0..N { for j in 0..9 { if x[i] > 1.0 { break } x[i] = 2.0 } } }",
             ""},
        Case{"func f(x: f32[N]) -> (o: f32[N]) { for i in 0..N + 1 { if i == N { break } o[i] = x[i] } }", ""},
        Case{"func f() -> () { break }", "ValueError: line 1, column 18: f: break outside a loop"},
        Case{"func f() -> () { if true { continue } }", "ValueError: line 1, column 28: f: continue outside a loop"},
        Case{"func f(o!: f32[N]) -> () { parallel i in 0..N { if i > 3 { break } o[i] = 1.0 } }",
             "ValueError: line 1, column 60: f: break inside a parallel loop, whose iterations don't run one after "
             "another; make it a serial loop, or write an `if`"},
        Case{
            "func f(o!: f32[N]) -> () { for j in 0..2 { vectorized(4) i in 0..N { if i > 3 { continue } o[i] = 1.0 } } "
            "}",
            "ValueError: line 1, column 81: f: continue inside a vectorized loop, whose iterations don't run one after "
            "another; make it a serial loop, or write an `if`"},
        Case{"func f(o!: f32[N]) -> () { unrolled i in 0..4 { break } }",
             "ValueError: line 1, column 49: f: break inside an unrolled loop, whose iterations don't run one after "
             "another; make it a serial loop, or write an `if`"},
        Case{"func f(o!: f32[N]) -> () { for j in 0..2 { launch grid(1) block(1) { break } } }",
             "ValueError: line 1, column 70: f: break inside a launch, whose iterations don't run one after "
             "another; make it a serial loop, or write an `if`"},
        Case{
            "func f(o!: f32[N]) -> () { launch grid(1) block(8) { while o[0] < 1.0 { barrier } } }",
            "ValueError: line 1, column 73: f: a barrier inside a `while` loop: threads of a block that don't reach it "
            "leave the others waiting; put it outside, with divergent code before or after it"},
        Case{"func f(o!: f32[N]) -> () { launch grid(1) block(8) { for i in 0..4 { if o[i] > 1.0 { break } barrier } } "
             "}",
             "ValueError: line 1, column 94: f: a barrier inside a loop with a `break` or `continue`: threads of a "
             "block "
             "that don't reach it leave the others waiting; put it outside, with divergent code before or after it"},
        Case{
            "func f(o!: f32[N]) -> () { parallel i in 0..N { while o[i] < 1.0 { o[0] = 1.0 } } }",
            "ValueError: line 1, column 28: f: iterations of the parallel loop over 'i' may touch the same elements of "
            "'o', and write them; make the loop serial, or index 'o' with i so that each writes elements of its own"}));

INSTANTIATE_TEST_SUITE_P(
    PersistentMemory, IrVerify,
    testing::Values(
        Case{"func f() -> () { alloc p: f32[2] persistent(\"k\") alloc q: f32[8] persistent(\"k\") }",
             "ValueError: line 1, column 50: f: 'q': persistent memory 'k' is in use here already, and may move it; "
             "give one of the two another key"},
        Case{R"ir(func g() -> () {
          alloc p: f32[8] persistent("k")
        }
        func h() -> () {
          call g()
        }
        func f() -> () {
          alloc p: f32[2] persistent("k")
          call h()
        })ir",
             "ValueError: line 9, column 11: f: call of 'h', which allocates persistent memory 'k', in use here, and "
             "may move it; give one of the two another key"}));

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
    "may touch the same elements of 'o', and write them; make the loop serial, or index 'o' with i so that each "
    "writes elements of its own";

class IrRace : public testing::TestWithParam<const char*> {};
TEST_P(IrRace, IsRefused) {
  const std::string message = CatchMessage([] { Verify(Parse(GetParam())); });
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

TEST(IrParse, RefusesWhatItCouldNotPrintAgain) {
  const std::string name(200, 'x');
  const IRModule m = Parse("func f(" + name + ": f32[4]) -> () { }");
  EXPECT_TRUE(Equal(Parse(Print(m)), m));
  EXPECT_EQ(CatchMessage([&] { Parse("func f(" + name + "x: f32[4]) -> () { }"); }),
            "ValueError: line 1, column 8: a name of more than 200 characters");
  EXPECT_EQ(CatchMessage([] { Parse("module \"\\xff\""); }),
            "ValueError: line 1, column 8: expected \\\", \\\\ or \\x and two digits, up to \\x7f, in a string");
  std::string shape = "2";
  for (int i = 1; i < 65; ++i) shape += ", 2";
  EXPECT_EQ(CatchMessage([&] { Parse("func f(x: f32[" + shape + "]) -> () { }"); }),
            "ValueError: line 1, column 8: x: expected at most 64 dimensions, got 65");
}

std::string Repeated(int count, const std::function<std::string(std::string)>& piece) {
  std::string text;
  for (int i = 0; i < count; ++i) text += piece(std::to_string(i));
  return text;
}

TEST(IrVerify, TellsStoresOfOneIterationApart) {
  const std::string stores = Repeated(7, [](const std::string& i) { return "o[i * 7 + " + i + "] = 1.0 "; });
  EXPECT_EQ(
      CatchMessage([&] { Verify(Parse("func f(o!: f32[N]) -> () { parallel i in 0..N / 7 { " + stores + "} }")); }),
      "");
  const std::string message = CatchMessage([&] {
    Verify(Parse("func f(o!: f32[N]) -> () { parallel i in 0..N / 7 { " + stores + "o[i * 7 + 7] = 1.0 } }"));
  });
  EXPECT_NE(message.find(kRace), std::string::npos) << message;
}

std::string Tiles(const std::string& count, const std::string& lets, const std::string& index) {
  return "func f(x: f32[A, B]) -> (o: f32[A, B]) { parallel i in 0.." + count + " { " + lets +
         " for j in 0..4 { for k in 0..8 { o[" + index + "] = 1.0 } } } }";
}

TEST(IrVerify, TellsTilesOfOneLoopApartByTheirQuotientAndRemainder) {
  const std::string place = "q * 4 + j, r * 8 + k";
  EXPECT_EQ(CatchMessage([&] { Verify(Parse(Tiles("A / 4 * B", "let q = i / B let r = i % B", place))); }), "");
  EXPECT_EQ(CatchMessage([&] { Verify(Parse(Tiles("A * 3", "let q = i / 3 let r = i % 3", place))); }), "");
  const char* split_twice = R"ir(func f(x: f32[A, B, C]) -> (o: f32[A, B, C]) {
    parallel i in 0..A * B * C {
      let p = i / C
      let s = i % C
      let q = p / B
      let r = p % B
      o[q, r, s] = 1.0
    }
  })ir";
  EXPECT_EQ(CatchMessage([&] { Verify(Parse(split_twice)); }), "");
  std::string chain = "let v0 = i / 2 ";
  for (int v = 1; v < 100'000; ++v) chain += "let v" + std::to_string(v) + " = v" + std::to_string(v - 1) + " / 2 ";
  for (const std::string& racy : {
           Tiles("A", chain, "v99999 + j, k"),  // too long to follow
           Tiles("A * B", "let q = i / B let r = i % A", place),  // of two divisors
           Tiles("A * B", "let q = i / B let r = i / B", place),  // without a remainder
           Tiles("A * B", "let q = i / B let r = i % B", "q * 4 + j, q * 8 + k"),
           Tiles("A * B", "let q = i / B let r = i % B", "q * 4 + j, r * 7 + k"),  // tiles that overlap
           Tiles("A", "let q = i / B let r = i % B", place),  // all the same where B is 0
           Tiles("A", "let q = i / 0 let r = i % 0", place),
       }) {
    const std::string message = CatchMessage([&] { Verify(Parse(racy)); });
    EXPECT_NE(message.find(kRace), std::string::npos) << racy << "\n" << message;
  }
}

TEST(IrVerify, RefusesDeepCalls) {
  const auto chain = [](int length) {
    return Parse(Repeated(length,
                          [](const std::string& i) {
                            return "func f" + i + "n() -> () { call f" + std::to_string(std::stoi(i) + 1) + "n() } ";
                          }) +
                 "func f" + std::to_string(length) + "n() -> () { }");
  };
  EXPECT_EQ(CatchMessage([&] { Verify(chain(99)); }), "");
  EXPECT_EQ(CatchMessage([&] { Verify(chain(100)); }), "ValueError: f100n: calls are nested more than 100 deep");
  EXPECT_EQ(CatchMessage([&] { Verify(chain(20000)); }), "ValueError: f100n: calls are nested more than 100 deep");
}

// Each took time, or memory, that grew with the square of its length: minutes.
TEST(IrVerify, TakesTimeInProportionToTheText) {
  constexpr int kMany = 20000;
  const std::string lets = Repeated(kMany, [](const std::string& i) { return "let a" + i + " = n + 1\n"; });
  const std::string ifs = Repeated(kMany, [](const std::string&) { return "if n > 0 { }\n"; });
  const std::string stores = Repeated(kMany, [](const std::string& i) { return "o[i * 20000 + " + i + "] = 1.0\n"; });
  const std::string params = Repeated(kMany, [](const std::string& i) { return "p" + i + ": i64, "; });
  const std::string sums = Repeated(kMany, [](const std::string& i) {
    return "let s" + i + " = p" + i + (i == "0" ? "" : " + s" + std::to_string(std::stoi(i) - 1)) + "\n";
  });
  for (const std::string& text : {"func f(n: i64) -> () { " + lets + ifs + "}",
                                  "func f(o!: f32[N]) -> () { parallel i in 0..N / 20000 { " + stores + "} }",
                                  "func f(" + params + "n: i64) -> () { " + sums + "}"}) {
    EXPECT_EQ(CatchMessage([&] { Verify(Parse(text)); }), "") << text.substr(0, 100);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Devices, IrVerify,
    testing::Values(
        Case{"func f(x: f32[N]) -> (o: f32[N]) target \"cuda -arch=sm_90\" { o[0] = 1.0 }",
             "ValueError: line 1, column 62: f: host code touches 'o', which is memory of the device (cuda); put the "
             "access into a launch"},
        Case{"func f() -> () target \"opencl -max_num_threads=256\" { launch grid(1) block(512) { } }",
             "ValueError: line 1, column 55: f: launch: expected at most 256 threads per block (max_threads_per_block "
             "of "
             "opencl), got 512: (512, 1, 1)"},
        Case{R"ir(func f() -> () target "cuda -max_shared_memory_per_block=1024" {
          launch grid(1) block(1) {
            alloc t: f32[512] shared
          }
        })ir",
             "ValueError: line 3, column 13: f: launch: expected at most 1024 bytes of shared memory per block "
             "(max_shared_memory_per_block of cuda -max_shared_memory_per_block=1024), got 2048"},
        Case{"func f() -> () { alloc t: f32[2] shared }",
             "ValueError: line 1, column 18: f: 't': shared memory outside a launch"}));

}  // namespace
}  // namespace ir_test
