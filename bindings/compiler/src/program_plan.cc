// Planning: what plan.h gives, as lists that Python explains and draws.
#include <kernpack/error.h>
#include <kernpack/sdk/program/plan.h>
#include <kernpack/sdk/program/text.h>

#include "program/print.h"
#include "program_bindings.h"

namespace kernpack::compiler {
namespace {

using program::ByteSize;
using program::FunctionTable;
using program::kNoBuffer;
using program::kNoStream;
using program::Plan;
using program::PlannedProgram;
using program::PlannedStep;
using program::Program;
using program::ProgramModule;
using program::Step;
using program::StepKind;
using program::ValueId;
using sdk::CompilationConfig;
using sdk::VirtualDevice;

// Of (type of the memory's device, scope or "", type of the device that uses it, whether only with the same id).
program::Access ToAccess(const py::tuple& row) {
  return {ToDeviceType(row[0].cast<std::string>()), row[1].cast<std::string>(),
          ToDeviceType(row[2].cast<std::string>()), row[3].cast<bool>()};
}

Plan MakePlan(const ProgramModule& module, const FunctionTable& functions, CompilationConfig& config,
              int streams_per_device, const std::vector<py::tuple>& access, const py::object& observe) {
  program::PlanContext context{&config, &functions, {}};
  context.options.streams_per_device = streams_per_device;
  for (const py::tuple& row : access) context.options.access.push_back(ToAccess(row));
  if (observe.is_none()) return program::MakePlan(module, context);
  return program::MakePlan(module, context,
                           [&](const program::PlanPass& pass, const Plan& after) { observe(pass.name, Print(after)); });
}

py::object KnownBytes(const ByteSize& size) {
  return size.known && size.symbols.empty() ? py::object(py::int_(size.factor)) : py::none();
}

template <class Number>
py::object OrNone(Number value, Number none) {
  return value == none ? py::object(py::none()) : py::int_(value);
}

// "opencl:1 global": type, id, and scope where there is one.
std::string ShortDevice(const VirtualDevice& device) {
  if (!device.device_type()) return "host";
  std::string text =
      DeviceTypeName(*device.device_type()) + ":" + std::to_string(device.virtual_device_id().value_or(0));
  if (device.memory_scope()) text += " " + *device.memory_scope();
  return text;
}

// A step of a plan, as explain() and draw() read it.
struct PlanStep {
  std::string kind;    // "call", "copy", ...
  std::string callee;  // of calls, invocations and choices
  std::string device;  // where its first result lives; of a step without results, its stream's
  std::vector<ValueId> args, results;
  py::object stream;
  bool barrier;
  std::vector<uint32_t> waits;
  std::vector<ValueId> frees;
  uint32_t line;  // of what wrote the step; 0: the planner did
};

// A call that only writes its arguments has no result, and runs on a device all the same.
std::string FindDevice(const Plan& plan, const Program& p, const Step& step, const PlannedStep& planned) {
  if (!step.results.empty()) return ShortDevice(p.values[step.results[0]].device);
  return planned.stream == kNoStream ? "host" : ShortDevice(plan.streams[planned.stream].device);
}

PlanStep DescribeStep(const Plan& plan, const Program& p, const Step& step, const PlannedStep& planned) {
  const std::string device = FindDevice(plan, p, step, planned);
  return {StepKindName(step.kind),           step.callee,     device,        step.args,     step.results,
          OrNone(planned.stream, kNoStream), planned.barrier, planned.waits, planned.frees, step.position.line};
}

// One program of a plan, which it keeps.
struct PlanProgram {
  std::shared_ptr<const Plan> plan;
  const Program* steps;
  const PlannedProgram* planned;
};

std::vector<PlanStep> Steps(const PlanProgram& one) {
  std::vector<PlanStep> all;
  for (size_t i = 0; i < one.steps->steps.size(); ++i) {
    all.push_back(DescribeStep(*one.plan, *one.steps, one.steps->steps[i], one.planned->steps[i]));
  }
  return all;
}

// (name, type, device, bytes or None, buffer or None) a value.
py::list Values(const PlanProgram& one) {
  const std::vector<std::string> names = SpellValues(*one.steps);
  py::list all;
  for (size_t i = 0; i < names.size(); ++i) {
    const program::Value& value = one.steps->values[i];
    all.append(py::make_tuple(names[i], value.type.str(), ShortDevice(value.device),
                              KnownBytes(ByteSize::Of(value.type)), OrNone(one.planned->buffer_of[i], kNoBuffer)));
  }
  return all;
}

// (device, size as text, bytes or None, values) a buffer.
py::list PlanBuffers(const PlanProgram& one) {
  py::list all;
  for (const program::Buffer& buffer : one.planned->buffers) {
    all.append(py::make_tuple(ShortDevice(buffer.device), buffer.size.str(), KnownBytes(buffer.size), buffer.values));
  }
  return all;
}

std::vector<PlanProgram> Programs(const std::shared_ptr<Plan>& plan) {
  std::vector<PlanProgram> all;
  for (size_t i = 0; i < plan->module.programs.size(); ++i) {
    all.push_back({plan, &plan->module.programs[i], &plan->programs[i]});
  }
  return all;
}

// (device, whether it is for copies) a stream.
py::list Streams(const Plan& plan) {
  py::list all;
  for (const program::Stream& stream : plan.streams)
    all.append(py::make_tuple(ShortDevice(stream.device), stream.copies));
  return all;
}

void BindStep(py::module_& module) {
  py::class_<PlanStep>(module, "PlanStep")
      .def_readonly("kind", &PlanStep::kind)
      .def_readonly("callee", &PlanStep::callee)
      .def_readonly("device", &PlanStep::device)
      .def_readonly("args", &PlanStep::args)
      .def_readonly("results", &PlanStep::results)
      .def_readonly("stream", &PlanStep::stream)
      .def_readonly("barrier", &PlanStep::barrier)
      .def_readonly("waits", &PlanStep::waits)
      .def_readonly("frees", &PlanStep::frees)
      .def_readonly("line", &PlanStep::line);
}

}  // namespace

void BindProgramPlan(py::module_& module) {
  BindStep(module);
  py::class_<PlanProgram>(module, "PlanProgram")
      .def_property_readonly("name", [](const PlanProgram& one) { return one.steps->name; })
      .def_property_readonly("params", [](const PlanProgram& one) { return one.steps->params; })
      .def_property_readonly("results",
                             [](const PlanProgram& one) {
                               std::vector<ValueId> all;
                               for (const program::Result& result : one.steps->results) all.push_back(result.value);
                               return all;
                             })
      .def_property_readonly("steps", &Steps)
      .def_property_readonly("values", &Values)
      .def_property_readonly("buffers", &PlanBuffers)
      .def_property_readonly("memory", [](const PlanProgram& one) {
        const program::MemoryUse use = MemoryOf(*one.planned, *one.steps);
        return py::make_tuple(use.buffers, use.values);
      });
  py::class_<Plan, std::shared_ptr<Plan>>(module, "Plan")
      .def_property_readonly("streams", &Streams)
      .def_property_readonly("programs", &Programs)
      .def_property_readonly("module", [](const Plan& plan) { return plan.module; })
      .def("__str__", [](const Plan& plan) { return Print(plan); });
  module.def("make_plan", &MakePlan, py::arg("module"), py::arg("functions"), py::arg("config"),
             py::arg("streams_per_device"), py::arg("access"), py::arg("observe") = py::none());
}

}  // namespace kernpack::compiler
