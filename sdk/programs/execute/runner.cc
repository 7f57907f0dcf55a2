#include "execute/runner.h"

#include <kernpack/error.h>
#include <kernpack/shape.h>

#include "device_api/devices.h"
#include "execute/raise.h"
#include "execute/step_clock.h"
#include "target/host.h"

namespace kernpack::sdk::program {

void Runner::Run(Frame* frame, const KpAny* params, int32_t num_params) {
  const Program& program = *frame->program->program;
  if (num_params < 0 || static_cast<size_t>(num_params) != program.params.size()) {
    KP_THROW(TypeError) << program.name << ": expected " << program.params.size() << " arguments, got " << num_params;
  }
  frame->warm = frame->complete && LikeLast(*frame, params);
  frame->complete = false;
  if (!frame->warm) CheckParams(frame, params);
  if (frame == &this->frame) CheckShared(params);
  for (size_t i = 0; i < program.params.size(); ++i) frame->slots[program.params[i]].Borrow(params[i]);
  for (size_t number = 0; number < frame->program->steps.size(); ++number) {
    try {
      RunStep(frame, number);
    } catch (const Error& e) {
      Rethrow(GetName(program, program.steps[number]), e);
    } catch (const std::bad_alloc&) {
      KP_THROW(MemoryError) << GetName(program, program.steps[number]) << ": out of memory";
    }
  }
  frame->complete = true;
}

void Runner::RunStep(Frame* frame, size_t number) {
  const ResolvedStep& step = frame->program->steps[number];
  const PlannedStep& planned = *step.planned;
  if (options_->cancel && options_->cancel->load(std::memory_order_relaxed)) {
    throw Error("InterruptedError", kp_bytes("cancelled before it"));
  }
  const KpHost* host = Host();
  if (host->check_interrupts(host)) ThrowRaisedBy("check_interrupts");
  const uint32_t stream = planned.stream;
  if (stream != kNoStream) {
    for (const uint32_t before : planned.waits) {
      streams.Await(stream, frame->program->steps[before].planned->stream, frame->events[before]);
    }
    streams.Use(stream);
  }
  if (clock_) clock_->Begin(frame, number);
  Do(frame, number);
  if (clock_) clock_->End(frame, number);
  const bool queued = stream != kNoStream && !streams.device(stream).is_host();
  // A copy to the host has brought the event that says when it is there.
  if (planned.signals && queued && (landing_.empty() || landing_.back().second != &frame->events[number]))
    streams.Record(stream, &frame->events[number]);
  for (const ValueId value : planned.frees) frame->slots[value].Release();
}

void Runner::Do(Frame* frame, size_t number) {
  const ResolvedStep& resolved = frame->program->steps[number];
  const Step& step = *resolved.step;
  switch (step.kind) {
    case StepKind::kConstant:
      return frame->slots[step.results[0]].Borrow(resolved.constant);
    case StepKind::kCall:
      return Call(frame, number);
    case StepKind::kTuple:
      return MakeTuple(frame, number);
    case StepKind::kTupleGet: {
      const KpAny& tuple = frame->slots[step.args[0]].any;
      const bool list = tuple.type_index == KP_TYPE_ARRAY || tuple.type_index == KP_TYPE_LIST;
      const auto* items = list ? reinterpret_cast<const KpSequenceObject*>(tuple.v.v_obj) : nullptr;
      if (!items || step.index >= static_cast<uint64_t>(items->size)) {
        KP_THROW(IndexError) << "expected a tuple of at least " << step.index + 1 << " elements, got "
                             << (items ? items->size : 0);
      }
      return frame->slots[step.results[0]].Borrow(items->data[step.index]);
    }
    case StepKind::kIf:
    case StepKind::kInvoke:
      return RunProgram(frame, number);
    case StepKind::kCopy:
      return Copy(frame, number);
    case StepKind::kShapeOf: {
      const KpDLTensor* tensor = kp_any_tensor(&frame->slots[step.args[0]].any);
      if (!tensor) KP_THROW(TypeError) << "expected a tensor, got another value";
      Any shape{Shape(ShapeView(tensor->shape, static_cast<size_t>(tensor->ndim)))};
      return frame->slots[step.results[0]].Own(shape.release());
    }
  }
}

void Runner::MakeTuple(Frame* frame, size_t number) {
  const Step& step = *frame->program->steps[number].step;
  std::unique_ptr<Items>& items = frame->tuples[number];
  if (!items) items = std::make_unique<Items>();
  items->values.clear();
  for (const ValueId value : step.args) items->values.push_back(frame->slots[value].any);
  const auto size = static_cast<int64_t>(items->values.size());
  items->object = {{1 | uint64_t{1} << 32, KP_TYPE_ARRAY, 0, nullptr}, items->values.data(), size, size, nullptr};
  KpAny tuple = kp_none();
  tuple.type_index = KP_TYPE_ARRAY;
  tuple.v.v_obj = &items->object.header;
  frame->slots[step.results[0]].Borrow(tuple);
}

void Runner::Land() {
  for (const auto& [stream, event] : landing_) {
    const RealDevice& from = streams.device(stream);
    from.api->EventSync(from.device, event->get());
  }
  landing_.clear();
}

void Runner::Barrier() {
  Land();
  // Streams of one device wait for each other by themselves; of several, the host waits.
  size_t devices = 0;
  for (const RealDevice& device : resolved_.devices) devices += device.is_host() ? 0 : 1;
  devices > 1 ? streams.Finish() : streams.Join();
}

}  // namespace kernpack::sdk::program
