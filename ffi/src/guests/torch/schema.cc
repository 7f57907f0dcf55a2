// torch's schema of a kernel function.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <kernpack/host/signature.h>

#include "base/python_text.h"
#include "guests/torch/op.h"

namespace kernpack::torch {
namespace {

const char* const kTypes[] = {"Tensor", "SymInt", "float", "bool", "ScalarType", "Device", "str"};  // by KpParamKind

std::string FormatType(const Op::Param& param, int index) {
  std::string type = kTypes[param.kind];
  if (param.flags & KP_PARAM_MUTATED) type.append("(m").append(std::to_string(index)).append("!)");
  if (param.flags & KP_PARAM_LIST) type += "[]";
  if (param.flags & KP_PARAM_OPTIONAL) type += "?";
  return type;
}

std::string Quoted(const char* text) {
  std::string out = "\"";
  for (; *text; ++text) {
    if (*text == '"' || *text == '\\') out += '\\';
    out += *text;
  }
  return out + '"';
}

// torch passes an operator's arguments by name to functions of its own, which have parameters of these names (seen in 2.13:
// redirect_to_mode, FallbackKernel.create, ...; tests/python/torch/test_torch_names.py looks for more). `in_schema` in
// kernpack_torch/_binder.py says the same.
std::string InSchema(const char* name) {
  const std::string_view taken[] = {"_mutable_op",
                                    "_only_clone_these_bases",
                                    "_only_clone_these_tensors",
                                    "cls",
                                    "dispatch_key",
                                    "interpreter",
                                    "kernel",
                                    "keyset",
                                    "match",
                                    "mode",
                                    "node",
                                    "op",
                                    "requires_grad",
                                    "vmap_function"};
  const std::string_view whole = name;
  const std::string_view stem = whole.substr(0, whole.find_last_not_of('_') + 1);  // "mode" and "mode_" stay different
  return std::string(name) + (std::find(std::begin(taken), std::end(taken), stem) != std::end(taken) ? "_" : "");
}

// As torch's schema parser reads it; nothing for what it cannot read, which the callers then always give.
std::optional<std::string> Literal(const KpAny& value) {
  if (value.type_index == KP_TYPE_RAW_STR) return Quoted(value.v.v_c_str);
  if (value.type_index == KP_TYPE_FLOAT && !std::isfinite(value.v.v_float)) return std::nullopt;
  return host::PythonText(value);
}

std::optional<std::string> Default(const KpSigParam& param) {
  if (!(param.flags & KP_PARAM_HAS_DEFAULT)) return std::nullopt;
  if (param.list_default_size < 0) return Literal(param.default_value);
  std::string list = "[";
  for (int32_t i = 0; i < param.list_default_size; ++i) {
    const std::optional<std::string> item = Literal(param.list_default_items[i]);
    if (!item) return std::nullopt;
    list.append(i ? ", " : "").append(*item);
  }
  return list + "]";
}

// How many parameters may be passed by position. Up to the last tensor all may, also those that the signature wants by keyword:
// torch batches no operator with keyword-only tensors, and DTensor does not lay them out anew.
int NumPositional(const Op& op) {
  int count = kp_sig_num_positional(op.function->program);
  for (int i = count; i < static_cast<int>(op.params.size()); ++i) {
    if (op.params[static_cast<size_t>(i)].kind == KP_PARAM_TENSOR) count = i + 1;
  }
  return count;
}

std::string Parameters(const Op& op, bool out) {
  std::string text;
  const uint32_t* program = op.function->program;
  const int positional = NumPositional(op);
  const int count = static_cast<int>(op.params.size());
  const auto add = [&](const std::string& one) { text += (text.empty() ? "" : ", ") + one; };
  std::vector<KpSigParam> params(op.params.size());
  int required = 0;  // what stands before a positional parameter without a default has none either
  for (int i = 0; i < count; ++i) {
    kp_sig_param(program, i, &params[static_cast<size_t>(i)]);
    if (i < positional && !Default(params[static_cast<size_t>(i)])) required = i;
  }
  for (int i = 0; i < count; ++i) {
    const KpSigParam& param = params[static_cast<size_t>(i)];
    if (i == positional) add("*");
    const std::optional<std::string> value = i < required ? std::nullopt : Default(param);
    add(FormatType(op.params[static_cast<size_t>(i)], i) + " " + InSchema(param.name) + (value ? "=" + *value : ""));
  }
  if (!out) return text;
  if (positional == count) add("*");
  for (int i = 0; i < op.num_results; ++i) {
    KpSigResult result;
    kp_sig_result(program, i, &result);
    add("Tensor(r" + std::to_string(i) + "!) " + InSchema(result.name));
  }
  return text;
}

std::string Results(const Op& op, bool out) {
  if (out || op.num_results == 0) return "()";
  if (op.num_results == 1) return "Tensor";
  std::string text = "(Tensor";
  for (int i = 1; i < op.num_results; ++i) text += ", Tensor";
  return text + ")";
}

}  // namespace

std::string FormatSchema(const Op& op, const char* overload) {
  const bool out = std::string_view(overload) == "out";
  const std::string name = op.function->name + (*overload ? std::string(".") + overload : std::string());
  return name + "(" + Parameters(op, out) + ") -> " + Results(op, out);
}

}  // namespace kernpack::torch
