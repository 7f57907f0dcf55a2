// Calls of functions.
#include <kernpack/signature/check.h>
#include <kernpack/signature/lend.h>
#include <kernpack/signature/typed_call.h>

#include "device_api/devices.h"
#include "execute/raise.h"
#include "execute/runner.h"
#include "execute/tensors.h"
#include "target/host.h"

namespace kernpack::sdk::program {
namespace {

[[noreturn]] void RefuseGiven(const KpAny& given, const KpDLTensor& wanted) {
  const KpDLTensor& got = *kp_any_tensor(&given);
  KP_THROW(ValueError) << "its result: expected a compact tensor to write " << DType(wanted.dtype) << GetSizes(wanted)
                       << " on " << GetName(wanted.device) << " to, got " << DType(got.dtype) << GetSizes(got) << " on "
                       << GetName(got.device);
}

// Checks that the result of a function without a contract has the type that the program declares.
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
    text << DType(got->dtype) << GetSizes(*got);
  } else {
    text << type_name(item.type_index);
  }
  throw Error("TypeError", text.bytes());
}

}  // namespace

void Runner::Call(Frame* frame, size_t number) {
  const ResolvedStep& step = frame->program->steps[number];
  const ResolvedCall& call = step.call;
  std::vector<KpAny>& args = frame->args;
  args.clear();
  for (const ValueId value : step.step->args) args.push_back(frame->slots[value].any);
  if (!call.words) return CallUntyped(frame, step);
  frame->aliases.clear();
  for (const uint32_t i : call.elsewhere) {
    const KpDLTensor* tensor = kp_any_tensor(&args[i]);
    if (!tensor) continue;
    KpDLTensor& alias = frame->aliases.emplace_back(*tensor);
    alias.device = resolved_.devices[step.device].device;
    args[i] = kp_none();
    args[i].type_index = KP_TYPE_DLTENSOR_PTR;
    args[i].v.v_tensor = &alias;
  }
  args.insert(args.end(), call.defaults.begin(), call.defaults.end());
  signature::Converted converted;
  if (!frame->warm || !call.follows) {
    CheckCall(frame, number, &converted);
  } else if (converted.ConvertFloats(signature::View{call.words}, args.data())) {
    throw std::bad_alloc();
  }
  for (const ValueId value : step.step->results) {
    Place(frame, value);
    args.push_back(frame->slots[value].any);
  }
  signature::WorkspaceView space;
  if (call.has_workspace) {
    const RealDevice& device = resolved_.devices[step.device];
    const uint64_t bytes = frame->workspace_bytes[number];
    const uint32_t stream = step.planned->stream;
    void* data = bytes ? workspaces_[stream].Reserve(device.api, device.device, bytes, {}, nullptr) : nullptr;
    space.Set(device.device, bytes, data);
    args.push_back(space.value());
  }
  const signature::Implementation kernel{call.callable.call, call.callable.self};
  if (signature::RunKernel(kernel, args.data(), static_cast<int>(args.size()))) ThrowRaisedBy(call.name);
}

// The contract of the function: arguments, and then what the results are.
void Runner::CheckCall(Frame* frame, size_t number, signature::Converted* converted) {
  const ResolvedStep& step = frame->program->steps[number];
  const ResolvedCall& call = step.call;
  const signature::Raiser raiser = HostRaiser();
  KpSigFrame bound;
  if (signature::Check(call.words, call.name, frame->args.data(), nullptr, 0, raiser, &bound)) ThrowRaisedBy(call.name);
  const KpDLDevice device = resolved_.devices[step.device].device;
  if (bound.device.device_type != 0 && !SameDevice(bound.device, device)) {
    KP_THROW(ValueError) << "its tensors are on " << GetName(bound.device) << ", but the plan runs it on "
                         << GetName(device);
  }
  bound.device = device;
  if (converted->Convert(bound, call.name, raiser, frame->args.data())) ThrowRaisedBy(call.name);
  // Memory comes when the step runs (Place, Call); later runs with inputs like these don't come here.
  struct Sizes {
    const Runner& runner;
    Frame* frame;
    size_t number;
    int Result(int index, const KpDLTensor& prototype, KpAny*) {
      const ResolvedStep& step = frame->program->steps[number];
      const ValueId value = step.step->results[static_cast<size_t>(index)];
      const RealDevice& device = runner.resolved_.devices[frame->program->values[value].device];
      frame->slots[value].Describe(device.device, prototype.dtype, prototype.shape, prototype.ndim);
      return 0;
    }
    int Workspace(const KpDLTensor& prototype, KpAny*) {
      frame->workspace_bytes[number] = static_cast<uint64_t>(prototype.shape[0]);
      return 0;
    }
  };
  KpAny nothing_lent[KP_SIG_MAX_RESULTS + 1];
  std::fill_n(nothing_lent, call.num_results, kp_none());
  if (signature::Lend(bound, call.name, raiser, Sizes{*this, frame, number}, nothing_lent)) ThrowRaisedBy(call.name);
}

void Runner::CallUntyped(Frame* frame, const ResolvedStep& step) {
  const ResolvedCall& call = step.call;
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
    const KpDLDevice planned = resolved_.devices[frame->program->values[results[i]].device].device;
    const KpDLTensor* tensor = kp_any_tensor(&item);
    CheckDeclared(i, frame->program->program->values[results[i]].type, item);
    if (tensor && !SameDevice(tensor->device, planned)) {
      KP_THROW(ValueError) << "result " << i << ": expected a tensor on " << GetName(planned) << ", got one on "
                           << GetName(tensor->device);
    }
    kp_any_retain(&item);
    frame->slots[results[i]].Own(item);
  }
}

void Runner::Place(Frame* frame, ValueId value) {
  const ResolvedValue& resolved = frame->program->values[value];
  const RealDevice& device = resolved_.devices[resolved.device];
  Slot& slot = frame->slots[value];
  const KpAny* given = resolved.result >= 0 ? &frame->given[static_cast<size_t>(resolved.result)] : nullptr;
  if (given && given->type_index != KP_TYPE_NONE) {
    if (!IsLike(*kp_any_tensor(given), slot.tensor)) RefuseGiven(*given, slot.tensor);
    return slot.Borrow(*given);
  }
  if (resolved.buffer != kNoBuffer) {
    const Buffer& buffer = frame->program->planned->buffers[resolved.buffer];
    const std::string scope = buffer.device.memory_scope().value_or("");
    return slot.Point(frame->blocks[resolved.buffer].Reserve(device.api, device.device, slot.bytes, scope, meter_));
  }
  Any made;
  Check(Host()->tensor_alloc(Host(), &slot.tensor, made.out()));
  slot.Own(made.release());
}

}  // namespace kernpack::sdk::program
