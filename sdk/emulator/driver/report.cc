// The part of control.h that test runners call: what was found, and a device that works again after an error.
#include "driver/control.h"
#include "driver/findings.h"
#include "driver/machine.h"
#include "runtime/runtime.h"

namespace kernpack::cuda {
namespace {

void Drop(StreamOpaque* stream) {
  stream->queue.clear();
  stream->done = stream->queued;
  stream->capture = kCaptureNone;
}

// Memory of pools whose allocation or release was dropped.
void SettlePools(Machine* machine) {
  std::vector<uintptr_t> released;
  for (auto& [address, block] : machine->blocks) {
    if (block.kind != BlockKind::kPool) continue;
    block.usable = true;
    if (block.free_queued) released.push_back(address);
  }
  for (const uintptr_t address : released) RemoveBlock(address);
}

}  // namespace
}  // namespace kernpack::cuda

using namespace kernpack::cuda;

extern "C" {

#define KP_EMULATOR_REPORT_EXPORT __attribute__((visibility("default")))

KP_EMULATOR_REPORT_EXPORT const char* kernpack_emulator_findings(void) {
  Machine& machine = Machine::Get();
  const std::lock_guard lock(machine.mutex);
  for (const auto& context : machine.contexts) RunAll(context.get());
  static thread_local std::string text;
  text = TakeFindings();
  return text.c_str();
}

KP_EMULATOR_REPORT_EXPORT void kernpack_emulator_renew(void) {
  Machine& machine = Machine::Get();
  const std::lock_guard lock(machine.mutex);
  for (const auto& context : machine.contexts) {
    context->broken = kSuccess;
    Drop(context->legacy.get());
    for (const StreamRef& stream : context->streams) Drop(stream.get());
    std::erase_if(context->streams, [](const StreamRef& stream) { return stream->destroyed; });
  }
  SettlePools(&machine);
  machine.reports.clear(), machine.told.clear();
  runtime::ForgetError();
}

KP_EMULATOR_REPORT_EXPORT void kernpack_emulator_write_report(void) { WriteReport(); }

KP_EMULATOR_REPORT_EXPORT void kernpack_emulator_missing(const char* function) { AddMissing(function, true); }

KP_EMULATOR_REPORT_EXPORT void kernpack_emulator_dropped_in(void) {
  const std::lock_guard lock(Machine::Get().mutex);
  Machine::Get().dropped_in = true;
}

}  // extern "C"
