#include "guests/xla/static_call.h"

#include <kernpack/host/signature.h>

#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/fork.h"
#include "base/leaked.h"
#include "guests/xla/attributes.h"
#include "guests/xla/dtype.h"

namespace kernpack::xla {
namespace {

// Cuts the next name off a comma-separated list; false at its end.
bool NextName(std::string_view* list, std::string_view* name) {
  if (list->empty()) return false;
  const size_t end = list->find(',');
  *name = list->substr(0, end);
  *list = end == std::string_view::npos ? std::string_view() : list->substr(end + 1);
  return true;
}

bool Contains(std::string_view list, std::string_view wanted) {
  for (std::string_view name; NextName(&list, &name);) {
    if (name == wanted) return true;
  }
  return false;
}

// Appends the bytes of everything the attributes say: equal keys mean equal calls.
void AppendKey(const Attributes& attributes, std::string* key) {
  const auto append = [key](const void* data, size_t size) {
    key->append(reinterpret_cast<const char*>(&size), sizeof size).append(static_cast<const char*>(data), size);
  };
  append(&attributes.size, sizeof attributes.size);
  for (int64_t i = 0; i < attributes.size; ++i) {
    append(attributes.names[i]->data, attributes.names[i]->size);
    append(&attributes.types[i], sizeof attributes.types[i]);
    const void* value = attributes.values[i];
    if (attributes.types[i] == AttributeType::kString) {
      append(static_cast<const Span*>(value)->data, static_cast<const Span*>(value)->size);
    } else if (attributes.types[i] == AttributeType::kScalar) {
      const auto& scalar = *static_cast<const Scalar*>(value);
      append(&scalar.dtype, sizeof scalar.dtype);
      append(scalar.value, ByteSize(scalar.dtype));
    } else if (attributes.types[i] == AttributeType::kArray) {
      const auto& array = *static_cast<const Array*>(value);
      append(&array.dtype, sizeof array.dtype);
      append(array.data, array.size * ByteSize(array.dtype));
    } else if (attributes.types[i] == AttributeType::kDictionary) {
      AppendKey(*static_cast<const Attributes*>(value), key);
    }
  }
}

// The calls that some call site still uses. The lock guards their plans too; it is taken when programs are compiled and when a
// call site is executed for the first time.
struct Known {
  host::ForkMutex mutex{host::LockRank::kBindings};
  std::unordered_map<std::string, std::weak_ptr<StaticCall>> calls;
};

}  // namespace

StaticCall::~StaticCall() {
  for (Argument& argument : arguments) kp_any_release(&argument.constant);
}

int StaticCall::Find(const Attributes& attributes, std::shared_ptr<StaticCall>* out) {
  std::string key;
  AppendKey(attributes, &key);
  Known& known = host::Leaked<Known>();
  const std::lock_guard lock(known.mutex);
  const auto found = known.calls.find(key);
  if (found != known.calls.end() && (*out = found->second.lock())) return 0;
  std::erase_if(known.calls, [](const auto& entry) { return entry.second.expired(); });
  auto call = std::make_shared<StaticCall>();
  if (call->Decode(attributes)) return -1;
  known.calls.emplace(std::move(key), call);
  *out = std::move(call);
  return 0;
}

int StaticCall::FindPlan(const CallFrame& frame, KpDLDevice device, const Plan** out) {
  const std::lock_guard lock(host::Leaked<Known>().mutex);
  for (const Plan::Owned& plan : plans_) {
    *out = plan.get();
    if (Fits(*plan, frame, device)) return 0;
  }
  Plan::Owned made;
  if (MakePlan(frame, *this, device, &made)) return -1;
  *out = plans_.emplace_back(std::move(made)).get();
  return 0;
}

int StaticCall::Decode(const Attributes& attributes) {
  AttributeReader reader(attributes);
  std::string_view name;
  if (reader.String(kFunctionAttribute, true, &name)) return -1;
  if (kp_function_find({name.data(), name.size()}, &function)) return -1;
  reader.SetFunction(function->name);
  if (!function->program) {
    return kp_raise("TypeError", "%s: has no signature, which XLA needs to know its results; give KP_EXPORT one",
                    function->name);
  }

  std::string_view none;
  if (reader.String(kNoneAttribute, false, &none)) return -1;
  size_t absent = 0;
  const int32_t count = kp_sig_num_params(function->program);
  arguments.reserve(static_cast<size_t>(count));
  for (int32_t i = 0; i < count; ++i) {
    KpSigParam parameter;
    if (kp_sig_param(function->program, i, &parameter)) return -1;
    const bool is_none = Contains(none, parameter.name);
    if (is_none && !(parameter.flags & KP_PARAM_OPTIONAL)) {
      return kp_raise("TypeError", "%s: %s: must not be None", function->name, parameter.name);
    }
    absent += is_none;
    if (AddParameter(reader, i, is_none)) return -1;
  }
  for (std::string_view list = none; NextName(&list, &name);) {
    if (absent-- == 0) return kp_raise("TypeError", "%s: XLA attribute 'kp.none' names no parameter", function->name);
  }
  if (reader.RefuseUnread()) return -1;

  num_results = kp_sig_num_results(function->program);
  has_workspace = (kp_sig_props(function->program) & KP_PROP_WORKSPACE) != 0;
  return 0;
}

int StaticCall::AddParameter(AttributeReader& reader, int32_t index, bool is_none) {
  KpSigParam parameter;
  if (kp_sig_param(function->program, index, &parameter)) return -1;
  Argument& argument = arguments.emplace_back();
  if (is_none) return 0;
  if (parameter.kind != KP_PARAM_TENSOR) return reader.Value(parameter, &argument.constant);
  int64_t items = 1;
  argument.kind = Argument::kTensor;
  if (parameter.flags & KP_PARAM_LIST) {
    argument.kind = Argument::kTensorList;
    if (reader.ListSize(parameter, &items)) return -1;
  }
  argument.count = static_cast<int32_t>(items);
  argument.mutated = (parameter.flags & KP_PARAM_MUTATED) != 0;
  num_buffers += argument.count;
  if (argument.mutated) num_mutated += argument.count;
  return 0;
}

}  // namespace kernpack::xla
