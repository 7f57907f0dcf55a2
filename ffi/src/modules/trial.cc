#include "modules/trial.h"

#include <algorithm>
#include <string>

#include <kernpack/dtype.h>
#include <kernpack/signature/check.h>
#include <kernpack/signature/sequence.h>

#include "modules/trial_arguments.h"

namespace kernpack::host {
namespace {

constexpr int kSizes = 40;
constexpr int kDTypes = 32;
constexpr int kEnough = 4;  // calls that both ops take
constexpr int kRefusals = 8;  // so many, and no call taken: the derived op never fits

// Keeps the error that a check raises.
struct Refusal {
  std::string kind;
  std::string text;
  signature::Raiser raiser{this, [](void* self, const char* its_kind, KpBytes its_text) {
                             auto& refusal = *static_cast<Refusal*>(self);
                             refusal.kind = its_kind;
                             refusal.text.assign(its_text.data, its_text.size);
                             return -1;
                           }};

  Refusal() = default;
  Refusal(const Refusal&) = delete;
  Refusal& operator=(const Refusal&) = delete;
};

std::string ShapeText(const KpDLTensor& tensor) {
  std::string text = "[";
  for (int32_t i = 0; i < tensor.ndim; ++i) text.append(i ? ", " : "").append(std::to_string(tensor.shape[i]));
  return text + "]";
}

std::string DTypeText(KpDLDataType dtype) {
  Text text;
  text << dtype;
  return text.c_str();
}

enum class Outcome : uint8_t {
  kNotForward,  // the forward op takes no such call
  kOtherDTypes,  // the derived op takes no such dtypes
  kOtherShapes,  // it takes no such shapes
  kRestricted,  // its conditions refuse the call
  kTaken,
  kRaised,
};

class Trials {
 public:
  explicit Trials(const Derivation& d) : d_(d), f_(d.forward.view), b_(d.derived.view) {
    // The conditions of a derived op restrict it on purpose; its shapes are compared without them.
    const uint32_t* words = b_.words;
    shapes_only_.assign(words, words + words[signature::kHeadWords]);
    shapes_only_[signature::kHeadMoreCounts] &= 0xffffff;
  }

  int Run() {
    int taken = 0, generic = 0, refused = 0;
    std::string first_refusal;
    for (int sizes = 0; sizes < kSizes && taken < kEnough; ++sizes) {
      const Outcome outcome = TryDTypes(sizes);
      const bool is_generic = IsGeneric(f_, {sizes, 0});
      if (outcome == Outcome::kRaised) return -1;
      if (outcome == Outcome::kOtherDTypes && sizes == kEnough && taken == 0) return 0;
      if (outcome == Outcome::kTaken && is_generic) ++taken;
      if (outcome == Outcome::kTaken || outcome == Outcome::kRestricted) generic += is_generic;
      if (outcome == Outcome::kOtherShapes && is_generic && refused++ == 0) first_refusal = refusal_.text;
    }
    if (generic != 0 || refused < kRefusals) return 0;
    return kp_raise("ValueError",
                    "%s: %s doesn't fit the calls of %s: one of them would end in \"%s\"; give its parameter the dims "
                    "that the tensor has in %s",
                    d_.macro, d_.derived.name, d_.forward.name, first_refusal.c_str(), d_.forward.name);
  }

 private:
  Outcome TryDTypes(int sizes) {
    Outcome outcome = Outcome::kOtherDTypes;
    for (int i = 0; i < kDTypes && outcome == Outcome::kOtherDTypes; ++i) outcome = Try({sizes, sizes + i});
    return outcome;
  }

  // One call of the forward op, and the call of the derived op that belongs to it.
  Outcome Try(Trial trial) {
    arena_.Reset();
    const KpAny* args = TrialArguments(f_, trial, &arena_);
    KpSigFrame forward;
    if (args == nullptr || Check(f_.words, d_.forward.name, args, &forward) != 0) return Outcome::kNotForward;
    auto* results = arena_.Take<KpAny>(static_cast<size_t>(f_.NumResults()));
    for (int i = 0; i < f_.NumResults(); ++i) {
      if (!Result(forward, d_.forward.name, i, &results[i])) return Outcome::kNotForward;
    }
    const KpAny* own = Arguments(args, results);
    KpSigFrame frame;
    if (b_.NumConditions() > 0 && Check(shapes_only_.data(), d_.derived.name, own, &frame) != 0) return Refused();
    if (Check(b_.words, d_.derived.name, own, &frame) != 0) {
      return b_.NumConditions() > 0 ? Outcome::kRestricted : Refused();
    }
    for (int i = 0; i < b_.NumResults(); ++i) {
      KpAny gives;
      if (!Result(frame, d_.derived.name, i, &gives)) return Outcome::kRestricted;
      const Source& target = d_.targets[static_cast<size_t>(i)];
      const KpAny wanted = Value(target, args, results);
      if (Compare(i, target, *kp_any_tensor(&wanted), *kp_any_tensor(&gives)) != 0) return Outcome::kRaised;
    }
    return Outcome::kTaken;
  }

  int Check(const uint32_t* program, const char* name, const KpAny* args, KpSigFrame* frame) {
    return signature::Check(program, name, args, nullptr, KP_SIG_ABSTRACT, refusal_.raiser, frame);
  }

  Outcome Refused() const { return refusal_.kind == "TypeError" ? Outcome::kOtherDTypes : Outcome::kOtherShapes; }

  bool Result(const KpSigFrame& frame, const char* name, int index, KpAny* out) {
    KpDLTensor prototype;
    auto* shape = arena_.Take<int64_t>(KP_MAX_NDIM);
    if (signature::ResultPrototype(frame, name, index, refusal_.raiser, shape, &prototype) != 0) return false;
    *out = TensorAny(prototype, &arena_);
    return true;
  }

  const KpAny* Arguments(const KpAny* args, const KpAny* results) {
    auto* own = arena_.Take<KpAny>(static_cast<size_t>(b_.NumParams()));
    for (int i = 0; i < b_.NumParams(); ++i) {
      const Source& source = d_.sources[static_cast<size_t>(i)];
      if (source.origin == Origin::kDefault) {
        own[i] = GetDefault(b_, i, &arena_);
      } else if (source.origin == Origin::kParam) {
        own[i] = args[source.index];
      } else {
        own[i] = Value(source, args, results);
      }
    }
    return own;
  }

  KpAny Value(const Source& source, const KpAny* args, const KpAny* results) {
    switch (source.origin) {
      case Origin::kResult:
        return results[source.index];
      case Origin::kItemIndex:
        return IntAny(0);
      case Origin::kShape: {
        const KpDLTensor& of = *kp_any_tensor(&args[source.index]);
        auto* sizes = arena_.Take<KpAny>(static_cast<size_t>(of.ndim));
        std::transform(of.shape, of.shape + of.ndim, sizes, IntAny);
        return ListAny(sizes, of.ndim, &arena_);
      }
      default:
        return IsTensorList(f_, source.index) ? FirstItem(args[source.index]) : args[source.index];
    }
  }

  int Compare(int index, const Source& target, const KpDLTensor& wanted, const KpDLTensor& gives) const {
    const bool of_result = target.origin == Origin::kResult;
    const char* name = of_result ? f_.ResultName(target.index) : f_.ParamName(target.index);
    const uint32_t* record = of_result ? f_.Result(target.index) : f_.Param(target.index);
    const char* mine = b_.ResultName(index);
    if (!std::equal(wanted.shape, wanted.shape + wanted.ndim, gives.shape, gives.shape + gives.ndim)) {
      return kp_raise(
          "ValueError",
          "%s: %s: result %s: expected the shape of %s in %s, %s, got %s: where %s is %s, %s would be %s; give %s "
          "the dims of %s",
          d_.macro, d_.derived.name, mine, name, d_.forward.name, DeclaredShape(f_, record),
          DeclaredShape(b_, b_.Result(index)), name, ShapeText(wanted).c_str(), mine, ShapeText(gives).c_str(), mine,
          name);
    }
    if (signature::PackDType(wanted.dtype) == signature::PackDType(gives.dtype)) return 0;
    return kp_raise("ValueError",
                    "%s: %s: result %s: expected the dtype of %s in %s: where %s is %s, %s would be %s; give %s the "
                    "dtype of %s",
                    d_.macro, d_.derived.name, mine, name, d_.forward.name, name, DTypeText(wanted.dtype).c_str(), mine,
                    DTypeText(gives.dtype).c_str(), mine, name);
  }

  static const char* DeclaredShape(signature::View view, const uint32_t* record) {
    return view.Text(view.words[record[2] + 1]);
  }

  const Derivation& d_;
  signature::View f_, b_;
  std::vector<uint32_t> shapes_only_;
  Arena arena_;
  Refusal refusal_;
};

}  // namespace

int TryCalls(const Derivation& derivation) { return Trials(derivation).Run(); }

}  // namespace kernpack::host
