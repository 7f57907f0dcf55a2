// Plans as the planner makes them: the same results as a naive plan's, in less memory, from several threads.
#include <kernpack/sdk/program/trace.h>

#include <nlohmann/json.hpp>

#include <random>
#include <thread>

#include "execute/support.h"

namespace execute_test {
namespace {

class ExecutePlanned : public ExecuteTest {};

// `steps` random calls on the host and two fake devices, on values of one size; all values that nobody uses are added up.
std::string RandomProgram(unsigned seed, int steps) {
  std::mt19937 random(seed);
  const char* const places[] = {"cpu", "fake:0", "fake:1"};
  std::string text = "program main(x: f32[N] @cpu, y: f32[N] @fake:1) {\n";
  std::vector<std::string> values = {"x", "y"};
  for (int i = 0; i < steps; ++i) {
    const std::string name = "v" + std::to_string(i);
    const auto any = [&] { return values[random() % values.size()]; };
    const std::string place = std::string(" @") + places[random() % 3];
    if (random() % 4 == 0) {
      text += "  " + name + place + ", " + name + "b" + place + " = call t.pair(" + any() + ")\n";
    } else {
      text += "  " + name + place + " = call t.add(" + any() + ", " + any() + ")\n";
    }
    values.push_back(name);
  }
  return text + "  half = const 0.5\n  z @cpu = call t.scale(" + values.back() + ", half)\n  return z, v0\n}";
}

TEST_F(ExecutePlanned, RandomProgramsGiveWhatTheyGiveOnOneDevice) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    const std::string text = RandomProgram(seed, 3 + static_cast<int>(seed % 20));
    std::string on_host = text;
    for (const char* place : {"@fake:0", "@fake:1"}) {
      for (size_t at; (at = on_host.find(place)) != std::string::npos;) on_host.replace(at, std::strlen(place), "@cpu");
    }
    const Floats x(Counting(5));
    const Floats y({5, 4, 3, 2, 1});
    const std::vector<Any> expected = sp::Executable(NaivePlan(on_host.c_str()), functions).Run({x, y});
    const sp::Executable run(BuildPlan(text.c_str(), functions, {.streams_per_device = 1 + static_cast<int>(seed % 3)}),
                             functions);
    for (int round = 0; round < 2; ++round) {
      const std::vector<Any> results = run.Run({x, Floats({5, 4, 3, 2, 1}, FakeDevice::Number(1))});
      ASSERT_EQ(GetValues(results[0]), GetValues(expected[0])) << text;
      ASSERT_EQ(GetValues(results[1]), GetValues(expected[1])) << text;
    }
  }
}

TEST_F(ExecutePlanned, TheMostMemoryIsWhatThePlanSays) {
  std::string text = "program main(x: f32[1024]) {\n  v0 = call t.scale(x)\n";
  for (int i = 1; i < 10; ++i) text += "  v" + std::to_string(i) + " = call t.scale(v" + std::to_string(i - 1) + ")\n";
  text += "  return v9\n}";
  const sp::Plan plan = BuildPlan(text.c_str(), functions);
  const sp::MemoryUse planned = sp::MemoryOf(plan.programs.back(), plan.module.programs.back());
  const sp::Executable run(plan, functions);
  for (int round = 0; round < 3; ++round) run.Run({Floats(Counting(1024))});
  EXPECT_EQ(run.buffers().peak, planned.buffers);
  EXPECT_EQ(run.buffers().held, planned.buffers);
  EXPECT_EQ(planned.values, 9u * 4096);
  EXPECT_EQ(planned.buffers, 2u * 4096) << "a chain needs two";
}

TEST_F(ExecutePlanned, RunsAllocateOnceForShapesThatStay) {
  const sp::Executable run(BuildPlan(R"(program main(x: f32[N] @fake:0) {
    a = call t.scale(x)
    b = call t.spread(a)
    z @cpu = call t.scale(b)
    return z
  })",
                                     functions),
                           functions);
  const Floats x(Counting(8), FakeDevice::Number(0));
  run.Run({x});
  const int64_t made = FakeDevice::The().made;
  for (int round = 0; round < 10; ++round) run.Run({x});
  EXPECT_EQ(FakeDevice::The().made, made);
}

TEST_F(ExecutePlanned, SeveralThreadsRunOneExecutable) {
  const sp::Executable run(BuildPlan(R"(program inner(x: f32[N]) {
    z = call t.scale(x)
    return z
  }
  program main(x: f32[N] @cpu) {
    a @fake:0 = call t.scale(x)
    b @fake:1 = call t.add(a, x)
    c @cpu = call t.spread(b)
    z = invoke inner(c)
    return z
  })",
                                     functions),
                           functions);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 50; ++round) {
        const auto first = static_cast<float>(t + round);
        if (GetValues(run.Run({Floats({first, 1})})[0]) != std::vector<float>{18 * first, 18}) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(ExecutePlanned, FailuresInSeveralThreadsLeaveNothing) {
  const sp::Executable run(BuildPlan(R"(program main(x: f32[N] @cpu, c: float) {
    a @fake:0 = call t.scale(x, c)
    b @fake:1 = call t.fail_at_one(a)
    z @cpu = call t.scale(b)
    return z
  })",
                                     (functions.Add(Made("t.fail_at_one", "(x: f32[N]) -> (z: f32[N])",
                                                         [](const KpAny* a, int32_t, KpAny*) {
                                                           if (GetData(a[0])[0] == 1) KP_THROW(ValueError) << "one";
                                                           for (int64_t i = 0; i < GetSize(a[0]); ++i)
                                                             GetData(a[1])[i] = GetData(a[0])[i];
                                                         })),
                                      functions)),
                           functions);
  std::atomic<int> failed = 0;
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        try {
          const std::vector<Any> results = run.Run({Floats({1}), round % 2 ? 1.0 : 3.0});
          right += GetValues(results[0]) == std::vector<float>{6} ? 1 : 0;
        } catch (const kernpack::Error&) {
          ++failed;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 100);
  EXPECT_EQ(right, 100);
}

TEST_F(ExecutePlanned, ATraceHasAnEventOfEachStep) {
  const sp::Executable run(BuildPlan(R"(program inner(x: f32[N]) {
    z = call t.scale(x)
    return z
  }
  program main(x: f32[N] @cpu) {
    a @fake:0 = call t.scale(x)
    b @cpu = call t.scale(a)
    z = invoke inner(b)
    return z
  })",
                                     functions),
                           functions);
  sp::Trace trace;
  run.Run({Floats({1, 2, 3})}, {.trace = &trace});
  std::map<std::string, int> names;
  for (const sp::TraceEvent& event : trace.events()) {
    ++names[event.name];
    EXPECT_LE(event.begin, event.end) << event.name;
    EXPECT_EQ(event.bytes, 12u) << event.name;
  }
  EXPECT_EQ(names, (std::map<std::string, int>{{"call t.scale", 3}, {"copy", 2}, {"invoke inner", 1}}));
  const auto json = nlohmann::json::parse(trace.Json());
  std::set<std::string> processes;
  int slices = 0;
  for (const auto& event : json["traceEvents"]) {
    if (event["name"] == "process_name") processes.insert(event["args"]["name"].get<std::string>());
    slices += event["ph"] == "X" ? 1 : 0;
  }
  EXPECT_EQ(processes, (std::set<std::string>{"cpu", "fake:0"}));
  EXPECT_EQ(slices, 6);
  EXPECT_ERROR(trace.Write("/nowhere/trace.json"), "OSError", "cannot write '/nowhere/trace.json'");
}

}  // namespace
}  // namespace execute_test
