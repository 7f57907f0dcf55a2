// The generator of kind c: compiled by the system's compiler, loaded, and compared with the semantics table.
#include <kernpack/sdk/codegen/c.h>

#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>

#include "ir/arguments.h"
#include "ir/common_samples.h"
#include "ir/compiled.h"
#include "ir/semantics.h"

namespace ir_test {
namespace {

constexpr const char kStrict[] = "-O1 -Wall -Wextra -Werror -pedantic -Wno-psabi";
constexpr const char kStructs[] = "-O1 -Wall -Wextra -Werror -pedantic -DKP_VECTORS=0";

Compiled CompileWith(const char* flags, IRModule module) {
  const Environment environment("KERNPACK_CFLAGS", flags);
  module.name += flags == kStructs ? "_structs" : "";
  return Compiled(module);
}

class IrSemanticsC : public testing::TestWithParam<Row> {};

TEST_P(IrSemanticsC, Scalars) {
  static const Compiled compiled = CompileWith(kStrict, Parse(SemanticsModule()));
  RowCase c(GetParam());
  EXPECT_EQ(compiled.Call(FunctionOf(GetParam()), c.Args()), "");
  EXPECT_TRUE(c.Ok()) << GetParam().expr;
}
TEST_P(IrSemanticsC, GnuVectors) {
  static const Compiled compiled = CompileWith(kStrict, Parse(VectorSemanticsModule()));
  RowCase c(GetParam(), 11);
  EXPECT_EQ(compiled.Call(FunctionOf(GetParam()), c.Args()), "");
  EXPECT_TRUE(c.Ok()) << GetParam().expr;
}
TEST_P(IrSemanticsC, VectorsAsStructs) {
  static const Compiled compiled = CompileWith(kStructs, Parse(VectorSemanticsModule()));
  RowCase c(GetParam(), 11);
  EXPECT_EQ(compiled.Call(FunctionOf(GetParam()), c.Args()), "");
  EXPECT_TRUE(c.Ok()) << GetParam().expr;
}
INSTANTIATE_TEST_SUITE_P(Table, IrSemanticsC, testing::ValuesIn(kRows),
                         [](const auto& info) { return info.param.name; });

// Functions that use what a generator can get wrong. Each runs for several extents and is compared with the interpreter.
const std::string kSamples = R"(module "samples"
private func scale(x: f32[M], k: f32) -> (y: f32[M]) { for i in 0..M { y[i] = x[i] * k } }
func keywords(int: f32[N], kp_x: i64, result: i64, n: i64) -> (host: f32[N]) {
  parallel main in 0..N { let double = int[main] let LANE = n + 1 host[main] = double + f32(kp_x - result * LANE) }
}
func for_(args: i32[N]) -> (errno: i32[N]) { for n in 0..N { let t = args[n] errno[n] = t } }
)" + std::string(kCommonSamples);

class IrGenerateC : public testing::TestWithParam<const char*> {};

TEST_P(IrGenerateC, AgreesWithTheInterpreter) {
  static const IRModule module = Parse(kSamples);
  static const Compiled compiled = CompileWith(kStrict, module);
  const FuncNode& f = *module.Find(GetParam());
  for (const int64_t n : {0, 1, 2, 5, 16, 37}) {
    const Dims dims{{"N", n}, {"D", 5}};
    Arguments want(f, dims, static_cast<uint64_t>(n)), got(f, dims, static_cast<uint64_t>(n));
    Interpret(module, f.name, want.Any());
    EXPECT_EQ(compiled.Call(f.name, got.Any()), "");
    for (size_t i = 0; i < want.arrays().size(); ++i) {
      EXPECT_TRUE(want.arrays()[i].bytes == got.arrays()[i].bytes) << "tensor " << i << " for N = " << n;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Samples, IrGenerateC,
                         testing::Values("calls", "every_scalar", "every_float", "storage", "nested", "early",
                                         "computed", "keywords", "for_", "negative_steps", "shuffles",
                                         "quotients_that_are_0_or_1", "first_negative", "rounds",
                                         "conditions_that_need_statements", "places"),
                         [](const auto& info) { return std::string(info.param); });

TEST(IrModuleC, NamesOfTheCLibraryAreNamesLikeOthers) {
  const Compiled compiled = CompileWith(kStrict, Parse(R"(module "names"
    func signbit(x: f32[N]) -> (o: f32[N]) { call copysign(x, o) }
    private func copysign(fabsf: f32[N]) -> (strlen: f32[N]) {
      for floorf in 0..N { strlen[floorf] = floor(abs(fabsf[floorf])) }
    })"));
  Array x = Array::Of<float>(kF32, {2}, {-2.5, 3}), o(kF32, {2});
  EXPECT_EQ(compiled.Call("signbit", {x.Value(), o.Value()}), "");
  EXPECT_EQ(o.as<float>()[0], 2);
}

TEST(IrModuleC, KeepsPersistentMemoryBetweenCalls) {
  const Compiled compiled(Parse(R"(module "counter" func count(n: i64) -> (o: i64[1]) {
    alloc seen: i64[1] persistent("seen", zeroed) seen[0] = seen[0] + n o[0] = seen[0] })"));
  Array o(kI64, {1});
  for (const int64_t want : {5, 10, 15}) {
    EXPECT_EQ(compiled.Call("count", {Int(5), o.Value()}), "");
    EXPECT_EQ(o.as<int64_t>()[0], want);
  }
}

TEST(IrModuleC, RaisesWhatAssertsSayAndStopsParallelLoops) {
  const Compiled compiled(Parse(R"(module "asserts" func f(x: i32[N]) -> (o: i32[N]) {
    parallel i in 0..N { assert x[i] != 7i32, KeyError "seven \"\\ ?\x3f/ é" o[i] = x[i] } })"));
  Array x = Array::Of<int32_t>(kI32, {3}, {1, 7, 2}), o(kI32, {3});
  EXPECT_EQ(compiled.Call("f", {x.Value(), o.Value()}),
            "KeyError: seven \"\\ ?"
            "?/ \u00e9");
  x.as<int32_t>()[1] = 8;
  EXPECT_EQ(compiled.Call("f", {x.Value(), o.Value()}), "");
  EXPECT_EQ(o.bytes, x.bytes);
}

TEST(IrModuleC, ChecksArgumentsThroughTheDerivedSignature) {
  const Compiled compiled(Parse(R"ir(module "checks"
  func f(x: f32[N, 4], k: i8) -> (o: f32[N]) { }
  private func g(x: f32[n]) -> (o: f32[n]) { }
  func h(x: f32[n]) -> (o: f32[n]) {
    call g(x, o)
  })ir"));
  const KpLoadedFunction* f = kp_module_function(compiled.module(), kp_bytes("f"));
  EXPECT_STREQ(kp_signature_text(f->signature), "(x: f32[N, 4], k: int) -> (o: f32[N])");
  EXPECT_STREQ(kp_signature_text(kp_module_function(compiled.module(), kp_bytes("h"))->signature),
               "(x: f32[N]) -> (o: f32[N])");
  EXPECT_EQ(kp_module_function_count(compiled.module()), 2) << "private functions are not reachable";
  Array x(kF32, {2, 4}), bad(kF32, {2, 5}), o(kF32, {2}), other(kI32, {2});
  EXPECT_EQ(compiled.Call("f", {x.Value(), Int(127), o.Value()}), "");
  EXPECT_EQ(compiled.Call("f", {x.Value(), Int(128), o.Value()}),
            "ValueError: f: k: expected int from -128 to 127, got 128");
  EXPECT_EQ(compiled.Call("f", {bad.Value(), Int(1), o.Value()}).substr(0, 11), "ValueError:");
  EXPECT_EQ(compiled.Call("f", {x.Value(), Int(1), other.Value()}).substr(0, 10), "TypeError:");
}

// A signature that says less than the parameters must not let the function out of the tensors' memory.
TEST(IrModuleC, ChecksShapesThatAGivenSignatureLeavesOpen) {
  const Compiled compiled(Parse(R"ir(module "open"
  func f(x!: f32[N], y: f32[N]) -> () signature "(x!: f32[_], y: f32[_]) -> ()" {
    for i in 0..N {
      x[i] = y[i]
    }
  })ir"));
  Array x(kF32, {4}), y(kF32, {3});
  EXPECT_EQ(compiled.Call("f", {x.Value(), y.Value()}), "ValueError: f: y: dimension 0: expected 4, got 3");
}

TEST(IrModuleC, TellsGradients) {
  const Compiled compiled(Parse(R"(module "grads"
    func f(x: f32[N]) -> (o: f32[N]) grad "f_backward" { }
    func f_backward(d_o: f32[N], x: f32[N]) -> (d_x: f32[N]) { })"));
  KpAny list;
  ASSERT_EQ(kp_module_gradients(compiled.module(), &list), 0);
  KpBytes text{};
  kp_any_str(&list, &text);
  EXPECT_EQ(std::string(text.data, text.size), "[[\"f\",\"f_backward\"]]");
  kp_any_release(&list);
}

TEST(IrModuleC, SaysWhatItCannotBuild) {
  const auto build = [](const char* text) { return CatchMessage([text] { Compiled(Parse(text)); }); };
  EXPECT_EQ(build("module \"a\" private func f() -> () { }"),
            "ValueError: module 'a' has no function that is not private");
  EXPECT_EQ(build("module \"a\\x0ab\" func f() -> () { }"),
            "ValueError: module 'a\nb': the name of a compiled module has letters, digits, _ and . only");
  EXPECT_EQ(build("func f(x: f32[N]) -> () { launch grid(1) block(1) { barrier } }"),
            "NotImplementedError: f: the kind c cannot generate a launch: it has no device; build for opencl or cuda");
  EXPECT_EQ(build("func f(o!: f64[1]) -> () { o[0] = extern(\"f(); g\", f64, 1.0f64) }"),
            "NotImplementedError: f: the kind c cannot generate extern \"f(); g\": that isn't a valid C function name");
  EXPECT_EQ(build("func f(X: f32[N]) -> () { }"),
            "ValueError: f: X: a signature needs a name in lower case; give the function one yourself");
  EXPECT_EQ(
      build("func f(self: f32[N]) -> () { }"),
      "ValueError: f: signature '(self: f32[N]) -> ()', position 1: this name is reserved (Python keywords, dtype "
      "names, _, self, dtypes)");
  EXPECT_EQ(build("func f(x: f32[N]) -> () signature \"(x: f32[N]) ->\" { }"),
            "ValueError: f: signature '(x: f32[N]) ->', position 14: expected '('");
  EXPECT_EQ(build("func f(x!: f32[N]) -> () signature \"(x: f32[N]) -> ()\" { }"),
            "ValueError: f: x: the function writes it, its signature doesn't say so: write 'x!: ...' there");
  EXPECT_EQ(build("func f(x: f32[N]) -> () signature \"(x!: f32[N]) -> ()\" { }"),
            "ValueError: f: x: its signature marks it as written, the function doesn't: declare it 'x!:', or take the "
            "'!' out of the signature");
  EXPECT_EQ(
      build("func f(x: f32[N]) -> () signature \"(x: f32[N] compact) -> ()\" { }"),
      "ValueError: f: x: its signature marks it 'compact', but generated code makes no copies: take the mark out, "
      "and callers pass contiguous tensors");
}

TEST(IrModuleC, SaysWhenThereIsNoCompilerOrItFails) {
  const char* text = "func f(x: f32[N]) -> () { }";
  {
    const Environment environment("KERNPACK_CC", "/nowhere/cc");
    EXPECT_EQ(CatchMessage([text] { Compiled(Parse(text)); }),
              "RuntimeError: the kind c: cannot run the C compiler '/nowhere/cc'; set KERNPACK_CC to one");
  }
  {
    const Environment environment("KERNPACK_CC", "false");
    EXPECT_EQ(CatchMessage([text] { Compiled(Parse(text)); }),
              "RuntimeError: the kind c: /usr/bin/false failed (status 1):\n");
  }
  const std::string path = std::getenv("PATH");
  setenv("PATH", "/nowhere", 1);
  EXPECT_EQ(
      CatchMessage([text] { Compiled(Parse(text)); }),
      "RuntimeError: the kind c needs a C compiler: KERNPACK_CC is not set, and there is no cc, gcc or clang on PATH; "
      "install one (Debian: apt install gcc), or build for llvm");
  setenv("PATH", path.c_str(), 1);
}

}  // namespace
}  // namespace ir_test
