#include "plan/support.h"

#include <regex>

namespace kernpack::sdk::program {

FunctionTable TestFunctions() {
  FunctionTable table;
  const auto add = [&](const char* name, const char* signature, std::vector<int32_t> types = {}) -> Function {
    Function f;
    f.name = name;
    f.signature = signature;
    f.device_types = std::move(types);
    return f;
  };
  constexpr const char* kBinary = "(a: f32[N], b: f32[N]) -> (out: f32[N])";
  constexpr const char* kUnary = "(x: f32[N]) -> (out: f32[N])";
  for (const char* name : {"m.add", "m.sub"}) table.Add(add(name, kBinary));
  table.Add(add("m.negate", kUnary));
  table.Add(add("m.on_cpu", kUnary, {KP_DEVICE_CPU}));
  table.Add(add("m.on_cuda", kUnary, {KP_DEVICE_CUDA}));
  table.Add(add("m.on_either", kUnary, {KP_DEVICE_CPU, KP_DEVICE_CUDA}));
  table.Add(add("m.on_property", "(x: f32[N]) -> (out: f32[N]) with on \"cuda\""));
  table.Add(add("m.split", "(x: f32[N]) -> (a: f32[N], b: f32[N])"));
  table.Add(add("m.any", "(x: f32[N]) -> (out: bool[])"));
  table.Add(add("m.concat", "(xs: list[f32[_]], n: int) -> (out: f32[n])"));
  table.Add(add("m.scale", "(x: f32[N], k: float) -> (out: f32[N])"));
  table.Add(add("m.permute", "(x: f32[N], order: i64[M] @cpu) -> (out: f32[M])"));
  table.Add(add("m.append", "(cache!: f32[N], x: f32[N]) -> ()"));
  table.Add(add("m.half", "(x: f32[N]) -> (out: f32[N // 2])"));
  Function texture = add("m.texture", kUnary);
  texture.param_scopes = {"texture"};
  texture.result_scopes = {"global"};
  table.Add(texture);
  return table;
}

CompilationConfig TestConfig() {
  return CompilationConfig({Target("llvm"), Target("cuda -arch=sm_90")}, KP_DEVICE_CUDA);
}

Plan BuildPlan(const ProgramModule& module, const PlanOptions& options) {
  static const FunctionTable& functions = *new FunctionTable(TestFunctions());
  CompilationConfig config = TestConfig();
  return MakePlan(module, {&config, &functions, options});
}
Plan BuildPlan(const std::string& text, const PlanOptions& options) { return BuildPlan(Parse(text), options); }

std::string Short(const ProgramModule& module) {
  std::string text = Print(module);
  text = std::regex_replace(text, std::regex(R"( target "[^"]*")"), "");
  text = std::regex_replace(text, std::regex(R"((@[a-z]+):0)"), "$1");
  return std::regex_replace(text, std::regex(R"(: [a-z0-9]+\[[^\]]*\])"), "");
}

}  // namespace kernpack::sdk::program
