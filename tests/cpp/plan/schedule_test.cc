// When steps run and in which memory: streams, waits, buffers.
#include <kernpack/error.h>

#include <gtest/gtest.h>

#include "plan/random_programs.h"
#include "plan/support.h"

namespace kernpack::sdk::program {
namespace {

// By step of the first program: "stream <waits" ("|": barrier, "-": none).
std::string GetStreams(const Plan& plan) {
  std::string out;
  for (const PlannedStep& s : plan.programs[0].steps) {
    out += out.empty() ? "" : " ";
    out += s.barrier ? "|" : s.stream == kNoStream ? "-" : std::to_string(s.stream);
    for (const uint32_t w : s.waits) out += "<" + std::to_string(w);
  }
  return out;
}

std::string CollectBuffers(const Plan& plan) {
  std::string out;
  const Program& p = plan.module.programs[0];
  for (const Buffer& b : plan.programs[0].buffers) {
    out += b.size.str() + ":";
    for (const ValueId v : b.values) out += " " + p.values[v].name;
    out += "\n";
  }
  return out;
}

TEST(Streams, AChainIsOneStreamWithoutWaits) {
  const Plan plan = BuildPlan(R"(program main(x: f32[N]) {
  a = call m.negate(x)
  b = call m.negate(a)
  c = call m.negate(b)
  return c
})");
  EXPECT_EQ(GetStreams(plan), "0 0 0");
  EXPECT_EQ(plan.streams.size(), 1U);
}

TEST(Streams, IndependentChainsRunBesideEachOther) {
  const Plan plan = BuildPlan(R"(program main(x: f32[N]) {
  a = call m.negate(x)
  b = call m.negate(x)
  c = call m.negate(a)
  d = call m.negate(b)
  e = call m.add(c, d)
  return e
})");
  EXPECT_EQ(GetStreams(plan), "0 1 0 1 1<2");
  EXPECT_TRUE(plan.programs[0].steps[2].signals);
  EXPECT_FALSE(plan.programs[0].steps[3].signals);
}

TEST(Streams, WaitsThatOthersImplyAreLeftOut) {
  // f follows d, which waited for a: a is not waited for again.
  const Plan plan = BuildPlan(R"(program main(x: f32[N]) {
  a = call m.negate(x)
  b = call m.negate(x)
  c = call m.negate(x)
  d = call m.add(a, b)
  e = call m.add(d, c)
  f = call m.add(e, a)
  return f
})");
  EXPECT_EQ(GetStreams(plan), "0 1 2 1<0 1<2 1");
}

TEST(Streams, CopiesRunBesideCalls) {
  const Plan plan = BuildPlan(R"(program main(x: f32[N] @cpu, y: f32[N] @cuda) {
  a @cuda = call m.negate(y)
  b @cuda = call m.add(a, x)
  c @cpu = copy b
  d @cuda = call m.negate(b)
  return c, d
})");
  EXPECT_EQ(GetStreams(plan), "0 1 0<1 1<2 0");
  EXPECT_TRUE(plan.streams[1].copies);
  EXPECT_EQ(plan.streams[1].device.device_type(), KP_DEVICE_CUDA);
}

TEST(Streams, AreNoMoreThanTheOptionAllows) {
  ProgramBuilder b("main");
  const ValueId x = b.Param("x", Type::Tensor(f32, {{"N"}}));
  for (int i = 0; i < 20; ++i) b.Return({b.Call("m.negate", {x})});
  PlanOptions options;
  options.streams_per_device = 3;
  EXPECT_EQ(BuildPlan({{b.Finish()}}, options).streams.size(), 3U);
  options.streams_per_device = 0;
  EXPECT_THROW(BuildPlan({{b.Finish()}}, options), Error);
}

TEST(Streams, IndependentCallsOnACpuShareOneStream) {
  const Plan plan = BuildPlan(R"(program main(x: f32[N] @cpu) {
  a @cpu = call m.negate(x)
  b @cpu = call m.negate(x)
  c @cpu = call m.add(a, b)
  return c
})");
  EXPECT_EQ(GetStreams(plan), "0 0 0");
}

TEST(Streams, MeetAtProgramsThatAreInvoked) {
  const Plan plan = BuildPlan(R"(program main(x: f32[N]) {
  a = call m.negate(x)
  b = call m.negate(x)
  c = invoke inner(a)
  d = call m.add(b, c)
  return d
}
program inner(p: f32[N]) {
  q = call m.negate(p)
  return q
})");
  EXPECT_EQ(GetStreams(plan), "0 1 | 1");
}

TEST(Streams, KeepReadersBeforeWhoWritesInPlace) {
  const Plan plan = BuildPlan(R"(program main(cache: f32[N], x: f32[N]) {
  a = call m.negate(cache)
  b = call m.negate(x)
  call m.append(cache, b)
  c = call m.negate(cache)
  return a, c
})");
  EXPECT_EQ(GetStreams(plan), "0 1 1<0 1");
}

TEST(Buffers, AreReusedOnceNothingUsesThem) {
  const Plan plan = BuildPlan(R"(program main(x: f32[8]) {
  a = call m.negate(x)
  b = call m.negate(a)
  c = call m.negate(b)
  d = call m.negate(c)
  return d
})");
  EXPECT_EQ(CollectBuffers(plan), "32: a c\n32: b\n");
  const MemoryUse use = MemoryOf(plan.programs[0], plan.module.programs[0]);
  EXPECT_EQ(use.buffers, 64U);
  EXPECT_EQ(use.values, 96U);
}

TEST(Buffers, AreReusedOnlyWhereTheSizeIsKnownToSuffice) {
  const Plan plan = BuildPlan(R"(program main(x: f32[N], y: f32[4], z: f32[_], s: f32[M]) {
  a = call m.negate(x)
  b = call m.negate(a)
  c = call m.negate(b)
  d = call m.negate(z)
  e = call m.negate(d)
  f = call m.negate(e)
  g = call m.negate(s)
  h = call m.negate(g)
  i = call m.negate(y)
  j = call m.negate(i)
  return c, f, h, j
})",
                              {.streams_per_device = 1, .access = {}});
  // M may be larger than N, and what is unknown larger than anything.
  EXPECT_EQ(CollectBuffers(plan), "4 * N: a\n4 * N: b\n?: d\n?: e\n4 * M: g\n16: i\n");
}

TEST(Buffers, TakeTheSmallestThatIsLargeEnough) {
  const Plan plan = BuildPlan(R"(program main(x: f32[64], y: f32[8], z: f32[16]) {
  a = call m.negate(x)
  b = call m.negate(y)
  c = call m.negate(a)
  d = call m.negate(b)
  e = call m.negate(z)
  f = call m.negate(e)
  return c, d, f
})",
                              {.streams_per_device = 1, .access = {}});
  EXPECT_EQ(CollectBuffers(plan), "256: a e\n32: b\n");
}

TEST(Buffers, OfTensorsInATupleLiveAsLongAsIt) {
  const Plan plan = BuildPlan(R"(program main(x: f32[8], n: int) {
  a = call m.negate(x)
  t = tuple(a, a)
  b = call m.negate(x)
  c = call m.negate(b)
  d = call m.concat(t, n)
  return d, c
})",
                              {.streams_per_device = 1, .access = {}});
  EXPECT_EQ(CollectBuffers(plan), "32: a\n32: b\n");
  const std::vector<PlannedStep>& steps = plan.programs[0].steps;
  EXPECT_EQ(steps[1].frees, std::vector<ValueId>());
  const std::vector<ValueId>& call = plan.module.programs[0].steps[4].args;
  EXPECT_EQ(steps[4].frees, (std::vector<ValueId>{plan.module.programs[0].steps[0].results[0], call[0]}));
}

TEST(Buffers, OfArgumentsThatAProgramHandsOnLiveAsLongAsItsResult) {
  const Plan plan = BuildPlan(R"(program main(x: f32[8], c: bool) {
  a = call m.negate(x)
  b = if c then same else other(a)
  d = call m.negate(x)
  e = call m.negate(d)
  f = call m.add(b, e)
  g = call m.negate(f)
  h = call m.negate(g)
  k = call m.negate(h)
  return k
}
program same(p: f32[N]) {
  return p
}
program other(p: f32[N]) {
  q = call m.negate(p)
  return q
})",
                              {.streams_per_device = 1, .access = {}});
  // While b is in use nothing else may be in a's memory.
  EXPECT_EQ(CollectBuffers(plan), "32: a h\n32: d f\n32: e g\n");
}

TEST(Buffers, OfArgumentsThatAProgramReturnsAreNone) {
  const Plan plan = BuildPlan(R"(program main(x: f32[8]) {
  a = call m.negate(x)
  b = invoke same(a)
  d = call m.negate(a)
  e = call m.negate(d)
  return b, e
}
program same(p: f32[N]) {
  return p
})");
  EXPECT_EQ(CollectBuffers(plan), "32: d\n");
}

// ---- laws, of programs made by chance ----

// The order of steps: streams, events and barriers tell if step `before` is done when step `after` runs.
class Order {
 public:
  explicit Order(const PlannedProgram& planned)
      : reach_(planned.steps.size(), std::vector<bool>(planned.steps.size())) {
    std::map<uint32_t, size_t> last;
    size_t barrier = kNone;
    for (size_t s = 0; s < planned.steps.size(); ++s) {
      const PlannedStep& step = planned.steps[s];
      if (step.barrier) {
        for (size_t before = 0; before < s; ++before) reach_[s][before] = true;
        barrier = s;
        last.clear();
      }
      if (barrier != kNone && barrier != s) Add(s, barrier);
      if (step.stream == kNoStream) continue;
      if (last.count(step.stream)) Add(s, last[step.stream]);
      for (const uint32_t w : step.waits) Add(s, w);
      last[step.stream] = s;
    }
  }

  bool Before(size_t before, size_t after) const { return reach_[after][before]; }

 private:
  static constexpr size_t kNone = ~size_t{0};
  std::vector<std::vector<bool>> reach_;

  void Add(size_t s, size_t before) {
    reach_[s][before] = true;
    for (size_t i = 0; i < before; ++i) {
      if (reach_[before][i]) reach_[s][i] = true;
    }
  }
};

bool Runs(const Step& s) {
  return s.kind != StepKind::kConstant && s.kind != StepKind::kTuple && s.kind != StepKind::kTupleGet &&
         s.kind != StepKind::kShapeOf;
}

// The step that made a tensor, through tuples; steps.size() for parameters.
size_t FindMaker(const Program& p, ValueId v) {
  for (size_t s = 0; s < p.steps.size(); ++s) {
    const Step& step = p.steps[s];
    if (std::find(step.results.begin(), step.results.end(), v) == step.results.end()) continue;
    if (step.kind != StepKind::kTupleGet) return s;
    for (const Step& t : p.steps) {
      if (t.kind == StepKind::kTuple && t.results[0] == step.args[0]) return FindMaker(p, t.args[step.index]);
    }
  }
  return p.steps.size();
}

TEST(ScheduleLaws, WhatAStepReadsIsMadeBefore) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const Plan plan = BuildPlan(RandomModule(seed));
    const Program& p = plan.module.programs[0];
    const Order order(plan.programs[0]);
    for (size_t s = 0; s < p.steps.size(); ++s) {
      for (const ValueId v : p.steps[s].args) {
        const size_t maker = FindMaker(p, v);
        if (!Runs(p.steps[s]) || maker == p.steps.size() || !Runs(p.steps[maker])) continue;
        ASSERT_TRUE(order.Before(maker, s)) << seed << ": " << maker << ", " << s << "\n" << Print(plan);
      }
    }
  }
}

TEST(ScheduleLaws, NoWaitFollowsFromTheRest) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const Plan plan = BuildPlan(RandomModule(seed));
    for (size_t s = 0; s < plan.programs[0].steps.size(); ++s) {
      const std::vector<uint32_t> waits = plan.programs[0].steps[s].waits;
      for (const uint32_t w : waits) {
        PlannedProgram less = plan.programs[0];
        std::erase(less.steps[s].waits, w);
        ASSERT_FALSE(Order(less).Before(w, s)) << seed << ": " << w << ", " << s << "\n" << Print(plan);
      }
    }
  }
}

TEST(ScheduleLaws, ABufferIsOneValuesAtATime) {
  size_t shared = 0;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const Plan plan = BuildPlan(RandomModule(seed));
    const Program& p = plan.module.programs[0];
    const Order order(plan.programs[0]);
    for (const Buffer& b : plan.programs[0].buffers) {
      for (size_t i = 1; i < b.values.size(); ++i) {
        ++shared;
        const size_t next = FindMaker(p, b.values[i]), maker = FindMaker(p, b.values[i - 1]);
        ASSERT_TRUE(order.Before(maker, next)) << seed << "\n" << Print(plan);
        for (size_t s = 0; s < p.steps.size(); ++s) {
          for (const ValueId v : p.steps[s].args) {
            if (FindMaker(p, v) != maker || v != b.values[i - 1] || !Runs(p.steps[s])) continue;
            ASSERT_TRUE(order.Before(s, next)) << seed << "\n" << Print(plan);
          }
        }
      }
    }
  }
  EXPECT_GT(shared, 100U);
}

TEST(Plan, OfALongChainNeedsNoDeepStack) {
  constexpr int kCalls = 100000;
  ProgramBuilder b("main");
  ValueId x = b.Param("x", Type::Tensor(f32, {{"N"}}));
  for (int i = 0; i < kCalls; ++i) x = b.Call("m.negate", {x});
  b.On(x, VirtualDevice::ForDeviceType(KP_DEVICE_CPU)).Return({x});
  const Plan plan = BuildPlan({{b.Finish()}});
  EXPECT_EQ(plan.programs[0].buffers.size(), 2U);
  EXPECT_EQ(plan.module.programs[0].values[0].device.device_type(), KP_DEVICE_CPU);
}

TEST(Plan, IsSeenAfterEachPass) {
  std::string passes;
  const FunctionTable functions = TestFunctions();
  CompilationConfig config = TestConfig();
  const ProgramModule m = Parse("program main(x: f32[8]) {\n  y = call m.negate(x)\n  return y\n}");
  MakePlan(m, {&config, &functions, {}}, [&](const PlanPass& pass, const Plan& after) {
    EXPECT_TRUE(Equal(Parse(Print(after)), after.module)) << pass.name;
    passes += std::string(pass.name) + " ";
  });
  EXPECT_EQ(passes, "infer_types place insert_copies elide_copies assign_streams assign_buffers ");
}

}  // namespace
}  // namespace kernpack::sdk::program
