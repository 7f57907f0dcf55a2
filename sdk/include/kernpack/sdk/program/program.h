// Programs: SSA lists of calls to named functions, and of what holds them together. No closures, no recursion.
//
//   program main(x: f32[N, D] @opencl:0, w: f32[D]) {
//     eps = const 1e-06
//     h = call kernels.rms_norm(x, w, eps)
//     y @cpu = call kernels.gelu(h)
//     return y
//   }
//
// Each value may say where it lives (a VirtualDevice, parts of it open); a call executes where its results live. What is
// open the planner decides (plan.h). docs/program.md has the text form and the rules.
#ifndef KERNPACK_SDK_PROGRAM_PROGRAM_H_
#define KERNPACK_SDK_PROGRAM_PROGRAM_H_

#include <kernpack/sdk/ir/expr.h>
#include <kernpack/sdk/program/type.h>
#include <kernpack/sdk/virtual_device.h>

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kernpack::sdk::program {

using ir::Position;
using ValueId = uint32_t;  // index in Program::values

struct Value {
  std::string name;  // for people: need not be unique, may be empty
  Type type;
  VirtualDevice device;  // what is annotated, or planned
  Position position;
};

// A host scalar or a shape; monostate is None.
using Constant = std::variant<std::monostate, bool, int64_t, double, std::string, DType, std::vector<int64_t>>;
Type TypeOf(const Constant& constant);

enum class StepKind : uint8_t {
  kConstant,  // of the host
  kCall,  // a function of the table; one result per result of its signature
  kTuple,  // of its arguments; only for `list` parameters and kTupleGet of the same program
  kTupleGet,  // element `index` of its argument
  kIf,  // args[0] is the condition, a bool or a bool[]; the rest goes to both programs, whose results it has
  kInvoke,  // another program of the module
  kCopy,  // its argument, to where its result lives: a device_copy
  kShapeOf,  // the extents of its argument; touches no data
};
// "call".
const char* StepKindName(StepKind kind);

struct Step {
  StepKind kind;
  std::vector<ValueId> args;
  std::vector<ValueId> results;
  std::string callee;  // kCall: "module.function". kInvoke: a program. kIf: the program for true
  std::string otherwise;  // kIf: the program for false
  uint32_t index = 0;  // kTupleGet
  Constant constant;  // kConstant
  Position position;
};

// What a program returns: a value, and where the caller wants it (open: wherever it is).
struct Result {
  ValueId value;
  VirtualDevice device;
  Position position;
};

struct Program {
  std::string name;
  std::vector<Value> values;  // parameters first, then results of the steps in their order
  std::vector<ValueId> params;  // 0, 1, ...
  std::vector<Step> steps;  // in an order that runs
  std::vector<Result> results;
  Position position;
};

// Programs by name, in the order they were added. Any may be run; a program may be invoked from those of its module.
struct ProgramModule {
  std::vector<Program> programs;

  const Program* Find(std::string_view name) const;
  Program* Find(std::string_view name);
};

// The text form, one line a step. Parse(Print(m)) equals m (text.h).
std::string Print(const ProgramModule& module);
std::string Print(const Program& program);

// Same programs, parameters and steps, types and devices. Names of values other than parameters, and positions, do not count.
bool Equal(const Program& a, const Program& b);
bool Equal(const ProgramModule& a, const ProgramModule& b);

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAM_PROGRAM_H_
