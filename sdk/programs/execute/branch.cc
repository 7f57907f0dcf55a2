// Programs that a program runs, and what a program gives back.
#include <kernpack/error.h>

#include "device_api/devices.h"
#include "execute/runner.h"
#include "target/host.h"

namespace kernpack::sdk::program {
namespace {

bool IsTrue(const KpAny& condition) {
  if (condition.type_index == KP_TYPE_BOOL) return condition.v.v_int != 0;
  const KpDLTensor* tensor = kp_any_tensor(&condition);
  const bool fits = tensor && tensor->ndim == 0 && tensor->dtype.code == KP_DTYPE_BOOL && tensor->dtype.lanes == 1 &&
                    tensor->device.device_type == KP_DEVICE_CPU;
  if (!fits) KP_THROW(TypeError) << "the condition: expected a bool or a bool[] of the host, got another value";
  return *(static_cast<const char*>(tensor->data) + tensor->byte_offset) != 0;
}

// A new tensor with the same elements.
KpAny Clone(const KpDLTensor& tensor) {
  KpDLTensor prototype = tensor;
  prototype.data = nullptr;
  prototype.strides = nullptr;
  prototype.byte_offset = 0;
  Any made;
  Check(Host()->tensor_alloc(Host(), &prototype, made.out()));
  Check(HostDevices().copy(&tensor, kp_any_tensor(&made.raw())));
  return made.release();
}

}  // namespace

void Runner::RunProgram(Frame* frame, size_t number) {
  const ResolvedStep& resolved = frame->program->steps[number];
  const Step& step = *resolved.step;
  Barrier();
  const bool is_if = step.kind == StepKind::kIf;
  const bool otherwise = is_if && !IsTrue(frame->slots[step.args[0]].any);
  std::unique_ptr<Frame>& child = frame->children[number][otherwise ? 1 : 0];
  if (!child) child = std::make_unique<Frame>(otherwise ? resolved.otherwise : resolved.then);
  std::vector<KpAny>& args = frame->args;
  args.clear();
  for (size_t i = is_if ? 1 : 0; i < step.args.size(); ++i) args.push_back(frame->slots[step.args[i]].any);
  Run(child.get(), args.data(), static_cast<int32_t>(args.size()));
  Barrier();
  for (size_t i = 0; i < step.results.size(); ++i) frame->slots[step.results[i]].Own(TakeResult(child.get(), i));
  Barrier();  // results that are copies
  child->Release();
}

KpAny Runner::TakeResult(Frame* frame, size_t index) {
  Slot& slot = frame->slots[frame->program->program->results[index].value];
  if (slot.any.type_index != KP_TYPE_DLTENSOR_PTR) {
    KpAny value = slot.any;
    kp_any_retain(&value);
    return value;
  }
  return Clone(*slot.any.v.v_tensor);
}

void Runner::FillGiven(Frame* frame) {
  const Program& program = *frame->program->program;
  for (size_t i = 0; i < program.results.size(); ++i) {
    const ValueId value = program.results[i].value;
    if (frame->program->values[value].result == static_cast<int32_t>(i)) continue;
    const KpDLTensor* from = kp_any_tensor(&frame->slots[value].any);
    if (!from) KP_THROW(TypeError) << program.name << ": result " << i << ": expected a tensor, got another value";
    Check(HostDevices().copy(from, kp_any_tensor(&frame->given[i])));
  }
}

}  // namespace kernpack::sdk::program
