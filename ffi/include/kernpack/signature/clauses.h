// Compiles `where` and `with`.
#ifndef KERNPACK_SIGNATURE_CLAUSES_H_
#define KERNPACK_SIGNATURE_CLAUSES_H_

#include <kernpack/signature/parameters.h>

KP_NAMESPACE_BEGIN
namespace signature {

// DLPack's device types, as `on` names them.
struct DeviceName {
  char name[13];
  int32_t type;
};
inline constexpr DeviceName kDeviceNames[] = {
    {"cpu", KP_DEVICE_CPU},
    {"cuda", KP_DEVICE_CUDA},
    {"cuda_host", KP_DEVICE_CUDA_HOST},
    {"opencl", KP_DEVICE_OPENCL},
    {"vulkan", KP_DEVICE_VULKAN},
    {"metal", KP_DEVICE_METAL},
    {"vpi", KP_DEVICE_VPI},
    {"rocm", KP_DEVICE_ROCM},
    {"rocm_host", KP_DEVICE_ROCM_HOST},
    {"ext_dev", KP_DEVICE_EXT},
    {"cuda_managed", KP_DEVICE_CUDA_MANAGED},
    {"oneapi", KP_DEVICE_ONEAPI},
    {"webgpu", KP_DEVICE_WEBGPU},
    {"hexagon", KP_DEVICE_HEXAGON},
    {"maia", KP_DEVICE_MAIA},
    {"trn", KP_DEVICE_TRN},
};

struct Clauses : Parameters {
  using Parameters::Parameters;
  static constexpr uint32_t kMaxConditions = 32;

  uint32_t conditions[kMaxConditions]{};
  uint32_t num_conditions = 0;
  uint32_t props = 0;
  uint32_t workspace = 0;
  uint32_t independent = 0;
  uint32_t invariant = 0;  // bit i: dim i
  uint32_t nondiff = 0;

  constexpr bool ReadWhere() {
    if (!IsWord("where")) return true;
    place = Place::kWhere;
    do {
      Next();
      if (!Condition()) return false;
    } while (Is(','));
    return true;
  }

  constexpr bool ReadWith() {
    if (!IsWord("with")) return true;
    do {
      Next();
      if (!Property()) return false;
    } while (Is(','));
    return true;
  }

  // Checks that need the whole text.
  constexpr bool CheckDTypes() {
    for (uint32_t i = 0; i < dtypes.size; ++i) {
      if (!dtype_sets[i]) return Fail(Reason::kDTypeVariableNotConstrained, dtypes.at[i].begin);
    }
    for (uint32_t i = 0; i < num_results; ++i) {
      const uint32_t dtype = results[i * kRecord + 1];
      const DTypeForm form = GetForm(dtype);
      if (form != DTypeForm::kRealOf && form != DTypeForm::kComplexOf) continue;
      const uint32_t set = dtype_sets[dtype & 0xff];
      const uint32_t count = words[set] >> 16;
      const bool real = form == DTypeForm::kRealOf;
      bool fits = count != 0;
      for (uint32_t j = 1; j <= count; ++j) fits = fits && HasForm(words[set + j], real);
      if (!fits) return Fail(real ? Reason::kNoRealForm : Reason::kNoComplexForm, result_dtype_at[i]);
    }
    return true;
  }

 private:
  static constexpr bool HasForm(uint32_t dtype, bool real) {
    const uint32_t code = dtype & 0xff;
    if (code == KP_DTYPE_COMPLEX) return true;
    if (real) return code == KP_DTYPE_FLOAT || code == KP_DTYPE_BFLOAT;
    return code == KP_DTYPE_FLOAT && dtype >> 8 >= 32;
  }

  constexpr bool Condition() {
    if (now.kind == Tok::kVar) {
      const Token name = now;
      Next();
      if (IsWord("in")) return DTypeSet(name);
      // A dim: step back and read an expression.
      now = {Tok::kEnd, 0, name.begin, name.begin};
      Next();
    }
    return Comparison();
  }

  constexpr bool DTypeSet(const Token& name) {
    const uint32_t i = Find(dtypes, name);
    if (i == kNotFound) return Fail(Reason::kDTypeVariableNeverUsed, name.begin);
    if (dtype_sets[i]) return Fail(Reason::kDTypeConstrainedTwice, name.begin);
    const uint32_t head = used;
    Emit(Intern(name));
    dtype_sets[i] = head;
    Next();
    if (IsWord("any")) {
      Next();
      return true;
    }
    if (!Expect('{', Reason::kExpectedDTypeSet)) return false;
    do {
      const uint32_t dtype = now.kind == Tok::kName ? FindDType() : kNotFound;
      if (dtype == kNotFound) return Fail(UnknownDType());
      for (uint32_t j = head + 1; j < used; ++j) {
        if (words[j] == dtype) return Fail(Reason::kDuplicateChoice);
      }
      Emit(dtype);
      Next();
    } while (Accept(','));
    words[head] |= (used - head - 1) << 16;
    return Expect('}', Reason::kExpectedClosingBrace);
  }

  constexpr bool RelationAt(Relation* out) const {
    switch (now.kind) {
      case Tok::kLessEqual:
        *out = Relation::kLessEqual;
        return true;
      case Tok::kGreaterEqual:
        *out = Relation::kGreaterEqual;
        return true;
      case Tok::kEqual:
        *out = Relation::kEqual;
        return true;
      case Tok::kNotEqual:
        *out = Relation::kNotEqual;
        return true;
      default:
        *out = Is('<') ? Relation::kLess : Relation::kGreater;
        return Is('<') || Is('>');
    }
  }

  constexpr bool Comparison() {
    if (num_conditions == kMaxConditions) return Fail(Reason::kTooManyConditions);
    const uint32_t begin = now.begin;
    const uint32_t head = used;
    uint32_t count = 0;
    Emit(0);
    if (!Expression()) return false;
    Emit(Op::kEnd);
    for (Relation relation{}; RelationAt(&relation); ++count) {
      Next();
      Emit(static_cast<uint32_t>(relation));
      if (!Expression()) return false;
      Emit(Op::kEnd);
    }
    if (!count) return Fail(Reason::kExpectedRelation);
    const uint32_t condition_text = Intern(begin, previous_end);
    if (reason != Reason::kNone) return false;
    words[head] = condition_text | count << 16;
    conditions[num_conditions++] = head;
    return true;
  }

  constexpr bool Flag(uint32_t flag) {
    if (props & flag) return Fail(Reason::kDuplicateProperty);
    props |= flag;
    Next();
    return true;
  }

  constexpr bool Property() {
    if (IsWord("quick")) return Flag(KP_PROP_QUICK);
    if (IsWord("graph_safe")) return Flag(KP_PROP_GRAPH_SAFE);
    if (IsWord("deterministic")) return Flag(KP_PROP_DETERMINISTIC);
    if (IsWord("workspace")) return Flag(KP_PROP_WORKSPACE) && Workspace();
    if (IsWord("on")) return On();
    if (IsWord("independent")) return IndexList(&independent, true);
    if (IsWord("invariant")) return Flag(KP_PROP_INVARIANT) && Invariant();
    if (IsWord("nondiff")) return IndexList(&nondiff, false);
    return Fail(Reason::kUnknownProperty);
  }

  constexpr bool Workspace() {
    if (!Expect('=', Reason::kExpectedEquals)) return false;
    place = Place::kWorkspace;
    const uint32_t begin = now.begin;
    const uint32_t head = used;
    Emit(0);
    if (!Expression()) return false;
    Emit(Op::kEnd);
    const uint32_t expression_text = Intern(begin, previous_end);
    if (reason != Reason::kNone) return false;
    words[head] = expression_text;
    workspace = head;
    return true;
  }

  constexpr bool On() {
    if (props >> 8) return Fail(Reason::kDuplicateProperty);
    Next();
    if (now.kind != Tok::kString) return Fail(Reason::kExpectedString);
    for (const DeviceName& device : kDeviceNames) {
      uint32_t i = 0;
      while (now.begin + i < string_end && text[now.begin + i] == device.name[i]) ++i;
      if (now.begin + i != string_end || device.name[i]) continue;
      props |= static_cast<uint32_t>(device.type) << 8 | Intern(now.begin, string_end) << 16;
      Next();
      return true;
    }
    return Fail(Reason::kUnknownDevice);
  }

  // The names of dims, and `batch` for "...".
  constexpr bool Invariant() {
    if (!Expect('(', Reason::kExpectedOpeningParenthesis)) return false;
    do {
      const uint32_t i = Find(dims, now);
      if (i != kNotFound) {
        if (invariant >> i & 1) return Fail(Reason::kDuplicateChoice);
        invariant |= uint32_t{1} << i;
        Next();
      } else if (IsWord("batch") && (batch_sure || batch_bound)) {
        if (props & KP_PROP_INVARIANT_BATCH) return Fail(Reason::kDuplicateChoice);
        props |= KP_PROP_INVARIANT_BATCH;
        Next();
      } else {
        return Fail(Reason::kExpectedInvariant);
      }
    } while (Accept(','));
    return Expect(')', Reason::kExpectedClosingParenthesis);
  }

  constexpr bool IndexList(uint32_t* where, bool of_dims) {
    if (*where) return Fail(Reason::kDuplicateProperty);
    Next();
    if (!Expect('(', Reason::kExpectedOpeningParenthesis)) return false;
    const uint32_t head = used;
    *where = head;
    Emit(0);
    do {
      const uint32_t i = of_dims ? Find(dims, now) : FindParam(now);
      if (i == kNotFound) return Fail(of_dims ? Reason::kExpectedDim : Reason::kExpectedParameter);
      for (uint32_t j = head + 1; j < used; ++j) {
        if (words[j] == i) return Fail(Reason::kDuplicateChoice);
      }
      Emit(i);
      Next();
    } while (Accept(','));
    words[head] = used - head - 1;
    return Expect(')', Reason::kExpectedClosingParenthesis);
  }
};

}  // namespace signature
KP_NAMESPACE_END

#endif  // KERNPACK_SIGNATURE_CLAUSES_H_
