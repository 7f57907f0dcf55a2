// A contract as JSON, for bindings that evaluate it with symbolic dims (docs/signature.md has the form).
#include <kernpack/dtype.h>

#include <nlohmann/json.hpp>

#include "shared/bytes.h"
#include "base/guard.h"
#include "values/signature/render.h"
#include "values/signature/signature.h"

namespace kernpack::host {
namespace {

using Json = nlohmann::ordered_json;
using signature::Batch;
using signature::DTypeForm;

std::string DTypeText(uint32_t packed) { return kp_dtype_name(signature::UnpackDType(packed)); }

Json DTypeJson(signature::View p, uint32_t dtype) {
  const int index = static_cast<int>(dtype & 0xff);
  switch (signature::GetForm(dtype)) {
    case DTypeForm::kFixed:
      return {{"fixed", DTypeText(dtype)}};
    case DTypeForm::kVar:
      return {{"var", p.Text(*p.DTypeSet(index))}};
    case DTypeForm::kParam:
      return {{"param", p.ParamName(index)}};
    case DTypeForm::kRealOf:
      return {{"real", p.Text(*p.DTypeSet(index))}};
    default:
      return {{"complex", p.Text(*p.DTypeSet(index))}};
  }
}

void AddShape(signature::View p, const uint32_t* shape, Json* out) {
  Json terms = Json::array();
  for (uint32_t i = 0; i < signature::GetNumDims(shape); ++i)
    terms.push_back(RenderDim(p, signature::GetDims(shape)[i]));
  (*out)["shape"] = std::move(terms);
  (*out)["shape_text"] = p.Text(shape[1]);
  const Batch batch = signature::GetBatch(shape);
  (*out)["batch"] = batch == Batch::kSame ? Json("...") : batch == Batch::kBroadcast ? Json("~...") : Json(nullptr);
}

// Infinities and NaN, which JSON lacks, are the strings "inf", "-inf" and "nan".
Json ValueJson(const KpAny& a) {
  switch (a.type_index) {
    case KP_TYPE_INT:
      return a.v.v_int;
    case KP_TYPE_BOOL:
      return a.v.v_int != 0;
    case KP_TYPE_FLOAT:
      if (a.v.v_float != a.v.v_float) return "nan";
      if (a.v.v_float - a.v.v_float != 0) return a.v.v_float < 0 ? "-inf" : "inf";
      return a.v.v_float;
    case KP_TYPE_DTYPE:
      return kp_dtype_name(a.v.v_dtype);
    case KP_TYPE_RAW_STR:
      return a.v.v_c_str;
    default:
      return nullptr;
  }
}

Json ParamJson(signature::View p, int index) {
  KpSigParam param;
  kp_sig_param(p.words, index, &param);
  const uint32_t* record = p.Param(index);
  const auto flag = [&](uint32_t bit) { return (param.flags & bit) != 0; };
  Json out{{"name", param.name}, {"kind", signature::kKindNames[param.kind]}};
  if (param.kind == KP_PARAM_TENSOR) {
    out["dtype"] = DTypeJson(p, record[1]);
    AddShape(p, p.words + record[2], &out);
  }
  out["strided"] = flag(KP_PARAM_STRIDED);
  out["compact"] = flag(KP_PARAM_COMPACT);
  out["cpu"] = flag(KP_PARAM_ON_CPU);
  out["optional"] = flag(KP_PARAM_OPTIONAL);
  out["list"] = flag(KP_PARAM_LIST);
  out["keyword_only"] = flag(KP_PARAM_KEYWORD_ONLY);
  out["mutated"] = flag(KP_PARAM_MUTATED);
  out["has_default"] = flag(KP_PARAM_HAS_DEFAULT);
  out["default"] = ValueJson(param.default_value);
  if (param.list_default_size >= 0) {
    out["default"] = Json::array();
    for (int32_t i = 0; i < param.list_default_size; ++i)
      out["default"].push_back(ValueJson(param.list_default_items[i]));
  }
  if (param.kind == KP_PARAM_STR && record[2]) {
    const uint32_t* choices = p.words + record[2];
    out["choices"] = Json::array();
    for (uint32_t i = 0; i < *choices; ++i) out["choices"].push_back(p.Text(choices[1 + i]));
  }
  return out;
}

Json ResultJson(signature::View p, int index) {
  const uint32_t* record = p.Result(index);
  Json out{{"name", p.ResultName(index)}, {"dtype", DTypeJson(p, record[1])}};
  AddShape(p, p.words + record[2], &out);
  out["sum"] = (signature::GetFlags(record) & KP_RESULT_SUM) != 0;
  out["aux"] = (signature::GetFlags(record) & KP_RESULT_AUX) != 0;
  return out;
}

Json PropsJson(signature::View p) {
  const uint32_t props = p.Props();
  Json out{{"quick", (props & KP_PROP_QUICK) != 0},
           {"graph_safe", (props & KP_PROP_GRAPH_SAFE) != 0},
           {"deterministic", (props & KP_PROP_DETERMINISTIC) != 0}};
  out["on"] = p.OnDeviceType() ? Json(p.OnDeviceName()) : Json(nullptr);
  out["independent"] = Json::array();
  out["invariant"] = Json::array();
  out["nondiff"] = Json::array();
  if (const uint32_t at = p.words[signature::kHeadIndependent]) {
    for (uint32_t i = 0; i < p.words[at]; ++i) out["independent"].push_back(p.DimName(p.words[at + 1 + i]));
  }
  if (props & KP_PROP_INVARIANT_BATCH) out["invariant"].push_back("...");
  for (int i = 0; i < p.NumDims(); ++i) {
    if (p.InvariantDims() >> i & 1) out["invariant"].push_back(p.DimName(static_cast<uint32_t>(i)));
  }
  if (const uint32_t at = p.words[signature::kHeadNondiff]) {
    for (uint32_t i = 0; i < p.words[at]; ++i) {
      out["nondiff"].push_back(p.ParamName(static_cast<int>(p.words[at + 1 + i])));
    }
  }
  return out;
}

Json SignatureJson(signature::View p) {
  Json out{{"name", *p.Name() ? Json(p.Name()) : Json(nullptr)}};
  out["params"] = Json::array();
  for (int i = 0; i < p.NumParams(); ++i) out["params"].push_back(ParamJson(p, i));
  out["results"] = Json::array();
  for (int i = 0; i < p.NumResults(); ++i) out["results"].push_back(ResultJson(p, i));
  out["dims"] = Json::array();
  for (int i = 0; i < p.NumDims(); ++i) out["dims"].push_back(p.DimName(static_cast<uint32_t>(i)));
  out["dtype_vars"] = Json::object();
  for (int i = 0; i < p.NumDTypes(); ++i) {
    const uint32_t* set = p.DTypeSet(i);
    Json names = "any";
    if (*set >> 16) names = Json::array();
    for (uint32_t j = 1; j <= *set >> 16; ++j) names.push_back(DTypeText(set[j]));
    out["dtype_vars"][p.Text(*set)] = std::move(names);
  }
  out["where"] = Json::array();
  out["where_text"] = Json::array();
  for (int i = 0; i < p.NumConditions(); ++i) {
    out["where"].push_back(RenderCondition(p, p.Condition(i)));
    out["where_text"].push_back(p.Text(*p.Condition(i)));
  }
  out["props"] = PropsJson(p);
  out["workspace"] = out["workspace_text"] = nullptr;
  if (p.HasWorkspace()) {
    const uint32_t* record = p.words + p.words[signature::kHeadWorkspace];
    const uint32_t* code = record + 1;
    out["workspace"] = RenderExpression(p, &code);
    out["workspace_text"] = p.Text(*record);
  }
  return out;
}

}  // namespace
}  // namespace kernpack::host

int kp_signature_json(const KpSignature* signature, KpAny* out) {
  using namespace kernpack::host;
  return Guard("kp_signature_json", [&] {
    const std::string text = SignatureJson(kernpack::signature::View{signature->program.data()})
                                 .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return kp_string_new(Bytes(text), out);
  });
}
