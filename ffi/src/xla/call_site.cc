#include "xla/call_site.h"

#include <kernpack/host/signature.h>

#include <string_view>

#include "xla/attributes.h"

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

}  // namespace

CallSite::~CallSite() {
  for (Argument& argument : arguments) kp_any_release(&argument.constant);
}

int CallSite::Make(const Attributes& attributes, std::unique_ptr<CallSite>* out) {
  auto site = std::make_unique<CallSite>();
  AttributeReader reader(attributes);
  std::string_view name;
  if (reader.String(kFunctionAttribute, true, &name)) return -1;
  if (kp_function_find({name.data(), name.size()}, &site->function)) return -1;
  const KpLoadedFunction& function = *site->function;
  reader.SetFunction(function.name);
  if (!function.program) {
    return kp_raise("TypeError", "%s: has no signature, which XLA needs to know its results; give KP_EXPORT one",
                    function.name);
  }

  std::string_view none;
  if (reader.String(kNoneAttribute, false, &none)) return -1;
  size_t absent = 0;
  const int32_t count = kp_sig_num_params(function.program);
  site->arguments.reserve(static_cast<size_t>(count));
  for (int32_t i = 0; i < count; ++i) {
    KpSigParam parameter;
    if (kp_sig_param(function.program, i, &parameter)) return -1;
    const bool is_none = Contains(none, parameter.name);
    if (is_none && !(parameter.flags & KP_PARAM_OPTIONAL)) {
      return kp_raise("TypeError", "%s: %s: must not be None", function.name, parameter.name);
    }
    absent += is_none;
    if (site->AddParameter(reader, i, is_none)) return -1;
  }
  for (std::string_view list = none; NextName(&list, &name);) {
    if (absent-- == 0) return kp_raise("TypeError", "%s: XLA attribute 'kp.none' names no parameter", function.name);
  }
  if (reader.RefuseUnread()) return -1;

  site->num_results = kp_sig_num_results(function.program);
  site->has_workspace = (kp_sig_props(function.program) & KP_PROP_WORKSPACE) != 0;
  *out = std::move(site);
  return 0;
}

int CallSite::AddParameter(AttributeReader& reader, int32_t index, bool is_none) {
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
    ++num_lists;
  }
  argument.count = static_cast<int32_t>(items);
  argument.mutated = (parameter.flags & KP_PARAM_MUTATED) != 0;
  num_buffers += argument.count;
  if (argument.mutated) num_mutated += argument.count;
  return 0;
}

}  // namespace kernpack::xla
