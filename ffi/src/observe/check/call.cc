#include "observe/check/call.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include <kernpack/signature/program.h>
#include <kernpack/signature/sequence.h>

#include "devices/call/context.h"
#include "observe/check/float_state.h"
#include "observe/check/text.h"
#include "devices/memory.h"
#include "values/error/slot.h"
#include "values/object/object.h"
#include "values/tensor/dltensor.h"

namespace kernpack::host::check {
namespace {

constinit thread_local CheckedCall* t_checked = nullptr;

// Elements of less than a byte that are not in a row cannot be told apart.
bool MayLend(const KpDLTensor& tensor) { return ElementBits(tensor.dtype) % 8 == 0 || IsCompact(tensor); }

bool IsSame(const KpAny& a, const KpAny& b) {
  return a.type_index == b.type_index && a.small_len == b.small_len && a.v.v_bits == b.v.v_bits;
}

std::string ErrorText(const KpAny& error) {
  if (error.type_index != KP_TYPE_ERROR) return "an error";
  const auto* object = reinterpret_cast<const KpErrorObject*>(error.v.v_obj);
  return std::string(object->kind.data, object->kind.size) + ": " +
         std::string(object->message.data, object->message.size);
}

}  // namespace

CheckedCall* CheckedCall::Current() noexcept { return t_checked; }

Innermost::Innermost(CheckedCall* call) noexcept : outer_(t_checked) { t_checked = call; }
Innermost::~Innermost() { Leave(); }
void Innermost::Leave() const noexcept { t_checked = outer_; }

int CheckedBody::Run(void* self, int64_t begin, int64_t end) {
  const auto* one = static_cast<const CheckedBody*>(self);
  const Innermost innermost(one->call);
  if (one->call->scratch().OnFirstThread()) return one->body(one->context, begin, end);
  const FloatState state;
  const int rc = one->body(one->context, begin, end);
  if (const char* changed = state.Restore()) {
    one->call->Find(std::string(one->call->function_name()) + ": changed the " + changed +
                    " of a thread of parallel_for; restore it before returning");
  }
  one->call->scratch().GiveBack();
  return rc;
}

CheckedCall::CheckedCall(const KpLoadedFunction& function, const KpAny* args, int32_t num_args, Turn turn)
    : function_(function), given_(args), turn_(turn), args_(args, args + num_args), outer_(Current()) {}

CheckedCall::~CheckedCall() {
  for (KpAny& value : owned_) kp_any_release(&value);
}

std::string CheckedCall::FindOwner(const void* address) {
  const auto found = std::find_if(lent_.begin(), lent_.end(), [&](const Lent& one) { return one.Holds(address); });
  return found != lent_.end() ? found->name() : scratch_.FindOwner(address);
}

// Next to what a value with that tag was read; "": nothing of this call's has it.
std::string CheckedCall::OwnerOfTag(unsigned tag) {
  std::string owner;
  for (const Lent& one : lent_) {
    if (one.tag() != tag) continue;
    if (!owner.empty()) return "a tensor";  // there are more tensors than tags
    owner = one.name() + (one.has_gaps() ? ", or between its elements (use stride(i))" : "");
  }
  if (owner.empty()) owner = scratch_.OwnerOfTag(tag);
  if (owner.empty() && tag <= buffers_.load(std::memory_order_relaxed)) owner = "a new tensor";
  return owner;
}

void CheckedCall::Find(std::string finding) {
  const std::lock_guard lock(mutex_);
  findings_.push_back(std::move(finding));
}

// Before the kernel may queue anything: what it is lent on a device has to be ready, and no work queued earlier may use it.
void CheckedCall::UseDevices(const KpAny& value, int depth) {
  if (const KpDLTensor* tensor = kp_any_tensor(&value)) {
    if (tensor->device.device_type == KP_DEVICE_CPU) return;
    if (devices_.Use(tensor->device, CurrentStream(tensor->device), function_.name).api == nullptr) {
      looks_at_memory_ = false;
    }
    return;
  }
  if ((value.type_index != KP_TYPE_ARRAY && value.type_index != KP_TYPE_LIST) || depth == kMostNested) return;
  const auto* list = reinterpret_cast<const KpSequenceObject*>(value.v.v_obj);
  std::for_each(list->data, list->data + list->size, [&](const KpAny& item) { UseDevices(item, depth + 1); });
}

int CheckedCall::LendTensor(KpAny* value, Role role, std::string name, const char* parameter) {
  const KpDLTensor* tensor = kp_any_tensor(value);
  if (!tensor || !MayLend(*tensor)) return 0;
  const bool on_cpu = tensor->device.device_type == KP_DEVICE_CPU;
  const DeviceInUse* where =
      on_cpu ? nullptr : &devices_.Use(tensor->device, CurrentStream(tensor->device), function_.name);
  Lent& lent = lent_.emplace_back(*tensor, where, role, NextTag(), std::move(name), parameter);
  return lent.Fill(turn_) != 0 ? -1 : lent.Replace(value);
}

int CheckedCall::LendOne(int32_t index, Role role, const char* name, bool is_list) {
  KpAny* value = &args_[static_cast<size_t>(index)];
  if (!is_list) return LendTensor(value, role, name, name);
  if (value->type_index != KP_TYPE_ARRAY && value->type_index != KP_TYPE_LIST) return 0;
  const auto* given = reinterpret_cast<const KpSequenceObject*>(value->v.v_obj);
  KpAny made = kp_none();
  if (signature::MakeArray(static_cast<uint32_t>(given->size), &made) != 0) throw std::bad_alloc();
  owned_.push_back(made);
  auto* items = reinterpret_cast<KpSequenceObject*>(made.v.v_obj);
  for (int64_t i = 0; i < given->size; ++i) {
    KpAny item = given->data[i];
    if (LendTensor(&item, role, std::string(name) + "[" + std::to_string(i) + "]", name) != 0) return -1;
    kp_any_retain(&item);
    items->data[i] = item;
  }
  *value = made;
  return 0;
}

// Parameters, results, workspace: the order in which every host passes them to a function with a contract.
int CheckedCall::Lend() {
  for (const KpAny& value : args_) UseDevices(value);
  if (!function_.program || !looks_at_memory_) return 0;
  const signature::View program{function_.program};
  const int32_t params = program.NumParams();
  const int32_t results = program.NumResults();
  if (static_cast<int32_t>(args_.size()) != params + results + (program.HasWorkspace() ? 1 : 0)) return 0;
  for (int32_t i = 0; i < params; ++i) {
    const uint32_t* record = program.Param(i);
    if (signature::GetKind(record) != KP_PARAM_TENSOR) continue;
    const uint32_t flags = signature::GetFlags(record);
    const Role role = flags & KP_PARAM_MUTATED ? Role::kMutated : Role::kInput;
    if (LendOne(i, role, program.ParamName(i), (flags & KP_PARAM_LIST) != 0) != 0) return -1;
  }
  for (int32_t i = 0; i < results; ++i) {
    if (LendOne(params + i, Role::kResult, program.ResultName(i), false) != 0) return -1;
  }
  return program.HasWorkspace() ? LendOne(params + results, Role::kWorkspace, "workspace", false) : 0;
}

int CheckedCall::Run(KpSafeCall call, void* self, KpAny* result) {
  if (Lend() != 0) return -1;
  before_ = args_;
  const bool was_pending = kp_error_pending() != 0;
  int rc = Invoke(call, self, result);
  if (!was_pending) LookAtErrors(&rc);
  const bool settled = Settle(rc) == 0;
  const int returned = rc;
  if (settled) {
    Look(rc, result);
    if (rc == 0 && findings_.empty() && MayRepeat()) Repeat(call, self);
    rc = GiveBack(rc);
    LookAtKept(&findings_);
    LookAtEmptyTensors(&findings_);
    rc = Report(rc);
  } else {
    rc = -1;  // work of the kernel's on a device has failed, if the kernel itself has not
  }
  if (returned == 0 && rc != 0) {  // who called takes no value beside an error
    kp_any_release(result);
    *result = kp_none();
  }
  return rc;
}

int CheckedCall::Invoke(KpSafeCall call, void* self, KpAny* result) {
  const FloatState state;
  const Innermost innermost(this);
  const int rc = call(self, args_.data(), static_cast<int32_t>(args_.size()), result);
  innermost.Leave();
  const char* changed = state.Restore();
  if (changed) {
    Find(std::string(function_.name) + ": changed the " + changed + " of the thread; restore it before returning");
  }
  return rc;
}

// Waits for what the kernel has queued and brings its memory. 0, or -1 with the error raised that came out; where the kernel has
// raised one, that stays.
int CheckedCall::Settle(int rc) {
  if (rc == 0) return FetchAll();
  const ErrorKeeper first;
  return FetchAll();
}

int CheckedCall::FetchAll() {
  if (devices_.Wait() != 0) return -1;
  for (const Lent& one : lent_) {
    if (one.Fetch() != 0) return -1;
  }
  return scratch_.Fetch();
}

int CheckedCall::GiveBack(int rc) {
  int given = 0;
  {
    const ErrorKeeper first;
    for (Lent& one : lent_) {
      if (one.GiveBack(function_.name) != 0) given = -1;
    }
  }
  if (given != 0 && rc == 0) {
    return kp_raise("RuntimeError", "%s: its results could not be copied back to the caller's tensors", function_.name);
  }
  return rc;
}

// A function that promises the same bits at each call, and writes to its results only, can be called twice unnoticed.
bool CheckedCall::MayRepeat() const {
  const auto written = [](const Lent& one) { return one.role() == Role::kMutated; };
  return function_.program && (signature::View{function_.program}.Props() & KP_PROP_DETERMINISTIC) != 0 &&
         !lent_.empty() && std::none_of(lent_.begin(), lent_.end(), written);
}

// Calls again, with other bytes around the tensors and in unwritten memory. The results must not change.
void CheckedCall::Repeat(KpSafeCall call, void* self) {
  CheckedCall again(function_, given_, static_cast<int32_t>(args_.size()), Turn::kAgain);
  OwnedAny nothing;
  if (again.Lend() != 0) {
    kp_error_clear();
    return;
  }
  int rc = again.Invoke(call, self, nothing.out());
  if (rc == 0) rc = again.FetchAll();
  if (rc != 0 || kp_error_pending() != 0) {
    OwnedAny error;
    TakeError(error.out());
    findings_.push_back(std::string(function_.name) + ": raised " + ErrorText(error.get()) +
                        " when it was called again with the same arguments, though its signature says `deterministic`");
    return;
  }
  for (size_t i = 0; i < lent_.size(); ++i) {
    again.lent_[i].LookAround(std::string(function_.name) + ": " + lent_[i].name() + ": ", &findings_);
    lent_[i].Compare(function_.name, again.lent_[i], &findings_);
  }
}

void CheckedCall::LookAtErrors(int* rc) {
  if (*rc != 0 || kp_error_pending() == 0) return;
  OwnedAny error;
  TakeError(error.out());
  findings_.push_back(std::string(function_.name) + ": raised " + ErrorText(error.get()) +
                      ", and returned 0, which means success; return -1 after raising");
}

void CheckedCall::LookAtArguments() {
  const signature::View program{function_.program};
  for (size_t i = 0; i < args_.size(); ++i) {
    if (IsSame(args_[i], before_[i])) continue;
    const bool named = function_.program && static_cast<int32_t>(i) < program.NumParams();
    findings_.push_back(std::string(function_.name) + ": " +
                        (named ? program.ParamName(static_cast<int>(i)) : "argument " + std::to_string(i)) +
                        ": its value was changed in the caller's array of arguments; copy it first");
  }
}

void CheckedCall::Look(int rc, KpAny* result) {
  LookAtArguments();
  const std::string name = function_.name;
  const auto given = [this](const IsOrigin& is_origin) {
    return std::any_of(lent_.begin(), lent_.end(), [&](const Lent& one) { return one.Held(is_origin); });
  };
  const Sources sources{given, [this](unsigned tag) { return OwnerOfTag(tag); }};
  for (Lent& one : lent_) one.Look(name, rc == 0, sources, &findings_);
  scratch_.Look(name, &findings_);
  empty_.Look(&findings_);
  if (function_.program && result->type_index != KP_TYPE_NONE) {
    findings_.push_back(name + ": returned a value (" + kp_type_name(result->type_index) +
                        "), though a function with a signature writes to its results' memory; leave *result alone");
    kp_any_release(result);
    *result = kp_none();
  }
  scratch_.GiveBack();
  scratch_.Keep(name);
}

int CheckedCall::Report(int rc) {
  if (findings_.empty()) return rc;
  constexpr size_t kMost = 8;
  std::string text;
  for (size_t i = 0; i < findings_.size() && i < kMost; ++i) text += (i ? "\n" : "") + findings_[i];
  if (findings_.size() > kMost) text += "\n(" + std::to_string(findings_.size() - kMost) + " more)";
  if (rc != 0 && kp_error_pending() != 0) {
    OwnedAny error;
    TakeError(error.out());
    text += "\n(then it raised " + ErrorText(error.get()) + ")";
  }
  return Raise("CheckError", text);
}

}  // namespace kernpack::host::check
