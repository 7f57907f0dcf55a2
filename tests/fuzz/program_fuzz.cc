// Any text through the parser of programs, the verifier and the planner: what reads must print and read back as the same, and
// the plan of a plan must be itself.
#include <kernpack/error.h>
#include <kernpack/sdk/program/plan.h>
#include <kernpack/sdk/program/text.h>

namespace {

using namespace kernpack::sdk;
using namespace kernpack::sdk::program;

FunctionTable Functions() {
  FunctionTable table;
  const auto add = [&table](const char* name, const char* signature, std::vector<int32_t> types = {}) {
    Function f;
    f.name = name;
    f.signature = signature;
    f.device_types = std::move(types);
    table.Add(std::move(f));
  };
  add("m.add", "(a: T[..., N], b: T[..., N]) -> (out: T[..., N]) where T in {f32, f16}");
  add("m.split", "(x: f32[N], k: int = 2) -> (a: f32[N // k], b: f32[k])", {KP_DEVICE_CPU});
  add("m.concat", "(xs: list[f32[_, *S]], n: int) -> (out: f32[n, *S])", {KP_DEVICE_CUDA, KP_DEVICE_CPU});
  add("m.append", "(cache!: f32[N], x: f32[N]? = None) -> ()");
  add("m.untyped", "");
  return table;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const FunctionTable& functions = *new FunctionTable(Functions());
  ProgramModule module;
  try {
    module = Parse({reinterpret_cast<const char*>(data), size});
  } catch (const kernpack::Error&) {
    return 0;
  }
  if (!Equal(Parse(Print(module)), module)) __builtin_trap();
  CompilationConfig config({Target("llvm"), Target("cuda -arch=sm_90")}, KP_DEVICE_CUDA);
  Plan plan;
  try {
    plan = MakePlan(module, {&config, &functions, {}});
  } catch (const kernpack::Error&) {
    return 0;
  }
  const Plan again = MakePlan(Parse(Print(plan)), {&config, &functions, {}});
  if (!Equal(again.module, plan.module)) __builtin_trap();
  return 0;
}
