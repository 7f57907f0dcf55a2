// Checks a call against a program: the same code in our host and in every module's alias. No standard containers; nothing is
// allocated unless an error is raised.
#ifndef KERNPACK_SIGNATURE_CHECK_H_
#define KERNPACK_SIGNATURE_CHECK_H_

#include <kernpack/signature/memory.h>
#include <kernpack/signature/result.h>

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
    if (a.type_index != KP_TYPE_ARRAY && a.type_index != KP_TYPE_LIST) return WrongType(Subject{i, -1, false}, "a list", a);
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
    return KP_LIKELY(fits) ? 0 : WrongType(who, kKindNames[kind], a);
  }

  int NotATensor(const Subject& who, const uint32_t* param, const KpAny& a) {
    const bool number = a.type_index == KP_TYPE_INT || a.type_index == KP_TYPE_FLOAT || a.type_index == KP_TYPE_BOOL;
    if (number && (FlagsOf(param) & KP_PARAM_SCALAR_OK)) return 0;
    return Unlike(who, param, a);
  }

  int CheckString(const Subject& who, const uint32_t* param, const KpAny& a) {
    KpBytes text;
    if (!kp_any_str(&a, &text)) return WrongType(who, "str", a);
    if (!param[2]) return 0;
    const uint32_t* choices = p_.words + param[2];
    for (uint32_t i = 0; i < *choices; ++i) {
      if (SameText(text, p_.Text(choices[1 + i]))) return 0;
    }
    return WrongChoice(who, choices, text);
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
    if (KP_UNLIKELY(!(flags & KP_PARAM_STRIDED) && !IsContiguous(t))) return NotContiguous(who, t);
    if (flags & KP_PARAM_ON_CPU) {
      if (t.device.device_type != KP_DEVICE_CPU) return NotOnCpu(who, t);
    } else if (!f_.device.device_type) {
      f_.device = t.device;
      device_from_ = who;
    } else if (KP_UNLIKELY(t.device.device_type != f_.device.device_type || t.device.device_id != f_.device.device_id)) {
      return WrongDevice(who, t);
    }
    return CheckMemory(who, t);
  }

  int CheckDType(const Subject& who, const uint32_t* record, const KpDLTensor& t) {
    const uint32_t want = record[1];
    const uint32_t got = PackDType(t.dtype);
    if (KP_UNLIKELY(t.dtype.lanes != 1)) return WrongDType(who, record, t.dtype);
    if (FormOf(want) == DTypeForm::kFixed) return KP_LIKELY(want == got) ? 0 : WrongDType(who, record, t.dtype);
    if (who.result) {
      const KpDLDataType expected = ResultDType(f_, want);
      return KP_LIKELY(PackDType(expected) == got) ? 0 : WrongResultDType(who, expected, t.dtype);
    }
    KpDLDataType& bound = f_.dtypes[want & 0xff];
    if (bound.lanes) return KP_LIKELY(PackDType(bound) == got) ? 0 : WrongDType(who, record, t.dtype);
    const uint32_t* set = p_.DTypeSet(static_cast<int>(want & 0xff));
    const uint32_t count = *set >> 16;
    bool found = count == 0;
    for (uint32_t i = 1; i <= count && !found; ++i) found = set[i] == got;
    if (!found) return WrongDType(who, record, t.dtype);
    bound = t.dtype;
    return 0;
  }

  // Pass 1: ranks, constants, dims that stand by themselves. Expressions and ~... wait.
  int CheckShape(const Subject& who, const uint32_t* shape, const KpDLTensor& t, bool* again) {
    const int32_t fixed = static_cast<int32_t>(NumDimsOf(shape));
    const int star = StarOf(shape);
    const Batch batch = BatchOf(shape);
    const int32_t spare = t.ndim - fixed + (star >= 0);  // dims of the batch or of the dims tuple
    if (KP_UNLIKELY(t.ndim < 0 || t.ndim > KP_MAX_NDIM || (t.ndim && !t.shape))) return Malformed(who, t);
    int32_t lead = 0;
    if (batch != Batch::kNone) {
      // A result may have both; its dims tuple is bound by then.
      lead = star >= 0 ? spare - f_.star_ndim[Operand(DimsOf(shape)[star])] : spare;
      if (KP_UNLIKELY(lead < 0)) return WrongRank(who, shape, t);
      if (batch == Batch::kBroadcast) {
        *again = true;
      } else if (f_.batch_ndim < 0) {
        f_.batch_ndim = lead;
        f_.batch_shape = t.shape;
      } else if (KP_UNLIKELY(!SameBatch(t, lead))) {
        return WrongBatch(who, shape, t);
      }
    } else if (KP_UNLIKELY(star >= 0 ? spare < 0 : spare != 0)) {
      return WrongRank(who, shape, t);
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
          if (!CheckStar(operand, at, width)) return WrongStar(who, shape, t, operand);
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
      if (KP_UNLIKELY(*at != want)) return WrongDim(who, shape, t, i, want);
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
      if (!fits) return WrongBatch(who, shape, t);
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
        if (value != Value::kOk) return NoValue(who, shape, dim, value);
      } else {
        continue;
      }
      if (KP_UNLIKELY(got != want)) return WrongDim(who, shape, t, i, want);
    }
    return 0;
  }

  int CheckMemory(const Subject& who, const KpDLTensor& t) {
    if (KP_UNLIKELY(!t.data)) {
      for (int32_t i = 0; i < t.ndim; ++i) {
        if (t.shape[i] == 0) return 0;
      }
      return NoMemory(who);
    }
    if (t.device.device_type != KP_DEVICE_CPU) return 0;
    const uint32_t unit = Alignment(t.dtype);
    const uint64_t address = reinterpret_cast<uintptr_t>(t.data) + t.byte_offset;
    return KP_LIKELY((address & (unit - 1)) == 0) ? 0 : NotAligned(who, unit);
  }

  // Without a tensor, a device parameter or `on` says where the results live.
  int CheckDevice() {
    const int32_t on = p_.OnDeviceType();
    if (on && f_.device.device_type && f_.device.device_type != on && !abstract_) return NotOn();
    if (f_.device.device_type) return 0;
    for (int i = 0; i < p_.NumParams() && !f_.device.device_type; ++i) {
      const uint32_t* param = p_.Param(i);
      const bool single = KindOf(param) == KP_PARAM_DEVICE && !(FlagsOf(param) & KP_PARAM_LIST);
      if (single && f_.args[i].type_index == KP_TYPE_DEVICE) f_.device = f_.args[i].v.v_device;
    }
    if (on && !f_.device.device_type) f_.device = KpDLDevice{on, 0};
    return on && f_.device.device_type != on && !abstract_ ? NotOn() : 0;
  }

  // An empty list, or a number for a rank-0 tensor, may leave something unbound that a result needs.
  int CheckNeeded() {
    for (int i = 0; i < p_.NumResults(); ++i) {
      const uint32_t* result = p_.Result(i);
      const uint32_t* shape = p_.words + result[2];
      const DTypeForm form = FormOf(result[1]);
      const bool of_var = form != DTypeForm::kFixed && form != DTypeForm::kParam;
      if (of_var && !f_.dtypes[result[1] & 0xff].lanes) return NeedsItem(i);
      if (BatchOf(shape) == Batch::kSame && f_.batch_ndim < 0) return NeedsItem(i);
      for (uint32_t j = 0; j < NumDimsOf(shape); ++j) {
        int64_t ignored = 0;
        const uint32_t dim = DimsOf(shape)[j];
        const uint32_t* code = p_.words + Operand(dim);
        const bool unbound = DimOpOf(dim) == DimOp::kVar    ? !(f_.bound >> Operand(dim) & 1)
                             : DimOpOf(dim) == DimOp::kStar ? f_.star_ndim[Operand(dim)] < 0
                             : DimOpOf(dim) == DimOp::kCode ? Evaluate(f_, &code, &ignored) == Value::kUnbound
                                                            : false;
        if (unbound) return NeedsItem(i);
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
      if (value != Value::kOk) return WrongCondition(record, value);
      const Relation relation = static_cast<Relation>(*code++);
      int64_t right = 0;
      value = Evaluate(f_, &code, &right);
      if (value == Value::kOk && !Holds(relation, left, right)) return WrongCondition(record, value);
      left = right;
    }
    return value == Value::kOk || value == Value::kUnbound ? 0 : WrongCondition(record, value);
  }

  int CheckResults(const KpAny* results) {
    for (int i = 0; i < p_.NumResults(); ++i) {
      if (results[i].type_index == KP_TYPE_NONE) continue;
      const uint32_t* record = p_.Result(i);
      const Subject who{i, -1, true};
      const KpDLTensor* t = kp_any_tensor(&results[i]);
      bool again = false;
      if (!t) return Unlike(who, record, results[i]);
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
      if (OverlapsItself(*written)) return Overlap(Subject{i, -1, false}, Subject{i, -1, false});
      if (CheckOverlapsParams(Subject{i, -1, false}, *written)) return -1;
    }
    for (int i = 0; results && i < p_.NumResults(); ++i) {
      const KpDLTensor* written = kp_any_tensor(&results[i]);
      if (!written) continue;
      if (CheckOverlapsParams(Subject{i, -1, true}, *written)) return -1;
      for (int j = 0; j < i; ++j) {
        const KpDLTensor* other = kp_any_tensor(&results[j]);
        if (other && Overlaps(*written, *other)) return Overlap(Subject{i, -1, true}, Subject{j, -1, true});
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
        if (t && KP_UNLIKELY(Overlaps(written, *t))) return Overlap(who, Subject{i, -1, false});
        continue;
      }
      const auto* list = reinterpret_cast<const KpSequenceObject*>(f_.args[i].v.v_obj);
      for (int64_t j = 0; j < list->size; ++j) {
        const KpDLTensor* t = kp_any_tensor(&list->data[j]);
        if (t && Overlaps(written, *t)) return Overlap(who, Subject{i, j, false});
      }
    }
    return 0;
  }

  // ---- errors; each returns -1 ----

  KP_COLD int WrongType(const Subject& who, const char* expected, const KpAny& got) const {
    return say_.Raise("TypeError", "%S: expected %s, got %t", &who, expected, &got);
  }
  KP_COLD int Unlike(const Subject& who, const uint32_t* record, const KpAny& got) const {
    return say_.Raise("TypeError", "%S: expected a tensor of shape %h, got %t", &who, p_.words + record[2], &got);
  }
  KP_COLD int WrongChoice(const Subject& who, const uint32_t* choices, KpBytes got) const {
    if (got.size > 64) got.size = 64;
    return say_.Raise("ValueError", "%S: expected one of %c, got \"%q\"", &who, choices, &got);
  }
  KP_COLD int WrongDType(const Subject& who, const uint32_t* record, KpDLDataType got) const {
    const uint32_t index = record[1] & 0xff;
    if (FormOf(record[1]) == DTypeForm::kFixed) return WrongResultDType(who, ResultDType(f_, record[1]), got);
    const uint32_t* set = p_.DTypeSet(static_cast<int>(index));
    if (!f_.dtypes[index].lanes) return say_.Raise("TypeError", "%S: expected dtype %u, got %d", &who, set, got);
    return say_.Raise("TypeError", "%S: expected dtype %s = %d%b, got %d", &who, p_.Text(*set), f_.dtypes[index],
                      Bound::kDType, index, got);
  }
  KP_COLD int WrongResultDType(const Subject& who, KpDLDataType expected, KpDLDataType got) const {
    return say_.Raise("TypeError", "%S: expected dtype %d, got %d", &who, expected, got);
  }
  KP_COLD int Malformed(const Subject& who, const KpDLTensor& t) const {
    const bool shaped = t.ndim >= 0 && t.ndim <= KP_MAX_NDIM && t.shape;
    return say_.Raise("ValueError", "%S: expected a tensor of at most 64 dims, none negative, whose size fits 64 bits, got %i "
                      "dims of %l", &who, int64_t{t.ndim}, t.shape, shaped ? t.ndim : 0);
  }
  KP_COLD int WrongRank(const Subject& who, const uint32_t* shape, const KpDLTensor& t) const {
    const bool open = BatchOf(shape) != Batch::kNone || StarOf(shape) >= 0;
    return say_.Raise("ValueError", "%S: expected shape %h (%s%i dims), got %l (%i dims)", &who, shape,
                      open ? "at least " : "", int64_t{NumDimsOf(shape)} - (StarOf(shape) >= 0), t.shape, t.ndim,
                      int64_t{t.ndim});
  }
  KP_COLD int WrongDim(const Subject& who, const uint32_t* shape, const KpDLTensor& t, int32_t i, int64_t want) const {
    const uint32_t dim = DimsOf(shape)[i];
    const uint32_t operand = Operand(dim);
    switch (DimOpOf(dim)) {
      case DimOp::kVar:
        return say_.Raise("ValueError", "%S: expected shape %h with %s = %i%b, got %l", &who, shape, p_.DimName(operand),
                          want, Bound::kDim, operand, t.shape, t.ndim);
      case DimOp::kInt:
        return say_.Raise("ValueError", "%S: expected shape %h with %s = %i, got %l", &who, shape,
                          p_.ParamName(p_.IntParam(operand)), want, t.shape, t.ndim);
      case DimOp::kCode:
        return say_.Raise("ValueError", "%S: expected shape %h with %i at dim %i where %v, got %l", &who, shape, want,
                          int64_t{i} - NumDimsOf(shape), Value::kOk, p_.words + operand, 1u, t.shape, t.ndim);
      default:
        return say_.Raise("ValueError", "%S: expected shape %h, got %l", &who, shape, t.shape, t.ndim);
    }
  }
  KP_COLD int WrongBatch(const Subject& who, const uint32_t* shape, const KpDLTensor& t) const {
    const bool broadcast = BatchOf(shape) == Batch::kBroadcast;
    return say_.Raise("ValueError", "%S: expected shape %h with ... = %l%b%s, got %l", &who, shape, f_.batch_shape,
                      f_.batch_ndim, Bound::kBatch, 0u, broadcast ? " or 1 in place of any of these" : "", t.shape, t.ndim);
  }
  KP_COLD int WrongStar(const Subject& who, const uint32_t* shape, const KpDLTensor& t, uint32_t star) const {
    return say_.Raise("ValueError", "%S: expected shape %h with %s = %l%b, got %l", &who, shape, p_.StarName(star),
                      f_.star_shape[star], f_.star_ndim[star], Bound::kStar, star, t.shape, t.ndim);
  }
  KP_COLD int NoValue(const Subject& who, const uint32_t* shape, uint32_t dim, Value value) const {
    return say_.Raise("ValueError", "%S: expected shape %h, got %v", &who, shape, value, p_.words + Operand(dim), 1u);
  }
  KP_COLD int NotContiguous(const Subject& who, const KpDLTensor& t) const {
    return say_.Raise("ValueError", "%S: expected a contiguous tensor, got shape %l with strides %l: %s", &who, t.shape,
                      t.ndim, t.strides, t.ndim,
                      who.result ? "pass a contiguous destination" : "call .contiguous() on it first");
  }
  KP_COLD int NotOnCpu(const Subject& who, const KpDLTensor& t) const {
    return say_.Raise("ValueError", "%S: expected device cpu, got %D: call .cpu() on it first", &who, t.device);
  }
  KP_COLD int WrongDevice(const Subject& who, const KpDLTensor& t) const {
    return say_.Raise("ValueError", "%S: expected device %D (that of %S), got %D: move one of them", &who, f_.device,
                      &device_from_, t.device);
  }
  KP_COLD int NotOn() const {
    return say_.Raise("ValueError", "expected tensors on %s, got %D: the function runs on %s only", p_.OnDeviceName(),
                      f_.device, p_.OnDeviceName());
  }
  KP_COLD int NoMemory(const Subject& who) const {
    return say_.Raise("ValueError", "%S: expected a tensor with memory, got one whose data is NULL (a fake or meta tensor?)",
                      &who);
  }
  KP_COLD int NotAligned(const Subject& who, uint32_t unit) const {
    return say_.Raise("ValueError", "%S: expected memory aligned to %i bytes, got an address that is not: pass a copy", &who,
                      int64_t{unit});
  }
  KP_COLD int Overlap(const Subject& written, const Subject& other) const {
    if (written.index == other.index && written.result == other.result) {
      return say_.Raise("ValueError", "%S: expected memory of its own to write to, got a tensor that overlaps itself "
                        "(stride 0): pass a copy", &written);
    }
    return say_.Raise("ValueError", "%S: expected memory of its own to write to, got a tensor that overlaps %S: pass a copy",
                      &written, &other);
  }
  KP_COLD int NeedsItem(int result) const {
    return say_.Raise("ValueError", "expected tensors that fix the shape %h and dtype of %s, got empty lists or numbers only",
                      p_.words + p_.Result(result)[2], p_.ResultName(result));
  }
  // `value` is kOk when the condition was evaluated and does not hold.
  KP_COLD int WrongCondition(const uint32_t* record, Value value) const {
    return say_.Raise("ValueError", "expected %s, got %v", p_.Text(*record), value, record + 1, (*record >> 16) + 1);
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
