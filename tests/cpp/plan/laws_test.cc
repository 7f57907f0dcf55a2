// Laws of every plan, on 500 random programs.
#include <gtest/gtest.h>

#include <set>

#include "plan/random_programs.h"
#include "plan/support.h"

namespace kernpack::sdk::program {
namespace {

constexpr uint32_t kPrograms = 500;

VirtualDevice WithoutScope(const VirtualDevice& device) {
  VirtualDeviceFields fields = device.fields();
  fields.memory_scope.reset();
  return VirtualDevice(std::move(fields));
}

size_t CountCopies(const ProgramModule& module) {
  size_t copies = 0;
  for (const Program& p : module.programs) {
    for (const Step& s : p.steps) copies += s.kind == StepKind::kCopy;
  }
  return copies;
}

// The plan of who looks at no use: each value is where it is annotated to be, else on the default device.
ProgramModule Naive(ProgramModule module, const CompilationConfig& config) {
  for (Program& p : module.programs) {
    for (Value& v : p.values) {
      const VirtualDevice& otherwise =
          v.type.is_host() ? config.host_virtual_device() : config.default_primitive_virtual_device();
      v.device = VirtualDevice::Default(v.device, otherwise);
    }
    // Results of one call, and of a program and who invokes it, cannot be told apart.
    for (Step& s : p.steps) {
      for (const ValueId v : s.results) p.values[v].device = p.values[s.results[0]].device;
      if (s.kind == StepKind::kTupleGet) {
        for (const Step& t : p.steps) {
          if (t.kind == StepKind::kTuple && t.results[0] == s.args[0]) {
            p.values[s.results[0]].device = p.values[t.args[s.index]].device;
          }
        }
      }
    }
  }
  return module;
}

class PlanLaws : public testing::Test {
 protected:
  const FunctionTable functions_ = TestFunctions();
  CompilationConfig config_ = TestConfig();
  const PlanContext context_{&config_, &functions_, {}};

  Plan BuildPlan(uint32_t seed) { return MakePlan(RandomModule(seed), context_); }
};

TEST_F(PlanLaws, ThePlanOfAPlanIsItself) {
  for (uint32_t seed = 0; seed < kPrograms; ++seed) {
    const Plan plan = BuildPlan(seed);
    const Plan again = MakePlan(Parse(Print(plan)), context_);
    ASSERT_TRUE(Equal(again.module, plan.module)) << seed << "\n" << Print(plan.module) << Print(again.module);
  }
}

TEST_F(PlanLaws, TheSameProgramHasTheSamePlan) {
  for (uint32_t seed = 0; seed < kPrograms; ++seed) ASSERT_EQ(Print(BuildPlan(seed)), Print(BuildPlan(seed))) << seed;
}

TEST_F(PlanLaws, EveryTensorHasADeviceAndNothingIsUsedElsewhere) {
  for (uint32_t seed = 0; seed < kPrograms; ++seed) {
    const Plan plan = BuildPlan(seed);
    for (const Program& p : plan.module.programs) {
      for (const Value& v : p.values) {
        ASSERT_TRUE(v.device.device_type() && v.device.virtual_device_id() && v.device.target())
            << seed << " " << v.name;
      }
      for (const Step& s : p.steps) {
        if (s.kind != StepKind::kCall) continue;
        const VirtualDevice device = CallDevice(p, s, functions_.Find(s.callee), config_);
        for (const ValueId v : s.args) ASSERT_EQ(WithoutScope(p.values[v].device), device) << seed << "\n" << Print(p);
      }
    }
  }
}

TEST_F(PlanLaws, CopiesGoSomewhereElseAndOnceAPlace) {
  for (uint32_t seed = 0; seed < kPrograms; ++seed) {
    const Plan plan = BuildPlan(seed);
    for (const Program& p : plan.module.programs) {
      std::set<std::pair<ValueId, std::string>> made;
      for (const Step& s : p.steps) {
        if (s.kind != StepKind::kCopy) continue;
        const Value &from = p.values[s.args[0]], &to = p.values[s.results[0]];
        ASSERT_FALSE(from.device == to.device) << seed << "\n" << Print(p);
        ASSERT_TRUE(made.emplace(s.args[0], to.device.str()).second) << seed << "\n" << Print(p);
      }
    }
  }
}

TEST_F(PlanLaws, NoPlanCopiesMoreThanTheNaiveOne) {
  size_t better = 0;
  for (uint32_t seed = 0; seed < kPrograms; ++seed) {
    Plan naive{Naive(RandomModule(seed), config_), {}, {}};
    InferTypes(&naive, context_);
    InsertCopies(&naive, context_);
    ElideCopies(&naive, context_);
    const size_t ours = CountCopies(BuildPlan(seed).module);
    ASSERT_LE(ours, CountCopies(naive.module)) << seed;
    better += ours < CountCopies(naive.module);
  }
  EXPECT_GT(better, kPrograms / 2);
}

}  // namespace
}  // namespace kernpack::sdk::program
