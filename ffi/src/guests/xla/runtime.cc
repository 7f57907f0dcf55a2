#include "guests/xla/runtime.h"

#include <kernpack/host/host.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include "base/fork.h"
#include "base/leaked.h"
#include "guests/xla/call_site.h"

namespace kernpack::xla {
namespace {

// XLA refuses a handler whose reported version is newer than its own, and every runtime understands older ones. Runtimes of
// 0.1 ask without showing their table.
int32_t SharedMinor(const Api* api) { return api ? std::min<int32_t>(kApiMinor, api->version.minor) : 1; }

void DeleteCallSite(void* site) { delete static_cast<CallSite*>(site); }

// Each platform's plugin has a registry of types of its own, and so needs a type id of its own, found by the plugin's
// function table. Slots are only ever added: a reader needs no lock.
struct StateType {
  std::atomic<const Api*> api{nullptr};
  TypeId id{0};
};

constinit std::array<StateType, 16> g_state_types;

TypeId* FindStateType(const Api* api) {
  for (StateType& type : g_state_types) {
    const Api* known = type.api.load(std::memory_order_acquire);
    if (known == api) return &type.id;
    if (!known) return nullptr;
  }
  return nullptr;
}

// Registrations only: who executes a call takes no lock.
struct Registrations {
  host::ForkMutex mutex{host::LockRank::kBindings};
};

Error* RegisterStateType(const Api* api, TypeId** out) {
  static constexpr TypeInfo kInfo = {sizeof(TypeInfo), nullptr, DeleteCallSite};
  const std::lock_guard lock(host::Leaked<Registrations>().mutex);
  if ((*out = FindStateType(api))) return nullptr;
  for (StateType& type : g_state_types) {
    if (type.api.load(std::memory_order_relaxed)) continue;
    // The address sets two copies of this library in one process apart.
    char name[64];
    const int length = std::snprintf(name, sizeof name, "kernpack.call_site.%p", static_cast<void*>(&type));
    TypeRegisterArgs args = {sizeof args, nullptr, {name, static_cast<size_t>(length)}, &type.id, &kInfo};
    if (api->version.minor < 2) args.struct_size = offsetof(TypeRegisterArgs, info);
    if (Error* error = api->type_register(&args)) return error;
    type.api.store(api, std::memory_order_release);
    *out = &type.id;
    return nullptr;
  }
  return MakeError(api, ErrorCode::kResourceExhausted, "kernpack: too many XLA runtimes in one process");
}

Error* GetStateType(const Api* api, TypeId** out) {
  *out = FindStateType(api);
  return *out ? nullptr : RegisterStateType(api, out);
}

ErrorCode GetCode(std::string_view kind) {
  static constexpr std::array<std::pair<std::string_view, ErrorCode>, 9> kCodes = {{
      {"ValueError", ErrorCode::kInvalidArgument},
      {"TypeError", ErrorCode::kInvalidArgument},
      {"IndexError", ErrorCode::kOutOfRange},
      {"KeyError", ErrorCode::kNotFound},
      {"MemoryError", ErrorCode::kResourceExhausted},
      {"NotImplementedError", ErrorCode::kUnimplemented},
      {"PermissionError", ErrorCode::kPermissionDenied},
      {"KeyboardInterrupt", ErrorCode::kCancelled},
      {"RuntimeError", ErrorCode::kFailedPrecondition},
  }};
  for (const auto& [name, code] : kCodes) {
    if (name == kind) return code;
  }
  return ErrorCode::kInternal;
}

}  // namespace

bool AnswerMetadata(CallFrame* frame, bool stateful) {
  for (Extension* extension = frame->extension; extension; extension = extension->next) {
    if (extension->type != kMetadataExtension) continue;
    Metadata* metadata = reinterpret_cast<MetadataExtension*>(extension)->metadata;
    metadata->api_version.major = kApiMajor;
    metadata->api_version.minor = SharedMinor(frame->api);
    metadata->traits = 0;
    TypeId* id = nullptr;
    if (metadata->struct_size >= kMetadataSize) {
      metadata->state_type = {0};
      if (stateful && frame->api && !GetStateType(frame->api, &id)) metadata->state_type = *id;
    }
    return true;
  }
  return false;
}

Error* CheckRuntime(const CallFrame* frame) {
  const Api* api = frame->api;
  if (frame->struct_size >= kCallFrameSize && api->struct_size >= kApiSize && api->version.major == kApiMajor &&
      api->version.minor >= 1) {
    return nullptr;
  }
  char text[256];
  std::snprintf(text, sizeof text,
                "[ImportError] kernpack: this XLA speaks version %d.%d of its FFI (frame of %zu bytes, table of %zu), "
                "expected 0.1 or later (at least %zu and %zu); upgrade jaxlib or kernpack",
                api->version.major, api->version.minor, frame->struct_size, api->struct_size, kCallFrameSize, kApiSize);
  return MakeError(api, ErrorCode::kFailedPrecondition, text);
}

Error* MakeError(const Api* api, ErrorCode code, const char* message) {
  ErrorCreateArgs args = {sizeof args, nullptr, message, code};
  return api->error_create(&args);
}

Error* TakeRaised(const Api* api, const char* who, int rc) {
  KpAny taken = kp_none();
  kp_error_take(who, rc, &taken);
  const auto* error = static_cast<const KpErrorObject*>(taken.v.v_ptr);
  const std::string_view kind(error->kind.data, error->kind.size);
  std::string text;
  text.append("[").append(kind).append("] ").append(error->message.data, error->message.size);
  Error* result = MakeError(api, GetCode(kind), text.c_str());
  kp_any_release(&taken);
  return result;
}

Error* SetCallSite(const CallFrame* frame, CallSite* site) {
  std::unique_ptr<CallSite> owned(site);
  const Api* api = frame->api;
  TypeId* id = nullptr;
  if (Error* error = GetStateType(api, &id)) return error;
  Error* error = nullptr;
  if (api->version.minor >= 3) {
    StateArgsV3 args = {sizeof args, nullptr, frame->context, Stage::kInstantiate, id, site};
    error = api->state_set(&args);
  } else if (api->version.minor == 2) {
    StateArgsV2 args = {sizeof args, nullptr, frame->context, id, site};
    error = api->state_set(&args);
  } else {
    StateSetArgsV1 args = {sizeof args, nullptr, frame->context, id, site, DeleteCallSite};
    error = api->state_set(&args);
  }
  if (!error) (void)owned.release();
  return error;
}

Error* GetCallSite(const CallFrame* frame, CallSite** out) {
  const Api* api = frame->api;
  TypeId* id = FindStateType(api);
  if (!id) return MakeError(api, ErrorCode::kInternal, "kernpack: executed before it was instantiated");
  Error* error = nullptr;
  if (api->version.minor >= 3) {
    StateArgsV3 args = {sizeof args, nullptr, frame->context, Stage::kInstantiate, id, nullptr};
    error = api->state_get(&args);
    *out = static_cast<CallSite*>(args.state);
  } else {
    StateArgsV2 args = {sizeof args, nullptr, frame->context, id, nullptr};
    error = api->state_get(&args);
    *out = static_cast<CallSite*>(args.state);
  }
  return error;
}

}  // namespace kernpack::xla
