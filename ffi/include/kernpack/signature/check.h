// Checks a call against a program: the same code in our host and in every module's alias. No standard containers; nothing is
// allocated unless an error is raised.
#ifndef KERNPACK_SIGNATURE_CHECK_H_
#define KERNPACK_SIGNATURE_CHECK_H_

#include <kernpack/signature/complain.h>
#include <kernpack/signature/memory.h>

KP_NAMESPACE_BEGIN
namespace signature {

class Checker {
 public:
  Checker(const uint32_t* program, const char* function, const Raiser& raiser, uint32_t flags, KpSigFrame* frame)
      : p_{program}, f_(*frame), say_{p_, function, raiser, *frame}, abstract_((flags & KP_SIG_ABSTRACT) != 0) {}

  int Check(const KpAny* args, const KpAny* results) {
    Reset(args);
    const int n = p_.NumParams();
    bool again = false;  // something waits for all dims to be bound
    for (int i = 0; i < n; ++i) {
      if (CheckParam(i, &again)) return -1;
    }
    if (again && CheckWaiting()) return -1;
    if (CheckDevice() || CheckNeeded()) return -1;
    for (int i = 0; i < p_.NumConditions(); ++i) {
      if (CheckCondition(i)) return -1;
    }
    if (results && CheckResults(results)) return -1;
    return abstract_ ? 0 : CheckOverlaps(results);
  }

 private:
  void Reset(const KpAny* args) {
    f_.device = KpDLDevice{0, 0};
    f_.batch_ndim = -1;
    f_.batch_shape = nullptr;
    f_.bound = 0;
    f_.args = args;
    f_.program = p_.words;
    for (int i = 0; i < p_.NumDTypes(); ++i) f_.dtypes[i] = KpDLDataType{0, 0, 0};
    for (int i = 0; i < p_.NumStars(); ++i) f_.star_ndim[i] = -1;
  }

  int CheckParam(int i, bool* again) {
    const uint32_t* param = p_.Param(i);
    const KpAny& a = f_.args[i];
    const uint32_t flags = FlagsOf(param);
    if (a.type_index == KP_TYPE_NONE && (flags & KP_PARAM_OPTIONAL)) return 0;
    if (!(flags & KP_PARAM_LIST)) return CheckItem(Subject{i, -1, false}, param, a, again);
    if (a.type_index != KP_TYPE_ARRAY && a.type_index != KP_TYPE_LIST) return say_.Type(Subject{i, -1, false}, "a list", a);
    const auto* list = reinterpret_cast<const KpSequenceObject*>(a.v.v_obj);
    for (int64_t j = 0; j < list->size; ++j) {
      if (CheckItem(Subject{i, j, false}, param, list->data[j], again)) return -1;
    }
    return 0;
  }

  int CheckItem(const Subject& who, const uint32_t* param, const KpAny& a, bool* again) {
    const uint32_t kind = KindOf(param);
    if (KP_LIKELY(kind == KP_PARAM_TENSOR)) {
      const KpDLTensor* t = kp_any_tensor(&a);
      if (KP_UNLIKELY(!t)) return NotATensor(who, param, a);
      return CheckTensor(who, param, *t, again);
    }
    if (kind == KP_PARAM_STR) return CheckString(who, param, a);
    const bool fits = kind == KP_PARAM_INT     ? a.type_index == KP_TYPE_INT
                      : kind == KP_PARAM_FLOAT ? a.type_index == KP_TYPE_FLOAT || a.type_index == KP_TYPE_INT
                      : kind == KP_PARAM_BOOL  ? a.type_index == KP_TYPE_BOOL
                      : kind == KP_PARAM_DTYPE ? a.type_index == KP_TYPE_DTYPE
                                               : a.type_index == KP_TYPE_DEVICE;
    return KP_LIKELY(fits) ? 0 : say_.Type(who, KindName(kind), a);
  }

  int NotATensor(const Subject& who, const uint32_t* param, const KpAny& a) {
    const bool number = a.type_index == KP_TYPE_INT || a.type_index == KP_TYPE_FLOAT || a.type_index == KP_TYPE_BOOL;
    if (number && (FlagsOf(param) & KP_PARAM_SCALAR_OK)) return 0;
    return say_.NotATensor(who, param, a);
  }

  int CheckString(const Subject& who, const uint32_t* param, const KpAny& a) {
    KpBytes text;
    if (!kp_any_str(&a, &text)) return say_.Type(who, "str", a);
    if (!param[2]) return 0;
    const uint32_t* choices = p_.words + param[2];
    for (uint32_t i = 0; i < *choices; ++i) {
      if (SameText(text, p_.Text(choices[1 + i]))) return 0;
    }
    return say_.Choice(who, choices, text);
  }

  static bool SameText(KpBytes text, const char* word) {
    for (size_t i = 0; i < text.size; ++i) {
      if (!word[i] || word[i] != text.data[i]) return false;
    }
    return !word[text.size];
  }

  int CheckTensor(const Subject& who, const uint32_t* record, const KpDLTensor& t, bool* again) {
    const uint32_t flags = who.result ? 0 : FlagsOf(record);
    const uint32_t* shape = p_.words + record[2];
    if (CheckDType(who, record, t) || CheckShape(who, shape, t, again)) return -1;
    if (abstract_) return 0;
    if (KP_UNLIKELY(!(flags & KP_PARAM_STRIDED) && !IsContiguous(t))) return say_.Contiguous(who, t);
    if (flags & KP_PARAM_ON_CPU) {
      if (t.device.device_type != KP_DEVICE_CPU) return say_.OnCpu(who, t);
    } else if (!f_.device.device_type) {
      f_.device = t.device;
      device_from_ = who;
    } else if (KP_UNLIKELY(t.device.device_type != f_.device.device_type || t.device.device_id != f_.device.device_id)) {
      return say_.Device(who, t, device_from_);
    }
    return CheckMemory(who, t);
  }

  int CheckDType(const Subject& who, const uint32_t* record, const KpDLTensor& t) {
    const uint32_t want = record[1];
    const uint32_t got = PackDType(t.dtype);
    if (KP_UNLIKELY(t.dtype.lanes != 1)) return say_.DType(who, record, t.dtype);
    if (FormOf(want) == DTypeForm::kFixed) return KP_LIKELY(want == got) ? 0 : say_.DType(who, record, t.dtype);
    if (who.result) {
      const KpDLDataType expected = ResultDType(f_, want);
      return KP_LIKELY(PackDType(expected) == got) ? 0 : say_.ResultDType(who, expected, t.dtype);
    }
    KpDLDataType& bound = f_.dtypes[want & 0xff];
    if (bound.lanes) return KP_LIKELY(PackDType(bound) == got) ? 0 : say_.DType(who, record, t.dtype);
    const uint32_t* set = p_.DTypeSet(static_cast<int>(want & 0xff));
    const uint32_t count = *set >> 16;
    bool found = count == 0;
    for (uint32_t i = 1; i <= count && !found; ++i) found = set[i] == got;
    if (!found) return say_.DType(who, record, t.dtype);
    bound = t.dtype;
    return 0;
  }

  // Pass 1: ranks, constants, dims that stand by themselves. Expressions and ~... wait.
  int CheckShape(const Subject& who, const uint32_t* shape, const KpDLTensor& t, bool* again) {
    const int32_t fixed = static_cast<int32_t>(NumDimsOf(shape));
    const int star = StarOf(shape);
    const Batch batch = BatchOf(shape);
    const int32_t spare = t.ndim - fixed + (star >= 0);  // dims of the batch or of the dims tuple
    if (KP_UNLIKELY(t.ndim < 0 || t.ndim > KP_MAX_NDIM || (t.ndim && !t.shape))) return say_.Malformed(who, t);
    int32_t lead = 0;
    if (batch != Batch::kNone) {
      // A result may have both; its dims tuple is bound by then.
      lead = star >= 0 ? spare - f_.star_ndim[Operand(DimsOf(shape)[star])] : spare;
      if (KP_UNLIKELY(lead < 0)) return say_.Rank(who, shape, t);
      if (batch == Batch::kBroadcast) {
        *again = true;
      } else if (f_.batch_ndim < 0) {
        f_.batch_ndim = lead;
        f_.batch_shape = t.shape;
      } else if (KP_UNLIKELY(!SameBatch(t, lead))) {
        return say_.Batch(who, shape, t);
      }
    } else if (KP_UNLIKELY(star >= 0 ? spare < 0 : spare != 0)) {
      return say_.Rank(who, shape, t);
    }
    const uint32_t* dims = DimsOf(shape);
    const int64_t* at = t.shape + lead;
    for (int32_t i = 0; i < fixed; ++i) {
      const uint32_t operand = Operand(dims[i]);
      int64_t want = 0;
      switch (DimOpOf(dims[i])) {
        case DimOp::kVar:
          if (!(f_.bound >> operand & 1)) {
            f_.bound |= uint64_t{1} << operand;
            f_.dims[operand] = *at++;
            continue;
          }
          want = f_.dims[operand];
          break;
        case DimOp::kConst:
          want = operand;
          break;
        case DimOp::kStar: {
          const int32_t width = spare - lead;
          if (!CheckStar(operand, at, width)) return say_.Star(who, shape, t, operand);
          at += width;
          continue;
        }
        case DimOp::kAny:
          ++at;
          continue;
        default:
          *again = true;
          ++at;
          continue;
      }
      if (KP_UNLIKELY(*at != want)) return say_.Dim(who, shape, t, dims[i], want);
      ++at;
    }
    return 0;
  }

  bool SameBatch(const KpDLTensor& t, int32_t lead) const {
    if (lead != f_.batch_ndim) return false;
    for (int32_t i = 0; i < lead; ++i) {
      if (t.shape[i] != f_.batch_shape[i]) return false;
    }
    return true;
  }

  bool CheckStar(uint32_t star, const int64_t* at, int32_t width) {
    if (f_.star_ndim[star] < 0) {
      f_.star_ndim[star] = width;
      f_.star_shape[star] = at;
      return true;
    }
    if (width != f_.star_ndim[star]) return false;
    for (int32_t i = 0; i < width; ++i) {
      if (at[i] != f_.star_shape[star][i]) return false;
    }
    return true;
  }

  // Pass 2 over the parameters.
  int CheckWaiting() {
    for (int i = 0; i < p_.NumParams(); ++i) {
      const uint32_t* param = p_.Param(i);
      if (KindOf(param) != KP_PARAM_TENSOR) continue;
      const uint32_t* shape = p_.words + param[2];
      if (!(FlagsOf(param) & KP_PARAM_LIST)) {
        const KpDLTensor* t = kp_any_tensor(&f_.args[i]);
        if (t && CheckValues(Subject{i, -1, false}, shape, *t)) return -1;
        continue;
      }
      const auto* list = reinterpret_cast<const KpSequenceObject*>(f_.args[i].v.v_obj);
      for (int64_t j = 0; j < list->size; ++j) {
        const KpDLTensor* t = kp_any_tensor(&list->data[j]);
        if (t && CheckValues(Subject{i, j, false}, shape, *t)) return -1;
      }
    }
    return 0;
  }

  int CheckValues(const Subject& who, const uint32_t* shape, const KpDLTensor& t) {
    const int32_t fixed = static_cast<int32_t>(NumDimsOf(shape));
    const int star = StarOf(shape);
    const int32_t spare = t.ndim - fixed + (star >= 0);
    const int32_t lead = BatchOf(shape) == Batch::kNone ? 0 : star >= 0 ? f_.batch_ndim : spare;
    if (BatchOf(shape) == Batch::kBroadcast && f_.batch_ndim >= 0) {
      bool fits = lead == f_.batch_ndim;
      for (int32_t i = 0; i < lead && fits; ++i) fits = t.shape[i] == 1 || t.shape[i] == f_.batch_shape[i];
      if (!fits) return say_.Batch(who, shape, t);
    }
    const int64_t* at = t.shape + lead;
    for (int32_t i = 0; i < fixed; ++i) {
      const uint32_t dim = DimsOf(shape)[i];
      if (DimOpOf(dim) == DimOp::kStar) {
        at += spare - lead;
        continue;
      }
      const int64_t got = *at++;
      int64_t want = 0;
      if (DimOpOf(dim) == DimOp::kInt) {
        want = f_.args[p_.IntParam(Operand(dim))].v.v_int;
      } else if (DimOpOf(dim) == DimOp::kCode) {
        const uint32_t* code = p_.words + Operand(dim);
        const Value value = Evaluate(f_, &code, &want);
        if (value == Value::kUnbound) continue;  // an optional parameter that would bind it is absent
        if (value != Value::kOk) return say_.NoValue(who, shape, dim, value);
      } else {
        continue;
      }
      if (KP_UNLIKELY(got != want)) return say_.Dim(who, shape, t, dim, want);
    }
    return 0;
  }

  int CheckMemory(const Subject& who, const KpDLTensor& t) {
    if (KP_UNLIKELY(!t.data)) {
      for (int32_t i = 0; i < t.ndim; ++i) {
        if (t.shape[i] == 0) return 0;
      }
      return say_.NoMemory(who);
    }
    if (t.device.device_type != KP_DEVICE_CPU) return 0;
    const uint32_t unit = Alignment(t.dtype);
    const uint64_t address = reinterpret_cast<uintptr_t>(t.data) + t.byte_offset;
    return KP_LIKELY((address & (unit - 1)) == 0) ? 0 : say_.Aligned(who, unit);
  }

  // Without a tensor, a device parameter or `on` says where the results live.
  int CheckDevice() {
    const int32_t on = p_.OnDeviceType();
    if (on && f_.device.device_type && f_.device.device_type != on && !abstract_) return say_.On(on);
    if (f_.device.device_type) return 0;
    for (int i = 0; i < p_.NumParams() && !f_.device.device_type; ++i) {
      const uint32_t* param = p_.Param(i);
      const bool single = KindOf(param) == KP_PARAM_DEVICE && !(FlagsOf(param) & KP_PARAM_LIST);
      if (single && f_.args[i].type_index == KP_TYPE_DEVICE) f_.device = f_.args[i].v.v_device;
    }
    if (on && !f_.device.device_type) f_.device = KpDLDevice{on, 0};
    return on && f_.device.device_type != on && !abstract_ ? say_.On(on) : 0;
  }

  // An empty list, or a number for a rank-0 tensor, may leave something unbound that a result needs.
  int CheckNeeded() {
    for (int i = 0; i < p_.NumResults(); ++i) {
      const uint32_t* result = p_.Result(i);
      const uint32_t* shape = p_.words + result[2];
      const DTypeForm form = FormOf(result[1]);
      const bool of_var = form != DTypeForm::kFixed && form != DTypeForm::kParam;
      if (of_var && !f_.dtypes[result[1] & 0xff].lanes) return say_.NeedsItem(i);
      if (BatchOf(shape) == Batch::kSame && f_.batch_ndim < 0) return say_.NeedsItem(i);
      for (uint32_t j = 0; j < NumDimsOf(shape); ++j) {
        int64_t ignored = 0;
        const uint32_t dim = DimsOf(shape)[j];
        const uint32_t* code = p_.words + Operand(dim);
        const bool unbound = DimOpOf(dim) == DimOp::kVar    ? !(f_.bound >> Operand(dim) & 1)
                             : DimOpOf(dim) == DimOp::kStar ? f_.star_ndim[Operand(dim)] < 0
                             : DimOpOf(dim) == DimOp::kCode ? Evaluate(f_, &code, &ignored) == Value::kUnbound
                                                            : false;
        if (unbound) return say_.NeedsItem(i);
      }
    }
    return 0;
  }

  int CheckCondition(int i) {
    const uint32_t* record = p_.Condition(i);
    const uint32_t* code = record + 1;
    int64_t left = 0;
    Value value = Evaluate(f_, &code, &left);
    for (uint32_t n = *record >> 16; n; --n) {
      if (value == Value::kUnbound) return 0;
      if (value != Value::kOk) return say_.Condition(record, value);
      const Relation relation = static_cast<Relation>(*code++);
      int64_t right = 0;
      value = Evaluate(f_, &code, &right);
      if (value == Value::kOk && !Holds(relation, left, right)) return say_.Condition(record, value);
      left = right;
    }
    return value == Value::kOk || value == Value::kUnbound ? 0 : say_.Condition(record, value);
  }

  int CheckResults(const KpAny* results) {
    for (int i = 0; i < p_.NumResults(); ++i) {
      if (results[i].type_index == KP_TYPE_NONE) continue;
      const uint32_t* record = p_.Result(i);
      const Subject who{i, -1, true};
      const KpDLTensor* t = kp_any_tensor(&results[i]);
      bool again = false;
      if (!t) return say_.NotATensor(who, record, results[i]);
      if (CheckTensor(who, record, *t, &again)) return -1;
      if (again && CheckValues(who, p_.words + record[2], *t)) return -1;
    }
    return 0;
  }

  // What is written may share memory with nothing else.
  int CheckOverlaps(const KpAny* results) {
    const int n = p_.NumParams();
    for (int i = 0; i < n; ++i) {
      if (!(FlagsOf(p_.Param(i)) & KP_PARAM_MUTATED)) continue;
      const KpDLTensor* written = kp_any_tensor(&f_.args[i]);
      if (!written) continue;
      if (OverlapsItself(*written)) return say_.Overlap(Subject{i, -1, false}, Subject{i, -1, false});
      if (CheckOverlapsParams(Subject{i, -1, false}, *written)) return -1;
    }
    for (int i = 0; results && i < p_.NumResults(); ++i) {
      const KpDLTensor* written = kp_any_tensor(&results[i]);
      if (!written) continue;
      if (CheckOverlapsParams(Subject{i, -1, true}, *written)) return -1;
      for (int j = 0; j < i; ++j) {
        const KpDLTensor* other = kp_any_tensor(&results[j]);
        if (other && Overlaps(*written, *other)) return say_.Overlap(Subject{i, -1, true}, Subject{j, -1, true});
      }
    }
    return 0;
  }

  int CheckOverlapsParams(const Subject& who, const KpDLTensor& written) {
    for (int i = 0; i < p_.NumParams(); ++i) {
      const uint32_t* param = p_.Param(i);
      if (KindOf(param) != KP_PARAM_TENSOR || (!who.result && who.index == i)) continue;
      if (!(FlagsOf(param) & KP_PARAM_LIST)) {
        const KpDLTensor* t = kp_any_tensor(&f_.args[i]);
        if (t && KP_UNLIKELY(Overlaps(written, *t))) return say_.Overlap(who, Subject{i, -1, false});
        continue;
      }
      const auto* list = reinterpret_cast<const KpSequenceObject*>(f_.args[i].v.v_obj);
      for (int64_t j = 0; j < list->size; ++j) {
        const KpDLTensor* t = kp_any_tensor(&list->data[j]);
        if (t && Overlaps(written, *t)) return say_.Overlap(who, Subject{i, j, false});
      }
    }
    return 0;
  }

  View p_;
  KpSigFrame& f_;
  Complain say_;
  Subject device_from_{0, -1, false};
  bool abstract_;
};

// See kp_sig_check.
inline int Check(const uint32_t* program, const char* function, const KpAny* args, const KpAny* results, uint32_t flags,
                 const Raiser& raiser, KpSigFrame* frame) {
  return Checker(program, function, raiser, flags, frame).Check(args, results);
}

}  // namespace signature
KP_NAMESPACE_END

#endif  // KERNPACK_SIGNATURE_CHECK_H_
