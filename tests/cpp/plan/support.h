// Functions and configurations that the tests of the planner share, and a short form of what it gives.
#ifndef KERNPACK_TESTS_CPP_PLAN_SUPPORT_H_
#define KERNPACK_TESTS_CPP_PLAN_SUPPORT_H_

#include <kernpack/sdk/program/plan.h>
#include <kernpack/sdk/program/text.h>
#include <kernpack/sdk/program/verify.h>

namespace kernpack::sdk::program {

// `m.*`: with signatures, and nothing behind them.
FunctionTable TestFunctions();

// Code for the CPU and for CUDA; what nobody places is on CUDA.
CompilationConfig TestConfig();

Plan BuildPlan(const ProgramModule& module, const PlanOptions& options = {});
Plan BuildPlan(const std::string& text, const PlanOptions& options = {});

// The text of a plan's programs without types, targets and ids of 0.
std::string Short(const ProgramModule& module);

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_TESTS_CPP_PLAN_SUPPORT_H_
