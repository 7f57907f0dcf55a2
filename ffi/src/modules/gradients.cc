#include "modules/gradients.h"

#include <string>
#include <string_view>

#include <kernpack/config.h>
#include <kernpack/host/host.h>

#include "modules/trial.h"

namespace kernpack::host {
namespace {

using signature::GetFlags;
using signature::GetKind;

// The parameter whose gradient a backward op's result is by its name: d_<parameter>; d_<parameter>_ where the backward op has a
// parameter d_<parameter>, as it has where `forward` takes a result of another op and the gradient that arrives for it.
int Target(signature::View forward, std::string_view result) {
  std::string_view name = WithoutPrefix(result, "d_");
  const int param = FindParam(forward, name);
  if (param != kNotThere || name.empty() || name.back() != '_') return param;
  name.remove_suffix(1);
  return FindParam(forward, name);
}

// True for a tensor that could have a gradient if it weren't written in place.
bool IsWrittenFloat(signature::View view, int param) {
  const uint32_t* record = view.Param(param);
  return GetKind(record) == KP_PARAM_TENSOR && (GetFlags(record) & KP_PARAM_MUTATED) && MayHaveGradient(view, record);
}

int NoGradientOfWritten(const Contract& forward, int param) {
  const char* name = forward.view.ParamName(param);
  return kp_raise(
      "ValueError",
      "KP_GRAD: %s: %s is written in place (%s!), and no gradient goes through that; take it as an input and "
      "give what it becomes as a result, or write `with nondiff(%s)` in the signature if it has no gradient "
      "on purpose (docs/patterns.md)",
      forward.name, name, name, name);
}

bool GivesGradientsOf(signature::View forward, signature::View backward) {
  bool all = backward.NumResults() > 0;
  for (int i = 0; i < backward.NumResults(); ++i) all = all && Target(forward, backward.ResultName(i)) != kNotThere;
  return all;
}

// KP_GRAD(backward, forward).
bool AreSwapped(const Contract& first, const Contract& second) {
  bool takes_gradient = false;
  for (int i = 0; i < first.view.NumParams(); ++i) {
    takes_gradient |= FindResult(second.view, WithoutPrefix(first.view.ParamName(i), "d_")) != kNotThere;
  }
  return takes_gradient && GivesGradientsOf(second.view, first.view) && !GivesGradientsOf(first.view, second.view);
}

class Check {
 public:
  Check(const Contract& forward, const Contract& backward)
      : forward_(forward),
        backward_(backward),
        f_(forward.view),
        b_(backward.view),
        pair_("KP_GRAD", forward_, backward_) {}

  int Run() const {
    for (int i = 0; i < b_.NumParams(); ++i) {
      if (Parameter(i) != 0) return -1;
    }
    for (int i = 0; i < b_.NumResults(); ++i) {
      if (Result(i) != 0) return -1;
    }
    return 0;
  }

  // How the backward op is called, once Run has returned 0.
  Derivation Calls() const {
    Derivation calls{"KP_GRAD", forward_, backward_, {}, {}};
    for (int i = 0; i < b_.NumParams(); ++i) calls.sources.push_back(FindSource(b_.ParamName(i)));
    for (int i = 0; i < b_.NumResults(); ++i) {
      calls.targets.push_back({Origin::kParam, Target(f_, b_.ResultName(i))});
    }
    return calls;
  }

 private:
  Source FindSource(std::string_view name) const {
    if (const int param = FindParam(f_, name); param != kNotThere) return {Origin::kParam, param};
    if (const int result = FindResult(f_, name); result != kNotThere) return {Origin::kResult, result};
    if (const int result = FindResult(f_, WithoutPrefix(name, "d_")); result != kNotThere) {
      return {Origin::kResult, result};  // its gradient has its shape and dtype
    }
    if (const int list = FindItem(name, "_item"); list != kNotThere) return {Origin::kItem, list};
    if (FindItem(name, "_index") != kNotThere) return {Origin::kItemIndex, 0};
    if (const int param = ShapeOwner(name); param != kNotThere) return {Origin::kShape, param};
    return {};
  }

  int Parameter(int index) const {
    const std::string_view name = b_.ParamName(index);
    if (const int param = FindParam(f_, name); param != kNotThere) {
      return pair_.SavedParameter(index, param, IsOnlyTarget(param));
    }
    if (const int result = FindResult(f_, name); result != kNotThere) {
      if (FindParam(f_, WithoutPrefix(name, "d_")) != kNotThere) return Ambiguous(name);
      return pair_.Tensor(index, f_.Result(result), "the result of that name");
    }
    if (const int result = FindResult(f_, WithoutPrefix(name, "d_")); result != kNotThere) {
      return pair_.Tensor(index, f_.Result(result), "the result that it is the gradient of");
    }
    if (const int list = FindItem(name, "_item"); list != kNotThere) {
      return pair_.Tensor(index, f_.Param(list), "the items of that list");
    }
    if (FindItem(name, "_index") != kNotThere) return GetKind(b_.Param(index)) == KP_PARAM_INT ? 0 : NotAnIndex(index);
    if (const int param = ShapeOwner(name); param != kNotThere) return Shape(index, param);
    if (GetFlags(b_.Param(index)) & KP_PARAM_HAS_DEFAULT) return 0;
    const int written = FindParam(f_, WithoutPrefix(name, "d_"));
    if (written != kNotThere && IsWrittenFloat(f_, written)) return NoGradientOfWritten(forward_, written);
    return kp_raise(
        "ValueError", "KP_GRAD: %s: %s: expected the name of a parameter or result of %s (%s) or of a gradient (%s)",
        backward_.name, b_.ParamName(index), forward_.name, pair_.Names().c_str(), pair_.Results("d_").c_str());
  }

  // True if this parameter's gradient is the only result of the op: the op then runs only if the parameter is given.
  bool IsOnlyTarget(int param) const { return b_.NumResults() == 1 && Target(f_, b_.ResultName(0)) == param; }

  // The forward's list of tensors that "<list><ending>" belongs to, if this op gives the gradient of its items.
  int FindItem(std::string_view name, std::string_view ending) const {
    if (name.size() <= ending.size() || name.substr(name.size() - ending.size()) != ending) return kNotThere;
    const int list = FindParam(f_, name.substr(0, name.size() - ending.size()));
    if (list == kNotThere || !IsTensorList(f_, list)) return kNotThere;
    return FindResult(b_, std::string("d_") + f_.ParamName(list)) == kNotThere ? kNotThere : list;
  }

  // The forward's tensor that "<parameter>_shape" belongs to.
  int ShapeOwner(std::string_view name) const {
    constexpr std::string_view kEnding = "_shape";
    if (!name.ends_with(kEnding)) return kNotThere;
    const int param = FindParam(f_, name.substr(0, name.size() - kEnding.size()));
    if (param == kNotThere || GetKind(f_.Param(param)) != KP_PARAM_TENSOR || IsTensorList(f_, param)) return kNotThere;
    return param;
  }

  int Shape(int index, int param) const {
    const uint32_t* mine = b_.Param(index);
    if (GetKind(mine) != KP_PARAM_INT || !(GetFlags(mine) & KP_PARAM_LIST)) {
      return kp_raise("ValueError", "KP_GRAD: %s: %s: is the shape of %s; expected a list[int]", backward_.name,
                      b_.ParamName(index), f_.ParamName(param));
    }
    if (!(GetFlags(f_.Param(param)) & KP_PARAM_OPTIONAL) || IsOnlyTarget(param)) return 0;
    return kp_raise("ValueError",
                    "KP_GRAD: %s: %s: %s may be None in %s and has no shape then; take %s itself, optional (?)",
                    backward_.name, b_.ParamName(index), f_.ParamName(param), forward_.name, f_.ParamName(param));
  }

  int NotAnIndex(int index) const {
    return kp_raise("ValueError", "KP_GRAD: %s: %s: is the number of an item; expected an int", backward_.name,
                    b_.ParamName(index));
  }

  int Ambiguous(std::string_view name) const {
    return kp_raise("ValueError",
                    "KP_GRAD: %s: %s: could be the result of %s or the gradient of its parameter; rename the result",
                    backward_.name, std::string(name).c_str(), forward_.name);
  }

  int Result(int index) const {
    const char* name = b_.ResultName(index);
    const int param = Target(f_, name);
    if (param == kNotThere) {
      return kp_raise("ValueError", "KP_GRAD: %s: result %s: expected the gradient of a parameter of %s (%s)",
                      backward_.name, name, forward_.name, pair_.Params("d_").c_str());
    }
    const uint32_t* target = f_.Param(param);
    if (IsWrittenFloat(f_, param)) return NoGradientOfWritten(forward_, param);
    if (GetKind(target) != KP_PARAM_TENSOR || (GetFlags(target) & KP_PARAM_MUTATED)) {
      return kp_raise("ValueError", "KP_GRAD: %s: result %s: %s of %s isn't a tensor that can have a gradient",
                      backward_.name, name, f_.ParamName(param), forward_.name);
    }
    if (IsTensorList(f_, param) && b_.NumResults() > 1) {
      return kp_raise("ValueError",
                      "KP_GRAD: %s: result %s: %s of %s is a list, and %s runs once for each of its items; expected no "
                      "other result, move the others to a backward op of their own",
                      backward_.name, name, f_.ParamName(param), forward_.name, backward_.name);
    }
    const char* part = pair_.ResultParts(index, target);
    if (part == nullptr) return 0;
    return kp_raise("ValueError", "KP_GRAD: %s: result %s: its %s is incompatible with that of %s in %s",
                    backward_.name, name, part, f_.ParamName(param), forward_.name);
  }

  const Contract& forward_;
  const Contract& backward_;
  signature::View f_, b_;
  Pairing pair_;
};

}  // namespace

int CheckGradient(const Contract& forward, const std::vector<Contract>& backwards) {
  std::vector<const char*> givers(static_cast<size_t>(forward.view.NumParams()));
  for (const Contract& backward : backwards) {
    if (AreSwapped(forward, backward)) return RefuseSwapped("KP_GRAD", "gradient", forward, backward);
    if (Check(forward, backward).Run() != 0) return -1;
    for (int i = 0; i < backward.view.NumResults(); ++i) {
      const int param = Target(forward.view, backward.view.ResultName(i));
      const char*& giver = givers[static_cast<size_t>(param)];
      if (giver != nullptr) {
        return kp_raise("ValueError", "KP_GRAD: %s: %s and %s both give d_%s; expected one of them", forward.name,
                        giver, backward.name, forward.view.ParamName(param));
      }
      giver = backward.name;
    }
  }
  for (int i = 0; i < forward.view.NumParams(); ++i) {
    if (IsWrittenFloat(forward.view, i) && !IsNondiff(forward.view, i)) return NoGradientOfWritten(forward, i);
    if (givers[static_cast<size_t>(i)] || IsNondiff(forward.view, i) || !MayHaveGradient(forward.view, i)) continue;
    const char* name = forward.view.ParamName(i);
    return kp_raise(
        "ValueError",
        "KP_GRAD: %s: no backward op gives d_%s; add it to one, or write `with nondiff(%s)` in the signature "
        "if it has no gradient on purpose",
        forward.name, name, name);
  }
  if (forward.view.NumResults() == 0) {
    return kp_raise("ValueError", "KP_GRAD: %s: has no result, so that no gradient ever arrives for %s; give it one",
                    forward.name, backwards.front().name);
  }
  for (const Contract& backward : backwards) {
    if (TryCalls(Check(forward, backward).Calls()) != 0) return -1;
  }
  return 0;
}

}  // namespace kernpack::host
