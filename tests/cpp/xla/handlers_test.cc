// The XLA handlers against a runtime of our own making, so that every API minor and every malformed call can be had.
#include <gtest/gtest.h>
#include <kernpack/host/host.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>

#include "fake_xla.h"

namespace kernpack::xla {
namespace {

const KpHost* g_host = nullptr;

float* Floats(const KpAny& value) { return static_cast<float*>(kp_any_tensor(&value)->data); }

// (x: f32[N], *, k: int, s: float) -> (out: f32[N])
int Scale(void*, const KpAny* args, int32_t, KpAny*) {
  const KpDLTensor& x = *kp_any_tensor(&args[0]);
  if (x.shape[0] > 0 && x.strides[0] != 1) return kp_raise("InternalError", "strides");
  for (int64_t i = 0; i < x.shape[0]; ++i) {
    const double s = args[2].type_index == KP_TYPE_INT ? static_cast<double>(args[2].v.v_int) : args[2].v.v_float;
    Floats(args[3])[i] = Floats(args[0])[i] * static_cast<float>(args[1].v.v_int) + static_cast<float>(s);
  }
  return 0;
}

int Fail(void*, const KpAny*, int32_t, KpAny*) { return kp_raise("ValueError", "fail: x: is not to my taste"); }
int FailSilently(void*, const KpAny*, int32_t, KpAny*) { return -1; }

// (xs: list[f32[N]], bias: f32[N]? = None, *, names: list[str], ks: list[int], flag: bool) -> (out: f32[N])
int Combine(void*, const KpAny* args, int32_t, KpAny*) {
  const auto& xs = *static_cast<const KpSequenceObject*>(args[0].v.v_ptr);
  const auto& names = *static_cast<const KpSequenceObject*>(args[2].v.v_ptr);
  const auto& ks = *static_cast<const KpSequenceObject*>(args[3].v.v_ptr);
  float* out = Floats(args[5]);
  out[0] = static_cast<float>(100 * xs.size + 10 * names.size + ks.size);
  out[1] = args[1].type_index == KP_TYPE_NONE ? -1.0f : Floats(args[1])[0];
  out[2] = ks.size ? static_cast<float>(ks.data[0].v.v_int) : 0.0f;
  out[3] = xs.size ? Floats(xs.data[xs.size - 1])[0] : 0.0f;
  KpBytes name{};
  if (names.size && kp_any_str(&names.data[names.size - 1], &name) && name.size == 1) out[4] = name.data[0];
  out[5] = static_cast<float>(args[4].v.v_int);
  return 0;
}

// (cache!: f32[N], x: f32[N]) -> () with workspace = N * 4
int Accumulate(void*, const KpAny* args, int32_t n, KpAny*) {
  if (n != 3) return kp_raise("InternalError", "count");
  const int64_t size = kp_any_tensor(&args[0])->shape[0];
  for (int64_t i = 0; i < size; ++i) Floats(args[0])[i] += Floats(args[1])[i];
  std::memset(kp_any_tensor(&args[2])->data, 1, static_cast<size_t>(size) * 4);
  return 0;
}

std::atomic<int64_t> g_sum{0};

// (n: int, bad: int) -> (out: f32[1])
int Parallel(void*, const KpAny* args, int32_t, KpAny*) {
  g_sum = 0;
  const int64_t bad = args[1].v.v_int;
  return g_host->parallel_for(
      g_host, args[0].v.v_int, 1,
      [](void* context, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          if (i == *static_cast<int64_t*>(context))
            return kp_raise("ValueError", "parallel: item %d", static_cast<int>(i));
          g_sum += i;
        }
        return 0;
      },
      const_cast<int64_t*>(&bad));
}

constexpr KpFunctionInfo Contract(const char* text) {
  return {sizeof(KpFunctionInfo), KP_DEF_FUNCTION, nullptr, text, nullptr, 0, 0, nullptr, nullptr, nullptr, nullptr,
          {nullptr, nullptr}};
}
constexpr KpFunctionInfo kScale = Contract("(x: f32[N], *, k: int, s: float) -> (out: f32[N])");
constexpr KpFunctionInfo kOneToOne = Contract("(x: f32[N]) -> (out: f32[N])");
constexpr KpFunctionInfo kCombine = Contract(
    "(xs: list[f32[N]], bias: f32[N]? = None, *, names: list[str], ks: list[int], flag: bool) -> (out: f32[6])");
constexpr KpFunctionInfo kAccumulate = Contract("(cache!: f32[N], x: f32[N]) -> () with workspace = N * 4");
constexpr KpFunctionInfo kParallel = Contract("(n: int, bad: int) -> (out: f32[1])");
const KpFunctionDef kDefs[] = {
    {"scale", Scale, &kScale},
    {"fail", Fail, &kOneToOne},
    {"silent", FailSilently, &kOneToOne},
    {"combine", Combine, &kCombine},
    {"accumulate", Accumulate, &kAccumulate},
    {"parallel", Parallel, &kParallel},
    {"untyped", Fail, nullptr},
};

int CreateInstance(const KpHost* host, KpInstance** out) {
  g_host = host;
  *out = nullptr;
  return 0;
}
void DestroyInstance(KpInstance*) {}
const KpModule kModule = {
    sizeof(KpModule), KP_ABI_VERSION, KP_ABI_MAJOR << 16, 0, "xla_test", "1.0.0", "0.1.0", nullptr, kDefs,
    std::end(kDefs),  CreateInstance, DestroyInstance,    {}};

std::string Qualified(const char* function) {
  const KpLoadedModule* module = nullptr;
  EXPECT_EQ(kp_module_adopt(&kModule, &module), 0);
  return std::string("xla_test@") + kp_module_digest(module) + "/" + function;
}

struct ScaleCall {
  explicit ScaleCall(int32_t minor = kApiMinor) : xla(minor) {
    xla.Text("kp.fn", Qualified("scale")).Int("k", 2).Float("s", 0.5);
    xla.Argument(DataType::kF32, in, {3}).Result(DataType::kF32, out, {3});
  }
  float in[4] = {1, 2, 3, 4};
  float out[4] = {};
  FakeXla xla;
};

class EachMinor : public testing::TestWithParam<int32_t> {};
INSTANTIATE_TEST_SUITE_P(Minors, EachMinor, testing::Values(1, 2, 3, 4));

TEST_P(EachMinor, RunsWithThatRuntimesStateLayout) {
  ScaleCall call(GetParam());
  EXPECT_EQ(call.xla.Run(), "");
  EXPECT_EQ(call.out[2], 6.5f);
}

TEST_P(EachMinor, ReportsTheOlderOfBothVersions) {
  FakeXla xla(GetParam());
  const int32_t expected = std::min(GetParam(), kApiMinor);
  EXPECT_EQ(xla.Probe(kp_xla_ffi_instantiate), expected);
  EXPECT_EQ(xla.Probe(kp_xla_ffi_execute_cpu), expected);
  EXPECT_EQ(xla.Probe(kp_xla_ffi_execute_cuda), expected);
}

TEST(XlaHandlers, AnswersARuntimeThatShowsNoTable) {
  Metadata metadata{offsetof(Metadata, state_type), {sizeof(ApiVersion), nullptr, -1, -1}, 99, {-1}};
  MetadataExtension extension{{sizeof(MetadataExtension), kMetadataExtension, nullptr}, &metadata};
  CallFrame frame{};
  frame.struct_size = kCallFrameSize;
  frame.extension = &extension.base;
  EXPECT_EQ(kp_xla_ffi_instantiate(&frame), nullptr);
  EXPECT_EQ(metadata.api_version.minor, 1);
  EXPECT_EQ(metadata.state_type.value, -1);  // behind the end of that runtime's struct
}

TEST(XlaHandlers, FloatBitsKeepNegativeZero) {
  ScaleCall call;
  FakeXla xla;
  xla.Text("kp.fn", Qualified("scale")).Int("k", 0).Int("s.bits", std::numeric_limits<int64_t>::min());
  call.in[0] = -1;
  xla.Argument(DataType::kF32, call.in, {1}).Result(DataType::kF32, call.out, {1});
  ASSERT_EQ(xla.Run(), "");
  EXPECT_EQ(call.out[0], 0.0f);
  EXPECT_TRUE(std::signbit(call.out[0]));
}

TEST(XlaHandlers, RefusesAnotherMajorAndASmallFrame) {
  ScaleCall call;
  call.xla.api.version.major = 1;
  EXPECT_NE(call.xla.Instantiate().find("this XLA speaks version 1.3"), std::string::npos);
  call.xla.api.version.major = 0;
  call.xla.frame_size = 100;
  EXPECT_NE(call.xla.Instantiate().find("frame of 100 bytes"), std::string::npos);
}

TEST(XlaHandlers, NamesWhatIsWrongWithAttributes) {
  FakeXla xla;
  EXPECT_NE(xla.Instantiate().find("no attribute 'kp.fn'"), std::string::npos);
  xla.Text("kp.fn", "nobody@00/scale");
  EXPECT_NE(xla.Instantiate().find("[ImportError]"), std::string::npos);
  xla.Text("kp.fn", Qualified("untyped"));
  EXPECT_NE(xla.Instantiate().find("untyped: has no signature"), std::string::npos);
  xla.Text("kp.fn", Qualified("scale"));
  EXPECT_EQ(xla.Instantiate(),
            "[TypeError] scale: the XLA call has no attribute 'k'; call the function through kernpack.jax");
  xla.Text("k", "two").Float("s", 1);
  EXPECT_NE(xla.Instantiate().find("scale: k: expected int, got a string"), std::string::npos);
  xla.Int("k", 2).Int("q", 3);
  EXPECT_NE(xla.Instantiate().find("attribute 'q' that isn't one of its static parameters"), std::string::npos);
  EXPECT_EQ(xla.last_code, ErrorCode::kInvalidArgument);
}

TEST(XlaHandlers, RefusesNoneWhereTheSignatureDoes) {
  FakeXla xla;
  xla.Text("kp.fn", Qualified("scale")).Int("k", 1).Float("s", 1).Text("kp.none", "x");
  EXPECT_EQ(xla.Instantiate(), "[TypeError] scale: x: must not be None");
  xla.Text("kp.none", "zzz");
  EXPECT_NE(xla.Instantiate().find("'kp.none' names no parameter"), std::string::npos);
}

TEST(XlaHandlers, ChecksTheShapesThatEachCallSiteFirstSees) {
  ScaleCall call;
  ASSERT_EQ(call.xla.Run(), "");
  ASSERT_EQ(call.xla.Execute(), "");
  call.xla.ClearBuffers();
  EXPECT_NE(call.xla.Execute().find("expected 1 operands and 1 results"), std::string::npos);
  call.xla.Argument(DataType::kF32, call.in, {3}).Result(DataType::kF32, call.out, {2});
  EXPECT_NE(call.xla.Run().find("[ValueError] scale: out: expected"), std::string::npos);
  call.xla.ClearBuffers();
  call.xla.Argument(DataType::kF16, call.in, {3}).Result(DataType::kF32, call.out, {3});
  EXPECT_NE(call.xla.Run().find("[TypeError] scale: x: expected dtype f32"), std::string::npos);
  call.xla.ClearBuffers();
  call.xla.Argument(DataType::kToken, nullptr, {}).Result(DataType::kF32, call.out, {3});
  EXPECT_NE(call.xla.Run().find("isn't a tensor"), std::string::npos);
}

TEST(XlaHandlers, CallSitesThatSayTheSameKeepTheirOwnShapesAndAddresses) {
  ScaleCall first, second, other;
  second.xla.ClearBuffers();
  second.xla.Argument(DataType::kF32, second.in, {2}).Result(DataType::kF32, second.out, {2});
  other.xla.Int("k", 3);
  for (ScaleCall* call : {&first, &second, &other}) ASSERT_EQ(call->xla.Run(), "");
  for (ScaleCall* call : {&second, &first, &other}) ASSERT_EQ(call->xla.Execute(), "");
  EXPECT_EQ(first.out[2], 6.5f);
  EXPECT_EQ(second.out[1], 4.5f);
  EXPECT_EQ(second.out[2], 0.0f);  // beyond its two items
  EXPECT_EQ(other.out[2], 9.5f);
}

TEST(XlaHandlers, ErrorsKeepTheirKind) {
  float x = 1;
  FakeXla xla;
  float out = 0;
  xla.Text("kp.fn", Qualified("fail")).Argument(DataType::kF32, &x, {1}).Result(DataType::kF32, &out, {1});
  EXPECT_EQ(xla.Run(), "[ValueError] fail: x: is not to my taste");
  EXPECT_EQ(xla.last_code, ErrorCode::kInvalidArgument);
  FakeXla silent;
  silent.Text("kp.fn", Qualified("silent")).Argument(DataType::kF32, &x, {1}).Result(DataType::kF32, &out, {1});
  EXPECT_EQ(silent.Run(), "[InternalError] silent returned -1 without an error");
  EXPECT_EQ(silent.last_code, ErrorCode::kInternal);
}

TEST(XlaHandlers, TakesListsOptionalsAndNames) {
  float x[4] = {7, 8, 9, 10}, y[4] = {5, 5, 5, 5}, out[6] = {};
  FakeXla xla;
  xla.Text("kp.fn", Qualified("combine")).Int("xs", 2).Text("kp.none", "bias").Texts("names", {"ab", "c"});
  xla.Ints("ks", {42}).Bool("flag", true);
  xla.Argument(DataType::kF32, x, {4}).Argument(DataType::kF32, y, {4}).Result(DataType::kF32, out, {6});
  ASSERT_EQ(xla.Run(), "");
  EXPECT_EQ(std::vector<float>(out, out + 6), (std::vector<float>{221, -1, 42, 5, 'c', 1}));
  xla.Ints("ks", {}).Texts("names", {}).Int("xs", -1);
  EXPECT_NE(xla.Instantiate().find("xs: expected the number of tensors"), std::string::npos);
  xla.Int("xs", 0);
  xla.ClearBuffers();
  xla.Result(DataType::kF32, out, {6});
  EXPECT_EQ(xla.Run(), "");
  EXPECT_EQ(out[0], 0.0f);
}

TEST(XlaHandlers, WritesInPlaceAndTakesItsWorkspace) {
  float cache[2] = {1, 2}, x[2] = {10, 20}, other[2];
  char scratch[8] = {};
  FakeXla xla;
  xla.Text("kp.fn", Qualified("accumulate"));
  xla.Argument(DataType::kF32, cache, {2}).Argument(DataType::kF32, x, {2});
  xla.Result(DataType::kF32, cache, {2}).Result(DataType::kU8, scratch, {8});
  ASSERT_EQ(xla.Run(), "");
  EXPECT_EQ(cache[1], 22.0f);
  EXPECT_EQ(scratch[7], 1);
  xla.ClearBuffers();
  xla.Argument(DataType::kF32, cache, {2}).Argument(DataType::kF32, x, {2});
  xla.Result(DataType::kF32, other, {2}).Result(DataType::kU8, scratch, {8});
  EXPECT_NE(xla.Execute().find("needs input_output_aliases"), std::string::npos);
  xla.ClearBuffers();
  xla.Argument(DataType::kF32, cache, {2}).Argument(DataType::kF32, x, {2});
  xla.Result(DataType::kF32, cache, {2}).Result(DataType::kU8, scratch, {7});
  EXPECT_NE(xla.Run().find("expected a workspace of 8 bytes"), std::string::npos);
}

class ParallelFor : public testing::Test {
 protected:
  std::string Run(int64_t bad) {
    xla.Text("kp.fn", Qualified("parallel")).Int("n", 100).Int("bad", bad);
    xla.ClearBuffers();
    xla.Result(DataType::kF32, &out, {1});
    return xla.Run();
  }
  float out = 0;
  FakeXla xla;
};

TEST_F(ParallelFor, RunsOnXlasThreads) {
  std::vector<std::thread> threads;
  xla.schedule = [&](auto task, void* data) { threads.emplace_back(task, data); };
  EXPECT_EQ(Run(-1), "");
  EXPECT_EQ(g_sum, 4950);
  EXPECT_NE(Run(50).find("[ValueError] parallel: item 50"), std::string::npos);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(threads.size(), 6u);
}

TEST_F(ParallelFor, DoesNotWaitForTasksThatNeverStart) {
  std::vector<std::pair<void (*)(void*), void*>> late;
  xla.schedule = [&](auto task, void* data) { late.emplace_back(task, data); };
  EXPECT_EQ(Run(-1), "");
  EXPECT_EQ(g_sum, 4950);
  for (auto& [task, data] : late) task(data);  // after the call: they must find nothing to do
  EXPECT_EQ(g_sum, 4950);
}

TEST_F(ParallelFor, RunsInlineAndWithoutAPool) {
  xla.schedule = [](auto task, void* data) { task(data); };
  EXPECT_EQ(Run(-1), "");
  EXPECT_EQ(g_sum, 4950);
  xla.schedule = nullptr;
  EXPECT_EQ(Run(-1), "");
  EXPECT_EQ(g_sum, 4950);
}

TEST(XlaHandlers, OneCallSiteRunsOnManyThreads) {
  ScaleCall call;
  ASSERT_EQ(call.xla.Instantiate(), "");
  const CallFrame frame = call.xla.ExecuteFrame();
  std::vector<std::thread> threads;
  std::atomic<int> failed{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      CallFrame mine = frame;
      float out[3] = {};
      Buffer result = *static_cast<Buffer*>(frame.results.items[0]);
      result.data = out;
      void* results[] = {&result};
      mine.results.items = results;
      for (int i = 0; i < 1000; ++i) failed += kp_xla_ffi_execute_cpu(&mine) != nullptr || out[1] != 4.5f;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 0);
}

}  // namespace
}  // namespace kernpack::xla
