#include "module/gradients.h"

#include <cstring>
#include <string>

#include <kernpack/host/host.h>

namespace kernpack::host {
namespace {

using signature::Batch;
using signature::DimOp;
using signature::DTypeForm;
using signature::FlagsOf;
using signature::FormOf;
using signature::KindOf;
using signature::View;

constexpr int kNotThere = -1;

int FindParam(View view, std::string_view name) {
  for (int i = 0; i < view.NumParams(); ++i) {
    if (name == view.ParamName(i)) return i;
  }
  return kNotThere;
}

int FindResult(View view, std::string_view name) {
  for (int i = 0; i < view.NumResults(); ++i) {
    if (name == view.ResultName(i)) return i;
  }
  return kNotThere;
}

// What a "d_..." name is the gradient of; empty for another name.
std::string_view Undifferentiated(std::string_view name) {
  return name.substr(0, 2) == "d_" ? name.substr(2) : std::string_view();
}

bool IsDifferentiable(KpDLDataType dtype) {
  return dtype.code == KP_DTYPE_FLOAT || dtype.code == KP_DTYPE_BFLOAT || dtype.code == KP_DTYPE_COMPLEX ||
         dtype.code > KP_DTYPE_BOOL;  // the eight-bit floats and smaller
}

// The dtypes that a tensor may have, or none: any, or not known before the call.
std::vector<uint32_t> DTypes(View view, uint32_t dtype) {
  if (FormOf(dtype) == DTypeForm::kFixed) return {dtype & 0xffff};
  if (FormOf(dtype) != DTypeForm::kVar) return {};
  const uint32_t* set = view.DTypeSet(static_cast<int>(dtype & 0xffff));
  return {set + 1, set + 1 + (set[0] >> 16)};
}

bool MayHaveGradient(View view, int index) {
  const uint32_t* param = view.Param(index);
  if (KindOf(param) != KP_PARAM_TENSOR || (FlagsOf(param) & KP_PARAM_MUTATED)) return false;
  const std::vector<uint32_t> dtypes = DTypes(view, param[1]);
  if (dtypes.empty()) return true;
  for (const uint32_t dtype : dtypes) {
    if (IsDifferentiable(signature::UnpackDType(dtype))) return true;
  }
  return false;
}

bool IsNondiff(View view, int index) {
  const uint32_t at = view.words[signature::kHeadNondiff];
  for (uint32_t i = 0; at != 0 && i < view.words[at]; ++i) {
    if (view.words[at + 1 + i] == static_cast<uint32_t>(index)) return true;
  }
  return false;
}

bool IsTensorList(View view, int index) {
  return KindOf(view.Param(index)) == KP_PARAM_TENSOR && (FlagsOf(view.Param(index)) & KP_PARAM_LIST);
}

bool TakesAnyRank(const uint32_t* shape) {
  return signature::BatchOf(shape) != Batch::kNone || signature::StarOf(shape) >= 0;
}

// Whether one op's tensor can be the other's: the ranks and constant dims agree. (That the other dims do is seen in a call.)
bool ShapesMeet(const uint32_t* a, const uint32_t* b) {
  const bool any_a = TakesAnyRank(a), any_b = TakesAnyRank(b);
  const uint32_t fixed_a = signature::NumDimsOf(a) - (signature::StarOf(a) >= 0);
  const uint32_t fixed_b = signature::NumDimsOf(b) - (signature::StarOf(b) >= 0);
  if (any_a && any_b) return true;
  if (any_a || any_b) return any_a ? fixed_a <= fixed_b : fixed_b <= fixed_a;
  if (fixed_a != fixed_b) return false;
  for (uint32_t i = 0; i < fixed_a; ++i) {
    const uint32_t x = signature::DimsOf(a)[i], y = signature::DimsOf(b)[i];
    const bool constant = signature::DimOpOf(x) == DimOp::kConst && signature::DimOpOf(y) == DimOp::kConst;
    if (constant && x != y) return false;
  }
  return true;
}

bool DTypesMeet(View a, uint32_t dtype_a, View b, uint32_t dtype_b) {
  const std::vector<uint32_t> all = DTypes(a, dtype_a), others = DTypes(b, dtype_b);
  if (all.empty() || others.empty()) return true;
  for (const uint32_t one : all) {
    for (const uint32_t other : others) {
      if (one == other) return true;
    }
  }
  return false;
}

// A tensor of one op and the tensor of the other that it is, or is a gradient of: records of parameters or results.
const char* TensorsPart(View a, const uint32_t* record_a, View b, const uint32_t* record_b) {
  if (!ShapesMeet(a.words + record_a[2], b.words + record_b[2])) return "shape";
  return DTypesMeet(a, record_a[1], b, record_b[1]) ? nullptr : "dtype";
}

class Check {
 public:
  Check(const Contract& forward, const Contract& backward)
      : forward_(forward), backward_(backward), f_(forward.view), b_(backward.view) {}

  int Run() const {
    for (int i = 0; i < b_.NumParams(); ++i) {
      if (Parameter(i) != 0) return -1;
    }
    for (int i = 0; i < b_.NumResults(); ++i) {
      if (Result(i) != 0) return -1;
    }
    return 0;
  }

 private:
  int Parameter(int index) const {
    const std::string_view name = b_.ParamName(index);
    if (const int param = FindParam(f_, name); param != kNotThere) return SavedParameter(index, param);
    if (const int result = FindResult(f_, name); result != kNotThere) {
      if (FindParam(f_, Undifferentiated(name)) != kNotThere) return Ambiguous(name);
      return Tensor(index, f_.Result(result), "the result of that name");
    }
    if (const int result = FindResult(f_, Undifferentiated(name)); result != kNotThere) {
      return Tensor(index, f_.Result(result), "the result that it is the gradient of");
    }
    if (const int list = ItemOf(name, "_item"); list != kNotThere) {
      return Tensor(index, f_.Param(list), "the items of that list");
    }
    if (ItemOf(name, "_index") != kNotThere) return KindOf(b_.Param(index)) == KP_PARAM_INT ? 0 : NotAnIndex(index);
    if (FlagsOf(b_.Param(index)) & KP_PARAM_HAS_DEFAULT) return 0;
    return kp_raise("ValueError",
                    "KP_GRAD: %s: %s: expected the name of a parameter or result of %s (%s) or of a gradient (%s)",
                    backward_.name, b_.ParamName(index), forward_.name, Names().c_str(), Gradients(true).c_str());
  }

  // The forward's list of tensors that "<list><ending>" belongs to, if this op gives the gradient of its items.
  int ItemOf(std::string_view name, std::string_view ending) const {
    if (name.size() <= ending.size() || name.substr(name.size() - ending.size()) != ending) return kNotThere;
    const int list = FindParam(f_, name.substr(0, name.size() - ending.size()));
    if (list == kNotThere || !IsTensorList(f_, list)) return kNotThere;
    return FindResult(b_, std::string("d_") + f_.ParamName(list)) == kNotThere ? kNotThere : list;
  }

  int NotAnIndex(int index) const {
    return kp_raise("ValueError", "KP_GRAD: %s: %s: is the number of an item; expected an int", backward_.name,
                    b_.ParamName(index));
  }

  int SavedParameter(int index, int param) const {
    const uint32_t *mine = b_.Param(index), *theirs = f_.Param(param);
    const uint32_t flags = FlagsOf(theirs), own_flags = FlagsOf(mine);
    if (flags & KP_PARAM_MUTATED) {
      return kp_raise("ValueError", "KP_GRAD: %s: %s: %s writes to it, so that it cannot be saved for %s",
                      backward_.name, b_.ParamName(index), forward_.name, backward_.name);
    }
    if (KindOf(mine) != KindOf(theirs) || ((flags ^ own_flags) & KP_PARAM_LIST)) return Differs(index, "kind");
    if ((flags & KP_PARAM_OPTIONAL) && !(own_flags & KP_PARAM_OPTIONAL)) {
      return kp_raise("ValueError", "KP_GRAD: %s: %s: may be None in %s; expected it to be optional (?) here too",
                      backward_.name, b_.ParamName(index), forward_.name);
    }
    return KindOf(mine) == KP_PARAM_TENSOR ? Tensor(index, theirs, "the parameter of that name") : 0;
  }

  int Tensor(int index, const uint32_t* theirs, const char* which) const {
    const uint32_t* mine = b_.Param(index);
    if (KindOf(mine) != KP_PARAM_TENSOR) return Differs(index, "kind");
    const char* part = TensorsPart(b_, mine, f_, theirs);
    if (part == nullptr) return 0;
    return kp_raise("ValueError", "KP_GRAD: %s: %s: its %s never fits %s's, %s", backward_.name, b_.ParamName(index),
                    part, forward_.name, which);
  }

  int Differs(int index, const char* what) const {
    return kp_raise("ValueError", "KP_GRAD: %s: %s: is of another %s than in %s", backward_.name, b_.ParamName(index),
                    what, forward_.name);
  }

  int Ambiguous(std::string_view name) const {
    return kp_raise("ValueError",
                    "KP_GRAD: %s: %s: could be the result of %s or the gradient of its parameter; rename the result",
                    backward_.name, std::string(name).c_str(), forward_.name);
  }

  int Result(int index) const {
    const char* name = b_.ResultName(index);
    const int param = FindParam(f_, Undifferentiated(name));
    if (param == kNotThere) {
      return kp_raise("ValueError", "KP_GRAD: %s: result %s: expected the gradient of a parameter of %s (%s)",
                      backward_.name, name, forward_.name, Gradients(false).c_str());
    }
    const uint32_t* target = f_.Param(param);
    if (KindOf(target) != KP_PARAM_TENSOR || (FlagsOf(target) & KP_PARAM_MUTATED)) {
      return kp_raise("ValueError", "KP_GRAD: %s: result %s: %s of %s is no tensor that can have a gradient",
                      backward_.name, name, f_.ParamName(param), forward_.name);
    }
    if (IsTensorList(f_, param) && b_.NumResults() > 1) {
      return kp_raise("ValueError",
                      "KP_GRAD: %s: result %s: %s of %s is a list, and %s runs once for each of its items; expected no "
                      "other result, move the others to a backward op of their own",
                      backward_.name, name, f_.ParamName(param), forward_.name, backward_.name);
    }
    const char* part = TensorsPart(b_, b_.Result(index), f_, target);
    if (part == nullptr) return 0;
    return kp_raise("ValueError", "KP_GRAD: %s: result %s: its %s never fits that of %s in %s", backward_.name, name,
                    part, f_.ParamName(param), forward_.name);
  }

  std::string Names() const {
    std::string text;
    for (int i = 0; i < f_.NumParams(); ++i) text.append(text.empty() ? "" : ", ").append(f_.ParamName(i));
    for (int i = 0; i < f_.NumResults(); ++i) text.append(text.empty() ? "" : ", ").append(f_.ResultName(i));
    return text;
  }

  std::string Gradients(bool of_results) const {
    std::string text;
    for (int i = 0; i < (of_results ? f_.NumResults() : f_.NumParams()); ++i) {
      text.append(text.empty() ? "d_" : ", d_").append(of_results ? f_.ResultName(i) : f_.ParamName(i));
    }
    return text;
  }

  const Contract& forward_;
  const Contract& backward_;
  View f_, b_;
};

}  // namespace

int CheckGradient(const Contract& forward, const std::vector<Contract>& backwards) {
  std::vector<const char*> givers(static_cast<size_t>(forward.view.NumParams()));
  for (const Contract& backward : backwards) {
    if (Check(forward, backward).Run() != 0) return -1;
    for (int i = 0; i < backward.view.NumResults(); ++i) {
      const int param = FindParam(forward.view, Undifferentiated(backward.view.ResultName(i)));
      const char*& giver = givers[static_cast<size_t>(param)];
      if (giver != nullptr) {
        return kp_raise("ValueError", "KP_GRAD: %s: %s and %s both give d_%s; expected one of them", forward.name,
                        giver, backward.name, forward.view.ParamName(param));
      }
      giver = backward.name;
    }
  }
  for (int i = 0; i < forward.view.NumParams(); ++i) {
    if (givers[static_cast<size_t>(i)] || IsNondiff(forward.view, i) || !MayHaveGradient(forward.view, i)) continue;
    const char* name = forward.view.ParamName(i);
    return kp_raise(
        "ValueError",
        "KP_GRAD: %s: no backward op gives d_%s; add it to one, or write `with nondiff(%s)` in the signature "
        "if it has no gradient on purpose",
        forward.name, name, name);
  }
  return 0;
}

}  // namespace kernpack::host
