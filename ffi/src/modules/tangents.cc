#include <string>
#include <string_view>

#include <kernpack/config.h>
#include <kernpack/host/host.h>

#include "modules/gradients.h"
#include "modules/trial.h"

namespace kernpack::host {
namespace {

using signature::GetFlags;

bool GivesTangentsOf(signature::View forward, signature::View tangent) {
  bool all = tangent.NumResults() > 0;
  for (int i = 0; i < tangent.NumResults(); ++i) {
    all = all && FindResult(forward, WithoutPrefix(tangent.ResultName(i), "t_")) != kNotThere;
  }
  return all;
}

// KP_JVP(tangent, forward).
bool HasSwappedOps(const Contract& first, const Contract& second) {
  bool takes_tangent = false;
  for (int i = 0; i < first.view.NumParams(); ++i) {
    takes_tangent |= FindParam(second.view, WithoutPrefix(first.view.ParamName(i), "t_")) != kNotThere;
  }
  return takes_tangent && GivesTangentsOf(second.view, first.view) && !GivesTangentsOf(first.view, second.view);
}

class TangentCheck {
 public:
  TangentCheck(const Contract& forward, const Contract& tangent)
      : forward_(forward), tangent_(tangent), f_(forward.view), t_(tangent.view), pair_("KP_JVP", forward, tangent) {}

  int Run() const {
    for (int i = 0; i < f_.NumParams(); ++i) {
      if (NotWritten(i) != 0) return -1;
    }
    for (int i = 0; i < t_.NumParams(); ++i) {
      if (Parameter(i) != 0) return -1;
    }
    for (int i = 0; i < t_.NumResults(); ++i) {
      if (Result(i) != 0) return -1;
    }
    for (int i = 0; i < f_.NumParams(); ++i) {
      if (IsTaken(i) != 0) return -1;
    }
    for (int i = 0; i < f_.NumResults(); ++i) {
      if (IsGiven(i) != 0) return -1;
    }
    return TryCalls(Calls());
  }

 private:
  Derivation Calls() const {
    Derivation calls{"KP_JVP", forward_, tangent_, {}, {}};
    for (int i = 0; i < t_.NumParams(); ++i) calls.sources.push_back(FindSource(t_.ParamName(i)));
    for (int i = 0; i < t_.NumResults(); ++i) {
      calls.targets.push_back({Origin::kResult, FindResult(f_, WithoutPrefix(t_.ResultName(i), "t_"))});
    }
    return calls;
  }

  // A tangent has the shape and dtype of its parameter.
  Source FindSource(std::string_view name) const {
    if (const int param = FindParam(f_, name); param != kNotThere) return {Origin::kParam, param};
    if (const int result = FindResult(f_, name); result != kNotThere) return {Origin::kResult, result};
    const int param = FindParam(f_, WithoutPrefix(name, "t_"));
    return param != kNotThere ? Source{Origin::kParam, param} : Source{};
  }

  int NotWritten(int param) const {
    if (!(GetFlags(f_.Param(param)) & KP_PARAM_MUTATED)) return 0;
    return kp_raise("ValueError",
                    "KP_JVP: %s: %s is written in place, and a tangent op cannot follow that; give %s a result instead",
                    forward_.name, f_.ParamName(param), forward_.name);
  }

  int Parameter(int index) const {
    const std::string_view name = t_.ParamName(index);
    if (const int param = FindParam(f_, name); param != kNotThere) return pair_.SavedParameter(index, param);
    if (const int result = FindResult(f_, name); result != kNotThere) {
      return pair_.Tensor(index, f_.Result(result), "the result of that name");
    }
    if (const int param = FindParam(f_, WithoutPrefix(name, "t_")); param != kNotThere) return Tangent(index, param);
    if (GetFlags(t_.Param(index)) & KP_PARAM_HAS_DEFAULT) return 0;
    return kp_raise(
        "ValueError", "KP_JVP: %s: %s: expected the name of a parameter or result of %s (%s) or of a tangent (%s)",
        tangent_.name, t_.ParamName(index), forward_.name, pair_.Names().c_str(), pair_.Params("t_").c_str());
  }

  // A tangent is absent where its parameter is None, or is left out of a list that its parameter isn't.
  int Tangent(int index, int param) const {
    const uint32_t *mine = t_.Param(index), *theirs = f_.Param(param);
    if (!MayHaveGradient(f_, param)) {
      return kp_raise("ValueError", "KP_JVP: %s: %s: %s of %s isn't a tensor that can have a tangent", tangent_.name,
                      t_.ParamName(index), f_.ParamName(param), forward_.name);
    }
    if ((GetFlags(mine) ^ GetFlags(theirs)) & KP_PARAM_LIST) return pair_.Differs(index, "kind");
    if ((GetFlags(theirs) & KP_PARAM_OPTIONAL) && !(GetFlags(mine) & KP_PARAM_OPTIONAL)) {
      return kp_raise("ValueError", "KP_JVP: %s: %s: %s may be None in %s; expected its tangent to be optional (?) too",
                      tangent_.name, t_.ParamName(index), f_.ParamName(param), forward_.name);
    }
    return pair_.Tensor(index, theirs, "the parameter that it is the tangent of");
  }

  int Result(int index) const {
    const char* name = t_.ResultName(index);
    const int result = FindResult(f_, WithoutPrefix(name, "t_"));
    if (result == kNotThere || !MayHaveGradient(f_, f_.Result(result))) {
      return kp_raise("ValueError", "KP_JVP: %s: result %s: expected the tangent of a floating-point result of %s (%s)",
                      tangent_.name, name, forward_.name, pair_.Results("t_").c_str());
    }
    const char* part = pair_.ResultParts(index, f_.Result(result));
    if (part == nullptr) return 0;
    return kp_raise("ValueError", "KP_JVP: %s: result %s: its %s is incompatible with that of %s in %s", tangent_.name,
                    name, part, f_.ResultName(result), forward_.name);
  }

  int IsTaken(int param) const {
    if (!MayHaveGradient(f_, param) || IsNondiff(f_, param)) return 0;
    const char* name = f_.ParamName(param);
    if (FindParam(t_, std::string("t_") + name) != kNotThere) return 0;
    return kp_raise(
        "ValueError",
        "KP_JVP: %s: expected a parameter t_%s, the tangent of %s's %s; add it, or write `with nondiff(%s)` "
        "in the signature of %s if it has no derivative on purpose",
        tangent_.name, name, forward_.name, name, name, forward_.name);
  }

  // A result that callers never see needs no tangent.
  int IsGiven(int result) const {
    if (!MayHaveGradient(f_, f_.Result(result)) || (GetFlags(f_.Result(result)) & KP_RESULT_AUX)) return 0;
    const char* name = f_.ResultName(result);
    if (FindResult(t_, std::string("t_") + name) != kNotThere) return 0;
    return kp_raise("ValueError", "KP_JVP: %s: expected a result t_%s, the tangent of %s's result %s", tangent_.name,
                    name, forward_.name, name);
  }

  const Contract& forward_;
  const Contract& tangent_;
  signature::View f_, t_;
  Pairing pair_;
};

}  // namespace

int CheckTangents(const Contract& forward, const Contract& tangent) {
  if (HasSwappedOps(forward, tangent)) return RefuseSwapped("KP_JVP", "tangent", forward, tangent);
  return TangentCheck(forward, tangent).Run();
}

}  // namespace kernpack::host
