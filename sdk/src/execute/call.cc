// Calls of functions.
#include <kernpack/signature/check.h>

#include "device_api/devices.h"
#include "execute/raise.h"
#include "execute/runner.h"
#include "execute/tensors.h"
#include "target/host.h"

namespace kernpack::sdk::program {
namespace {

[[noreturn]] void RefuseGiven(const KpAny& given, const KpDLTensor& wanted) {
  const KpDLTensor& got = *kp_any_tensor(&given);
  KP_THROW(ValueError) << "its result: expected a compact tensor to write " << DType(wanted.dtype) << SizesOf(wanted)
                       << " on " << NameOf(wanted.device) << " to, got " << DType(got.dtype) << SizesOf(got) << " on "
                       << NameOf(got.device);
}

// What a function without a contract gives is what the program says that it gives.
void CheckDeclared(size_t result, const Type& type, const KpAny& item) {
  if (!type.is_tensor()) return;
  const KpDLTensor* got = kp_any_tensor(&item);
  bool fits = got && (type.dtype.bits == 0 || SameDType(got->dtype, type.dtype));
  if (fits && type.dims) {
    fits = static_cast<size_t>(got->ndim) == type.dims->size();
    for (size_t d = 0; fits && d < type.dims->size(); ++d) {
      const Dim& dim = (*type.dims)[d];
      fits = !dim.is_constant() || dim.extent == got->shape[d];
    }
  }
  if (fits) return;
  Text text;
  text << "result " << result << ": expected " << type.str() << ", got ";
  if (got) {
    text << DType(got->dtype) << SizesOf(*got);
  } else {
    text << type_name(item.type_index);
  }
  throw Error("TypeError", text.bytes());
}

}  // namespace

void Runner::Call(Frame* frame, size_t number) {
  const PreparedStep& step = frame->program->steps[number];
  const CallSite& call = step.call;
  std::vector<KpAny>& args = frame->args;
  args.clear();
  for (const ValueId value : step.step->args) args.push_back(frame->slots[value].any);
  if (!call.words) return CallUntyped(frame, step);
  frame->aliases.clear();
  for (const uint32_t i : call.elsewhere) {
    const KpDLTensor* tensor = kp_any_tensor(&args[i]);
    if (!tensor) continue;
    KpDLTensor& alias = frame->aliases.emplace_back(*tensor);
    alias.device = prepared_.devices[step.device].device;
    args[i] = kp_none();
    args[i].type_index = KP_TYPE_DLTENSOR_PTR;
    args[i].v.v_tensor = &alias;
  }
  args.insert(args.end(), call.defaults.begin(), call.defaults.end());
  if (!frame->warm || !call.follows) CheckCall(frame, number);
  for (const ValueId value : step.step->results) {
    Place(frame, value);
    args.push_back(frame->slots[value].any);
  }
  KpDLTensor space;
  int64_t bytes = 0;
  int64_t stride = 1;
  if (call.has_workspace) {
    const RealDevice& device = prepared_.devices[step.device];
    const uint64_t need = frame->workspace_bytes[number];
    bytes = static_cast<int64_t>(need);
    space = KpDLTensor{nullptr, device.device, 1, {KP_DTYPE_UINT, 8, 1}, &bytes, &stride, 0};
    const uint32_t lane = step.planned->stream;
    if (need) space.data = state_.workspaces[lane].Reserve(device.api, device.device, need, {}, nullptr);
    KpAny& last = args.emplace_back(kp_none());
    last.type_index = KP_TYPE_DLTENSOR_PTR;
    last.v.v_tensor = &space;
  }
  KpAny nothing = kp_none();
  const int rc = call.callable.call(call.callable.self, args.data(), static_cast<int32_t>(args.size()), &nothing);
  kp_any_release(&nothing);
  if (rc != 0) ThrowRaisedBy(call.name);
}

// The contract of the function: arguments, and then what the results are.
void Runner::CheckCall(Frame* frame, size_t number) {
  const PreparedStep& step = frame->program->steps[number];
  const CallSite& call = step.call;
  const signature::View view{call.words};
  const signature::Raiser raiser = HostRaiser();
  KpSigFrame bound;
  if (signature::Check(call.words, call.name, frame->args.data(), nullptr, 0, raiser, &bound)) ThrowRaisedBy(call.name);
  const KpDLDevice device = prepared_.devices[step.device].device;
  if (bound.device.device_type != 0 && !SameDevice(bound.device, device)) {
    KP_THROW(ValueError) << "its tensors are on " << NameOf(bound.device) << ", and the plan has it run on "
                         << NameOf(device);
  }
  bound.device = device;
  frame->boxes.clear();
  for (int i = 0; i < call.num_params; ++i) {
    KpAny& arg = frame->args[static_cast<size_t>(i)];
    const bool number_given =
        arg.type_index == KP_TYPE_INT || arg.type_index == KP_TYPE_FLOAT || arg.type_index == KP_TYPE_BOOL;
    if (!number_given || signature::KindOf(view.Param(i)) != KP_PARAM_TENSOR) continue;
    signature::ScalarBox& box = frame->boxes.emplace_back();
    if (signature::BoxScalar(bound, i, signature::Complain{view, call.name, raiser, bound}, &box))
      ThrowRaisedBy(call.name);
    arg.type_index = KP_TYPE_DLTENSOR_PTR;
    arg.v.v_tensor = &box.tensor;
  }
  if (signature::WorkspaceBytes(bound, call.name, raiser, &frame->workspace_bytes[number])) ThrowRaisedBy(call.name);
  for (int i = 0; i < call.num_results; ++i) {
    int64_t shape[KP_MAX_NDIM];
    KpDLTensor prototype;
    if (signature::ResultPrototype(bound, call.name, i, raiser, shape, &prototype)) ThrowRaisedBy(call.name);
    const ValueId value = step.step->results[static_cast<size_t>(i)];
    frame->slots[value].Describe(prepared_.devices[frame->program->values[value].device].device, prototype.dtype,
                                 prototype.shape, prototype.ndim);
  }
}

void Runner::CallUntyped(Frame* frame, const PreparedStep& step) {
  const CallSite& call = step.call;
  const std::vector<ValueId>& results = step.step->results;
  Any result;
  const std::vector<KpAny>& args = frame->args;
  if (call.callable.call(call.callable.self, args.data(), static_cast<int32_t>(args.size()), result.out()))
    ThrowRaisedBy(call.name);
  const KpAny& got = result.raw();
  const bool list = got.type_index == KP_TYPE_ARRAY || got.type_index == KP_TYPE_LIST;
  const auto* items = list ? reinterpret_cast<const KpSequenceObject*>(got.v.v_obj) : nullptr;
  if (results.size() > 1 && (!items || static_cast<size_t>(items->size) != results.size())) {
    KP_THROW(TypeError) << "expected a list of " << results.size() << " results, got " << type_name(got.type_index);
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const KpAny& item = results.size() > 1 ? items->data[i] : got;
    const KpDLDevice planned = prepared_.devices[frame->program->values[results[i]].device].device;
    const KpDLTensor* tensor = kp_any_tensor(&item);
    CheckDeclared(i, frame->program->program->values[results[i]].type, item);
    if (tensor && !SameDevice(tensor->device, planned)) {
      KP_THROW(ValueError) << "result " << i << ": expected a tensor on " << NameOf(planned) << ", got one on "
                           << NameOf(tensor->device);
    }
    kp_any_retain(&item);
    frame->slots[results[i]].Own(item);
  }
}

void Runner::Place(Frame* frame, ValueId value) {
  const PreparedValue& prepared = frame->program->values[value];
  const RealDevice& device = prepared_.devices[prepared.device];
  Slot& slot = frame->slots[value];
  const KpAny* given = prepared.result >= 0 ? &frame->given[static_cast<size_t>(prepared.result)] : nullptr;
  if (given && given->type_index != KP_TYPE_NONE) {
    if (!IsLike(*kp_any_tensor(given), slot.tensor)) RefuseGiven(*given, slot.tensor);
    return slot.Borrow(*given);
  }
  if (prepared.buffer != kNoBuffer) {
    const Buffer& buffer = frame->program->planned->buffers[prepared.buffer];
    const std::string scope = buffer.device.memory_scope().value_or("");
    return slot.Point(frame->blocks[prepared.buffer].Reserve(device.api, device.device, slot.bytes, scope, meter_));
  }
  Any made;
  Check(Host()->tensor_alloc(Host(), &slot.tensor, made.out()));
  slot.Own(made.release());
}

}  // namespace kernpack::sdk::program
