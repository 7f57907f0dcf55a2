// A plan without a planner: devices as annotated, the host where nothing says; one stream a device; every step waits for what
// its arguments come from; nothing shares memory. What planned runs are compared with, and plans that no planner would make.
#pragma once

#include <kernpack/sdk/program/plan.h>

#include <algorithm>

namespace execute_test {

namespace sp = kernpack::sdk::program;
using kernpack::sdk::VirtualDevice;

class NaivePlanner {
 public:
  explicit NaivePlanner(sp::ProgramModule module) { plan_.module = std::move(module); }

  sp::Plan Run() {
    for (sp::Program& program : plan_.module.programs) {
      for (sp::Value& value : program.values) {
        value.device = VirtualDevice::Default(value.device, VirtualDevice::ForDeviceType(KP_DEVICE_CPU, 0));
        if (!value.device.virtual_device_id()) {
          value.device = VirtualDevice::Default(value.device, VirtualDevice({.virtual_device_id = 0}));
        }
      }
    }
    for (const sp::Program& program : plan_.module.programs) plan_.programs.push_back(BuildPlan(program));
    return plan_;
  }

 private:
  sp::Plan plan_;

  uint32_t GetStream(const VirtualDevice& device) {
    const VirtualDevice place = VirtualDevice::ForDeviceType(*device.device_type(), *device.virtual_device_id());
    for (uint32_t i = 0; i < plan_.streams.size(); ++i) {
      if (plan_.streams[i].device == place) return i;
    }
    plan_.streams.push_back({place, false});
    return static_cast<uint32_t>(plan_.streams.size() - 1);
  }

  // Copies run where the device is.
  uint32_t GetStream(const sp::Program& program, const sp::Step& step) {
    const sp::ValueId first = step.results.empty() ? step.args.at(0) : step.results[0];
    const VirtualDevice& to = program.values[first].device;
    if (step.kind != sp::StepKind::kCopy || *to.device_type() != KP_DEVICE_CPU) return GetStream(to);
    return GetStream(program.values[step.args[0]].device);
  }

  sp::PlannedProgram BuildPlan(const sp::Program& program) {
    sp::PlannedProgram planned;
    planned.buffer_of.assign(program.values.size(), sp::kNoBuffer);
    std::vector<uint32_t> made_by(program.values.size(), sp::kNoStream);
    for (uint32_t number = 0; number < program.steps.size(); ++number) {
      const sp::Step& step = program.steps[number];
      sp::PlannedStep& out = planned.steps.emplace_back();
      out.barrier = step.kind == sp::StepKind::kIf || step.kind == sp::StepKind::kInvoke;
      const bool queues = step.kind == sp::StepKind::kCall || step.kind == sp::StepKind::kCopy;
      if (queues) out.stream = GetStream(program, step);
      out.signals = queues;
      for (const sp::ValueId arg : step.args) {
        const uint32_t before = made_by[arg];
        if (queues && before != sp::kNoStream && planned.steps[before].stream != sp::kNoStream)
          out.waits.push_back(before);
      }
      for (const sp::ValueId result : step.results) {
        made_by[result] = number;
        if (queues && program.values[result].type.is_tensor() && !IsResult(program, result)) {
          planned.buffer_of[result] = static_cast<uint32_t>(planned.buffers.size());
          planned.buffers.push_back({program.values[result].device, {}, {result}});
        }
      }
    }
    return planned;
  }

  static bool IsResult(const sp::Program& program, sp::ValueId value) {
    return std::any_of(program.results.begin(), program.results.end(),
                       [&](const sp::Result& result) { return result.value == value; });
  }
};

inline sp::Plan NaivePlan(sp::ProgramModule module) { return NaivePlanner(std::move(module)).Run(); }

}  // namespace execute_test
