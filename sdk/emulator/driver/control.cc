#include "driver/control.h"

#include <algorithm>
#include <cstdlib>
#include <random>
#include <sstream>

#include "driver/counting.h"
#include "driver/machine.h"
#include "driver/image.h"
#include "ops/table.h"

using namespace kernpack::cuda;

namespace {

// One setting or fault of KERNPACK_EMULATOR_SETTINGS.
void Apply(const std::string& clause) {
  const size_t equals = clause.find('=');
  if (equals == std::string::npos) return;
  const std::string key = clause.substr(0, equals);
  const std::string value = clause.substr(equals + 1);
  Machine& machine = Machine::Get();
  if (key == "hide") {
    machine.hidden.insert(value);
  } else if (key == "fail") {
    const size_t colon = value.find(':');
    const int result = std::atoi(value.c_str() + (colon == std::string::npos ? 0 : colon + 1));
    machine.faults[value.substr(0, colon)] = {static_cast<Result>(result), 0, 1 << 30};
  } else {
    machine.settings[key] = std::atol(value.c_str());
  }
}

// KERNPACK_EMULATOR names the devices: "sm_90,sm_80". Any other value, such as "1", means sm_90 and sm_80.
void ApplyDevices() {
  const char* text = std::getenv("KERNPACK_EMULATOR");
  std::istringstream names(text != nullptr ? text : "");
  std::vector<int> archs;
  for (std::string name; std::getline(names, name, ',');) {
    const int arch = name.rfind("sm_", 0) == 0 ? std::atoi(name.c_str() + 3) : 0;
    if (arch >= 50 && arch < 200) archs.push_back(arch);
  }
  if (archs.empty()) return;
  Machine::Get().archs = archs;
  Machine::Get().settings["devices"] = static_cast<long>(archs.size());
}

// KERNPACK_EMULATOR_SEED=random draws one, which findings name.
void ApplySeed(const std::string& text) {
  if (text == "random") {
    Machine::Get().settings["seed"] = 1 + static_cast<long>(std::random_device()() % 0x7fffffff);
  } else {
    Apply("seed=" + text);
  }
}

void ApplyEnvironment() {
  ApplyDevices();
  if (const char* seconds = std::getenv("KERNPACK_EMULATOR_SECONDS")) Apply(std::string("seconds=") + seconds);
  if (const char* seed = std::getenv("KERNPACK_EMULATOR_SEED")) ApplySeed(seed);
  const char* text = std::getenv("KERNPACK_EMULATOR_SETTINGS");
  std::istringstream clauses(text != nullptr ? text : "");
  for (std::string clause; std::getline(clauses, clause, ';');) Apply(clause);
}

__attribute__((constructor)) void AtLoad() { ApplyEnvironment(); }

StreamOpaque* AsStream(void* stream) { return static_cast<StreamOpaque*>(stream); }
ContextOpaque* GetContext(int device) {
  return device < 0 ? nullptr : Machine::Get().contexts[static_cast<size_t>(device)].get();
}

}  // namespace

extern "C" {

#define KP_EMULATOR_EXPORT __attribute__((visibility("default")))

KP_EMULATOR_EXPORT void kernpack_emulator_reset(void) {
  const std::lock_guard lock(Machine::Get().mutex);
  Machine::Get().Reset();
  ContextStack().clear();
  ApplyEnvironment();
}

KP_EMULATOR_EXPORT void kernpack_emulator_set(const char* setting, long value) {
  const std::lock_guard lock(Machine::Get().mutex);
  Machine::Get().settings.at(setting) = value;
}

KP_EMULATOR_EXPORT void kernpack_emulator_hide(const char* entry) {
  const std::lock_guard lock(Machine::Get().mutex);
  Machine::Get().hidden.insert(entry);
}

KP_EMULATOR_EXPORT void kernpack_emulator_fail(const char* entry, int result, int skip, int times) {
  const std::lock_guard lock(Machine::Get().mutex);
  Machine::Get().faults[entry] = {static_cast<Result>(result), skip, times};
}

KP_EMULATOR_EXPORT void kernpack_emulator_break(int device, int result) {
  const std::lock_guard lock(Machine::Get().mutex);
  GetContext(device)->broken = static_cast<Result>(result);
}

KP_EMULATOR_EXPORT long kernpack_emulator_calls(const char* entry) {
  const std::lock_guard lock(Machine::Get().mutex);
  return Machine::Get().calls[entry];
}

KP_EMULATOR_EXPORT long kernpack_emulator_live(const char* what) {
  Machine& machine = Machine::Get();
  const std::lock_guard lock(machine.mutex);
  const std::string name = what;
  if (name == "memory") {
    return std::count_if(machine.blocks.begin(), machine.blocks.end(),
                         [](const auto& entry) { return !entry.second.variable; });
  }
  if (name == "events") return static_cast<long>(machine.events.size());
  if (name == "modules") return static_cast<long>(machine.modules.size());
  long count = 0;
  if (name == "pinned" || name == "pool") {
    const BlockKind kind = name == "pinned" ? BlockKind::kHost : BlockKind::kPool;
    for (const auto& [address, block] : machine.blocks) count += block.kind == kind;
    return count;
  }
  for (const auto& context : machine.contexts) {
    if (name == "contexts") count += context->retained;
    if (name == "work") count += static_cast<long>(context->legacy->queue.size());
    for (const StreamRef& stream : context->streams) {
      if (name == "streams") count += !stream->destroyed;
      if (name == "work") count += static_cast<long>(stream->queue.size());
    }
  }
  return count;
}

KP_EMULATOR_EXPORT long kernpack_emulator_thread_instructions(void) {
  const std::lock_guard lock(Machine::Get().mutex);
  return static_cast<long>(Machine::Get().thread_instructions);
}

KP_EMULATOR_EXPORT long kernpack_emulator_host_level(void) { return kernpack::emulator::HostLevel(); }

KP_EMULATOR_EXPORT void kernpack_emulator_count(int on) {
  const std::lock_guard lock(Machine::Get().mutex);
  Count(on != 0);
}

KP_EMULATOR_EXPORT const char* kernpack_emulator_survey(const void* image, long arch) {
  static thread_local std::string text;
  text = SurveyText(image, arch);
  return text.c_str();
}

KP_EMULATOR_EXPORT const char* kernpack_emulator_counts(void) {
  Machine& machine = Machine::Get();
  const std::lock_guard lock(machine.mutex);
  for (const auto& context : machine.contexts) RunAll(context.get());
  static std::string text;
  text = CountsText();
  return text.c_str();
}

KP_EMULATOR_EXPORT const char* kernpack_emulator_row(unsigned index) { return kernpack::emulator::RowName(index); }

KP_EMULATOR_EXPORT long kernpack_emulator_calls_in_child(void) {
  const std::lock_guard lock(Machine::Get().mutex);
  return Machine::Get().child_calls;
}

KP_EMULATOR_EXPORT int kernpack_emulator_begin_capture(void* stream, int mode) {
  const std::lock_guard lock(Machine::Get().mutex);
  if (AsStream(stream)->capture != kCaptureNone) return kInvalidValue;
  AsStream(stream)->capture = kCaptureActive;
  AsStream(stream)->capture_mode = static_cast<CaptureMode>(mode);
  AsStream(stream)->graph.clear();
  return kSuccess;
}

KP_EMULATOR_EXPORT int kernpack_emulator_end_capture(void* stream) {
  const std::lock_guard lock(Machine::Get().mutex);
  const CaptureStatus status = AsStream(stream)->capture;
  AsStream(stream)->capture = kCaptureNone;
  return status;
}

KP_EMULATOR_EXPORT int kernpack_emulator_launch_graph(void* stream) {
  const std::lock_guard lock(Machine::Get().mutex);
  const StreamRef ref = AsStream(stream)->shared_from_this();
  for (const auto& work : AsStream(stream)->graph) Enqueue(ref, work);
  return kSuccess;
}

KP_EMULATOR_EXPORT void* kernpack_emulator_blocking_stream(int device) {
  const std::lock_guard lock(Machine::Get().mutex);
  auto made = std::make_shared<StreamOpaque>();
  made->context = GetContext(device);
  made->blocking = true;
  made->context->streams.push_back(made);
  return made.get();
}

KP_EMULATOR_EXPORT void* kernpack_emulator_use_context(int device) {
  const std::lock_guard lock(Machine::Get().mutex);
  ContextStack().assign(1, GetContext(device));
  return ContextStack().back();
}

KP_EMULATOR_EXPORT void* kernpack_emulator_other_context(int device) {
  Machine& machine = Machine::Get();
  const std::lock_guard lock(machine.mutex);
  machine.contexts.push_back(std::make_unique<ContextOpaque>());
  ContextOpaque* made = machine.contexts.back().get();
  made->device = device;
  made->legacy = std::make_shared<StreamOpaque>();
  made->legacy->context = made;
  ContextStack().assign(1, made);
  return made;
}

KP_EMULATOR_EXPORT void* kernpack_emulator_current_context(void) {
  return ContextStack().empty() ? nullptr : ContextStack().back();
}

}  // extern "C"
