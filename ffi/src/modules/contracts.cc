#include "modules/contracts.h"

#include <vector>

#include <kernpack/config.h>
#include <kernpack/host/host.h>

namespace kernpack::host {
namespace {

using signature::Batch;
using signature::DimOp;
using signature::DTypeForm;
using signature::GetFlags;
using signature::GetForm;
using signature::GetKind;

bool IsDifferentiable(KpDLDataType dtype) {
  return dtype.code == KP_DTYPE_FLOAT || dtype.code == KP_DTYPE_BFLOAT || dtype.code == KP_DTYPE_COMPLEX ||
         dtype.code > KP_DTYPE_BOOL;  // the eight-bit floats and smaller
}

// The dtypes that a tensor may have, or none: any, or not known before the call.
std::vector<uint32_t> DTypes(signature::View view, uint32_t dtype) {
  if (GetForm(dtype) == DTypeForm::kFixed) return {dtype & 0xffff};
  if (GetForm(dtype) != DTypeForm::kVar) return {};
  const uint32_t* set = view.DTypeSet(static_cast<int>(dtype & 0xffff));
  return {set + 1, set + 1 + (set[0] >> 16)};
}

bool TakesAnyRank(const uint32_t* shape) {
  return signature::GetBatch(shape) != Batch::kNone || signature::GetStar(shape) >= 0;
}

// True if a tensor of one op can be passed to the other op: ranks and constant dims agree. (All other dims are compared in a call.)
bool ShapesMeet(const uint32_t* a, const uint32_t* b) {
  const bool any_a = TakesAnyRank(a), any_b = TakesAnyRank(b);
  const uint32_t fixed_a = signature::GetNumDims(a) - (signature::GetStar(a) >= 0);
  const uint32_t fixed_b = signature::GetNumDims(b) - (signature::GetStar(b) >= 0);
  if (any_a && any_b) return true;
  if (any_a || any_b) return any_a ? fixed_a <= fixed_b : fixed_b <= fixed_a;
  if (fixed_a != fixed_b) return false;
  for (uint32_t i = 0; i < fixed_a; ++i) {
    const uint32_t x = signature::GetDims(a)[i], y = signature::GetDims(b)[i];
    const bool constant = signature::GetDimOp(x) == DimOp::kConst && signature::GetDimOp(y) == DimOp::kConst;
    if (constant && x != y) return false;
  }
  return true;
}

bool DTypesMeet(signature::View a, uint32_t dtype_a, signature::View b, uint32_t dtype_b) {
  const std::vector<uint32_t> all = DTypes(a, dtype_a), others = DTypes(b, dtype_b);
  if (all.empty() || others.empty()) return true;
  for (const uint32_t one : all) {
    for (const uint32_t other : others) {
      if (one == other) return true;
    }
  }
  return false;
}

// The property in which two tensors (records of parameters or results) can never agree: "shape" or "dtype"; NULL if they can agree.
const char* TensorsPart(signature::View a, const uint32_t* record_a, signature::View b, const uint32_t* record_b) {
  if (!ShapesMeet(a.words + record_a[2], b.words + record_b[2])) return "shape";
  return DTypesMeet(a, record_a[1], b, record_b[1]) ? nullptr : "dtype";
}

std::string Joined(int count, const char* prefix, const auto& name) {
  std::string text;
  for (int i = 0; i < count; ++i) text.append(text.empty() ? "" : ", ").append(prefix).append(name(i));
  return text;
}

}  // namespace

int FindParam(signature::View view, std::string_view name) {
  for (int i = 0; i < view.NumParams(); ++i) {
    if (name == view.ParamName(i)) return i;
  }
  return kNotThere;
}

int FindResult(signature::View view, std::string_view name) {
  for (int i = 0; i < view.NumResults(); ++i) {
    if (name == view.ResultName(i)) return i;
  }
  return kNotThere;
}

std::string_view WithoutPrefix(std::string_view name, std::string_view prefix) {
  return name.starts_with(prefix) ? name.substr(prefix.size()) : std::string_view();
}

bool MayHaveGradient(signature::View view, const uint32_t* record) {
  const std::vector<uint32_t> dtypes = DTypes(view, record[1]);
  if (dtypes.empty()) return true;
  for (const uint32_t dtype : dtypes) {
    if (IsDifferentiable(signature::UnpackDType(dtype))) return true;
  }
  return false;
}

bool MayHaveGradient(signature::View view, int param) {
  const uint32_t* record = view.Param(param);
  if (GetKind(record) != KP_PARAM_TENSOR || (GetFlags(record) & KP_PARAM_MUTATED)) return false;
  return MayHaveGradient(view, record);
}

bool IsNondiff(signature::View view, int param) {
  const uint32_t at = view.words[signature::kHeadNondiff];
  for (uint32_t i = 0; at != 0 && i < view.words[at]; ++i) {
    if (view.words[at + 1 + i] == static_cast<uint32_t>(param)) return true;
  }
  return false;
}

bool IsTensorList(signature::View view, int param) {
  return GetKind(view.Param(param)) == KP_PARAM_TENSOR && (GetFlags(view.Param(param)) & KP_PARAM_LIST);
}

int RefuseSwapped(const char* macro, const char* kind, const Contract& first, const Contract& second) {
  return kp_raise(
      "ValueError", "%s(%s, %s): expected the forward op first, but %s gives %s, a %s of %s; write %s(%s, %s)", macro,
      first.name, second.name, first.name, first.view.ResultName(0), kind, second.name, macro, second.name, first.name);
}

int Pairing::SavedParameter(int index, int param, bool is_there) const {
  const uint32_t *mine = derived_.view.Param(index), *theirs = forward_.view.Param(param);
  const uint32_t flags = GetFlags(theirs), own_flags = GetFlags(mine);
  if (flags & KP_PARAM_MUTATED) {
    return kp_raise("ValueError", "%s: %s: %s: %s writes to it, so that it cannot be saved for %s", macro_,
                    derived_.name, derived_.view.ParamName(index), forward_.name, derived_.name);
  }
  if (GetKind(mine) != GetKind(theirs) || ((flags ^ own_flags) & KP_PARAM_LIST)) return Differs(index, "kind");
  if ((flags & KP_PARAM_OPTIONAL) && !(own_flags & KP_PARAM_OPTIONAL) && !is_there) {
    return kp_raise("ValueError", "%s: %s: %s: may be None in %s; expected it to be optional (?) here too", macro_,
                    derived_.name, derived_.view.ParamName(index), forward_.name);
  }
  return GetKind(mine) == KP_PARAM_TENSOR ? Tensor(index, theirs, "the parameter of that name") : 0;
}

int Pairing::Tensor(int index, const uint32_t* theirs, const char* which) const {
  const uint32_t* mine = derived_.view.Param(index);
  if (GetKind(mine) != KP_PARAM_TENSOR) return Differs(index, "kind");
  const char* part = TensorsPart(derived_.view, mine, forward_.view, theirs);
  if (part == nullptr) return 0;
  return kp_raise("ValueError", "%s: %s: %s: its %s is incompatible with %s's, %s", macro_, derived_.name,
                  derived_.view.ParamName(index), part, forward_.name, which);
}

int Pairing::Differs(int index, const char* what) const {
  return kp_raise("ValueError", "%s: %s: %s: its %s differs from that in %s", macro_, derived_.name,
                  derived_.view.ParamName(index), what, forward_.name);
}

const char* Pairing::ResultParts(int index, const uint32_t* theirs) const {
  return TensorsPart(derived_.view, derived_.view.Result(index), forward_.view, theirs);
}

std::string Pairing::Names() const {
  const std::string params = Params(""), results = Results("");
  return params + (params.empty() || results.empty() ? "" : ", ") + results;
}

std::string Pairing::Params(const char* prefix) const {
  return Joined(forward_.view.NumParams(), prefix, [this](int i) { return forward_.view.ParamName(i); });
}

std::string Pairing::Results(const char* prefix) const {
  return Joined(forward_.view.NumResults(), prefix, [this](int i) { return forward_.view.ResultName(i); });
}

}  // namespace kernpack::host
