// Two classes of an author's own, made, used and passed back; test_classes.py.
#include <kernpack/kernel.h>

#include <atomic>
#include <cmath>

namespace kp = kernpack;

static std::atomic<int> g_alive{0};

struct Plan {
  explicit Plan(int64_t size) : n(size) {
    if (n < 0) KP_THROW(ValueError) << "plan: expected a size >= 0, got " << n;
    ++g_alive;
  }
  ~Plan() { --g_alive; }
  Plan(const Plan&) = delete;
  int64_t n;
  int runs = 0;
};
struct Other {
  double value;
};
KP_CLASS(Plan, "interop_classes.Plan");
KP_CLASS(Other, "interop_classes.Other");

static kp::Ptr<Plan> MakePlan(int64_t n) { return kp::make<Plan>(n); }
static kp::Ptr<Other> MakeOther(double value) { return kp::make<Other>(Other{value}); }
static int64_t Run(kp::Ptr<Plan> plan, kp::TensorView x) {
  KP_CHECK(x.numel() == plan->n, ValueError) << "run: expected " << plan->n << " elements, got " << x.numel();
  return ++plan->runs;
}
static bool IsNone(std::optional<kp::Ptr<Plan>> plan) { return !plan; }
static kp::Ptr<Plan> Nothing() { return {}; }
static int Alive() { return g_alive; }
static void Keep(kp::Ptr<Plan> plan) { kp::storage_set("plan", plan); }
static int64_t Kept() { return kp::storage_get("plan")->cast<kp::Ptr<Plan>>()->n; }
static bool Forget() { return kp::storage_erase("plan"); }
static int64_t Total(kp::ListView<kp::Ptr<Plan>> plans) {
  int64_t total = 0;
  for (size_t i = 0; i < plans.size(); ++i) total += plans[i]->n;
  return total;
}

KP_MODULE("interop_classes", "1.0.0");
KP_EXPORT(make_plan, MakePlan);
KP_EXPORT(make_other, MakeOther);
KP_EXPORT(run, Run);
KP_EXPORT(is_none, IsNone);
KP_EXPORT(nothing, Nothing);
KP_EXPORT(alive, Alive);
KP_EXPORT(keep, Keep);
KP_EXPORT(kept, Kept);
KP_EXPORT(forget, Forget);
KP_EXPORT(total, Total);
