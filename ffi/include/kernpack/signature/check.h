// Checks a call against a program: the same code in our host and in every module's alias. No standard containers; nothing is
// allocated unless an error is raised, or a list of more than 32 tensors is written in place.
#ifndef KERNPACK_SIGNATURE_CHECK_H_
#define KERNPACK_SIGNATURE_CHECK_H_

#include <kernpack/signature/overlap.h>
#include <kernpack/signature/reach.h>
#include <kernpack/signature/result.h>

KP_NAMESPACE_BEGIN
namespace signature {

template <class Extents>
class Checker {
 public:
  Checker(const uint32_t* program, const char* function, const KpAny* args, const KpAny* results, uint32_t flags,
          const Raiser& raiser, KpSigFrame* frame, const Extents& extents)
      : p_{program},
        f_(*frame),
        results_(results),
        abstract_((flags & KP_SIG_ABSTRACT) != 0),
        extents_(extents),
        say_{p_, function, raiser, *frame, 0, -1, extents} {
    f_.device = KpDLDevice{0, 0};
    f_.batch_ndim = -1;
    f_.batch_shape = nullptr;
    f_.bound = 0;
    f_.args = args;
    f_.program = program;
    for (int i = 0; i < p_.NumDTypes(); ++i) f_.dtypes[i].lanes = 0;
    for (int i = 0; i < p_.NumStars(); ++i) f_.star_ndim[i] = -1;
  }

  int Run() {
    if (Pass(true) || (waiting_ && Pass(false)) || SettleDevice()) return -1;
    for (int i = 0; i < p_.NumConditions(); ++i) {
      if (CheckCondition(p_.Condition(i))) return -1;
    }
    bool writes = p_.Writes();
    for (int i = 0; results_ && i < p_.NumResults(); ++i) {
      if (results_[i].type_index != KP_TYPE_NONE && CheckDestination(i)) return -1;
      writes = true;
    }
    return writes && !abstract_ ? CheckOverlaps() : 0;
  }

 private:
  struct Items {
    const KpAny* at;
    int64_t count;
  };

  // The values of parameter `index`, or destination `index - NumParams()`; none when it is None.
  Items GetItems(int index) const {
    const int n = p_.NumParams();
    const KpAny* a = index < n ? &f_.args[index] : &results_[index - n];
    if (a->type_index == KP_TYPE_NONE) return Items{a, 0};
    if (KP_LIKELY(index >= n || !(GetFlags(p_.Param(index)) & KP_PARAM_LIST))) return Items{a, 1};
    const auto* list = reinterpret_cast<const KpSequenceObject*>(a->v.v_obj);
    return Items{list->data, list->size};  // NOLINT(clang-analyzer-core.NullDereference): a list has its object
  }

  // Over all parameters: first everything but expressions, `~...` and int parameters as sizes, then those.
  int Pass(bool first) {
    for (int i = 0; i < p_.NumParams(); ++i) {
      const uint32_t* param = p_.Param(i);
      const uint32_t flags = GetFlags(param);
      const bool is_list = (flags & KP_PARAM_LIST) != 0;
      say_.who = i;
      if (!extents_.HasType(f_.args[i])) continue;
      if (first) {
        const KpAny& a = f_.args[i];
        say_.item = -1;
        if (a.type_index == KP_TYPE_NONE && !(flags & KP_PARAM_OPTIONAL)) return WrongType(param, a);
        if (is_list && a.type_index != KP_TYPE_ARRAY && a.type_index != KP_TYPE_LIST) {
          return say_.Raise("TypeError", "%S: expected a list, got %t%s", &a,
                            kp_any_tensor(&a) ? ": put it in brackets" : "");
        }
      }
      const Items items = GetItems(i);
      if (first && is_list && KP_UNLIKELY(GetKind(param) == KP_PARAM_INT && items.count < int64_t{param[2]})) {
        return say_.Raise("ValueError", "%S: expected a list of at least %i ints, got %i", int64_t{param[2]},
                          items.count);
      }
      for (int64_t j = 0; j < items.count; ++j) {
        say_.item = is_list ? j : -1;
        if (!extents_.HasType(items.at[j])) continue;
        const KpDLTensor* t = GetKind(param) == KP_PARAM_TENSOR ? kp_any_tensor(&items.at[j]) : nullptr;
        if (!first) {
          if (t && extents_.HasDims(*t) && CheckWaiting(p_.words + param[2], *t)) return -1;
        } else if (t ? CheckTensor(param, *t) : CheckOther(param, items.at[j])) {
          return -1;
        }
      }
    }
    return 0;
  }

  int CheckOther(const uint32_t* param, const KpAny& a) const {
    const int32_t got = a.type_index;
    bool fits = false;
    switch (GetKind(param)) {
      case KP_PARAM_INT:
        fits = got == KP_TYPE_INT;
        break;
      case KP_PARAM_FLOAT:
        fits = got == KP_TYPE_FLOAT || got == KP_TYPE_INT;
        break;
      case KP_PARAM_BOOL:
        fits = got == KP_TYPE_BOOL;
        break;
      case KP_PARAM_DTYPE:
        fits = got == KP_TYPE_DTYPE;
        break;
      case KP_PARAM_DEVICE:
        fits = got == KP_TYPE_DEVICE;
        break;
      case KP_PARAM_STR:
        return CheckString(param, a);
      default:
        fits = (GetFlags(param) & KP_PARAM_SCALAR_OK) &&
               (got == KP_TYPE_FLOAT || got == KP_TYPE_INT || got == KP_TYPE_BOOL);
    }
    return KP_LIKELY(fits) ? 0 : WrongType(param, a);
  }

  KP_COLD int WrongType(const uint32_t* param, const KpAny& a) const {
    const uint32_t kind = GetKind(param);
    if (kind == KP_PARAM_TENSOR) {
      const bool is_list = a.type_index == KP_TYPE_ARRAY || a.type_index == KP_TYPE_LIST;
      return say_.Raise("TypeError", "%S: expected a tensor of shape %h, got %t%s", p_.words + param[2], &a,
                        is_list ? ": convert it first (NumPy: np.array(x, dtype), torch: torch.tensor(x))" : "");
    }
    return say_.Raise("TypeError", "%S: expected %s, got %t", kKindNames[kind], &a);
  }

  KP_COLD int CheckString(const uint32_t* param, const KpAny& a) const {
    KpBytes text;
    if (!kp_any_str(&a, &text)) return WrongType(param, a);
    if (!param[2] || !extents_.HasValue(a)) return 0;
    const uint32_t* choices = p_.words + param[2];
    for (uint32_t i = 1; i <= *choices; ++i) {
      const char* word = p_.Text(choices[i]);
      if (__builtin_strlen(word) == text.size && !__builtin_memcmp(word, text.data, text.size)) return 0;
    }
    if (text.size > 64) text.size = 64;
    return say_.Raise("ValueError", "%S: expected one of %c, got \"%q\"", choices, &text);
  }

  int CheckTensor(const uint32_t* param, const KpDLTensor& t) {
    if (extents_.HasDType(t.dtype) && CheckDType(param[1], t.dtype)) return -1;
    if (!extents_.HasDims(t)) return 0;
    if (KP_UNLIKELY(t.ndim < 0 || t.ndim > KP_MAX_NDIM || (t.ndim && !t.shape))) {
      return say_.Raise("ValueError", "%S: expected a tensor of 0 to 64 dims with a shape, got %i dims",
                        int64_t{t.ndim});
    }
    return CheckShape(p_.words + param[2], t) || CheckMemory(GetFlags(param), t) ? -1 : 0;
  }

  int CheckDType(uint32_t want, KpDLDataType got) {
    const uint32_t packed = PackDType(got);
    if (GetForm(want) == DTypeForm::kFixed) {
      if (KP_LIKELY(want == packed && got.lanes == 1)) return 0;
      return say_.Raise("TypeError", "%S: expected dtype %d, got %d%a", UnpackDType(want), got);
    }
    KpDLDataType& bound = f_.dtypes[want & 0xff];
    const uint32_t* set = p_.DTypeSet(static_cast<int>(want & 0xff));
    if (bound.lanes) {
      if (KP_LIKELY(PackDType(bound) == packed && got.lanes == 1)) return 0;
      return say_.Raise("TypeError", "%S: expected dtype %s = %d%b, got %d%a", p_.Text(*set), bound,
                        ComplainOf<Extents>::kDTypeBinder | (want & 0xff) << 8, got);
    }
    const uint32_t count = *set >> 16;
    bool found = count == 0;
    for (uint32_t i = 1; i <= count && !found; ++i) found = set[i] == packed;
    if (KP_UNLIKELY(!found || got.lanes != 1))
      return say_.Raise("TypeError", "%S: expected dtype %u, got %d%a", set, got);
    bound = got;
    return 0;
  }

  // How many dims before and inside the dims tuple a tensor of this contract has; false when the rank does not fit.
  static bool Split(const uint32_t* shape, int32_t ndim, int32_t* lead, int32_t* star) {
    const int32_t spare = ndim - static_cast<int32_t>(GetNumDims(shape));
    const bool batch = GetBatch(shape) != Batch::kNone;
    const bool has_star = GetStar(shape) >= 0;
    *lead = batch ? spare : 0;
    *star = has_star ? spare + 1 : 0;
    return batch ? spare >= 0 : has_star ? spare >= -1 : spare == 0;
  }

  int CheckShape(const uint32_t* shape, const KpDLTensor& t) {
    int32_t lead = 0;
    int32_t width = 0;
    if (KP_UNLIKELY(!Split(shape, t.ndim, &lead, &width))) return WrongRank(shape, t);
    if (GetBatch(shape) == Batch::kBroadcast) waiting_ = true;
    if (GetBatch(shape) == Batch::kSame) {
      if (f_.batch_ndim < 0) {
        f_.batch_ndim = lead;
        f_.batch_shape = t.shape;
      } else if (KP_UNLIKELY(!MeetSizes(t.shape, lead, f_.batch_shape, f_.batch_ndim))) {
        return WrongBatch(shape, t);
      }
    }
    const int64_t* at = t.shape + lead;
    const uint32_t n = GetNumDims(shape);
    for (uint32_t i = 0; i < n; ++i) {
      const uint32_t dim = GetDims(shape)[i];
      const uint32_t operand = Operand(dim);
      switch (GetDimOp(dim)) {
        case DimOp::kVar:
          if (!(f_.bound >> operand & 1)) {
            f_.bound |= uint64_t{1} << operand;
            f_.dims[operand] = *at;
          }
          if (KP_UNLIKELY(!extents_.Meet(f_.dims[operand], *at))) return WrongDim(shape, t, i, f_.dims[operand]);
          break;
        case DimOp::kConst:
          if (KP_UNLIKELY(!extents_.Meet(operand, *at))) return WrongDim(shape, t, i, operand);
          break;
        case DimOp::kStar:
          if (f_.star_ndim[operand] < 0) {
            f_.star_ndim[operand] = width;
            f_.star_shape[operand] = at;
          } else if (!MeetSizes(at, width, f_.star_shape[operand], f_.star_ndim[operand])) {
            return WrongStar(shape, t, i);
          }
          at += width;
          continue;
        case DimOp::kAny:
          break;
        default:
          waiting_ = true;
      }
      ++at;
    }
    return 0;
  }

  bool MeetSizes(const int64_t* a, int32_t a_count, const int64_t* b, int32_t b_count) const {
    if (a_count != b_count) return false;
    for (int32_t i = 0; i < a_count; ++i) {
      if (!extents_.Meet(a[i], b[i])) return false;
    }
    return true;
  }

  // The second pass over a shape whose rank fits.
  KP_COLD int CheckWaiting(const uint32_t* shape, const KpDLTensor& t) const {
    int32_t lead = 0;
    int32_t width = 0;
    Split(shape, t.ndim, &lead, &width);
    if (GetBatch(shape) == Batch::kBroadcast && f_.batch_ndim >= 0) {
      bool fits = lead == f_.batch_ndim;
      for (int32_t i = 0; i < lead && fits; ++i) fits = extents_.MayBroadcast(t.shape[i], f_.batch_shape[i]);
      if (!fits) return WrongBatch(shape, t);
    }
    const int64_t* at = t.shape + lead;
    for (uint32_t i = 0; i < GetNumDims(shape); ++i) {
      const uint32_t dim = GetDims(shape)[i];
      const DimOp op = GetDimOp(dim);
      if (op == DimOp::kInt || op == DimOp::kCode) {
        int64_t want = 0;
        const Value value = DimValue(f_, dim, &want, extents_);
        // kUnbound: an optional parameter that would bind it is absent.
        if (value == Value::kOk && (want < 0 || !extents_.Meet(*at, want))) return WrongDim(shape, t, i, want);
        if (value > Value::kUnbound) {
          return say_.Raise("ValueError", "%S: expected shape %h, got %v", shape, value, p_.words + Operand(dim), 1u);
        }
      }
      at += op == DimOp::kStar ? width : 1;
    }
    return 0;
  }

  KP_COLD int WrongRank(const uint32_t* shape, const KpDLTensor& t) const {
    const bool open = GetBatch(shape) != Batch::kNone || GetStar(shape) >= 0;
    const int64_t want = int64_t{GetNumDims(shape)} - (GetStar(shape) >= 0);
    return say_.Raise("ValueError", "%S: expected shape %h (%s%i dim%s), got %l (%i dim%s)", shape,
                      open ? "at least " : kNoText, want, want == 1 ? kNoText : "s", t.shape, t.ndim, int64_t{t.ndim},
                      t.ndim == 1 ? kNoText : "s");
  }
  KP_COLD int WrongDim(const uint32_t* shape, const KpDLTensor& t, uint32_t i, int64_t want) const {
    const uint32_t dim = GetDims(shape)[i];
    const uint32_t operand = Operand(dim);
    const DimOp op = GetDimOp(dim);
    const Misfit misfit{shape, t, i, want};
    if (op == DimOp::kConst) {
      return say_.Raise("ValueError", "%S: expected shape %h, got %l%p", shape, t.shape, t.ndim, &misfit);
    }
    if (op == DimOp::kCode) {
      return say_.Raise("ValueError", "%S: expected shape %h with %i at dim %i%f, got %l%p", shape, want,
                        int64_t{i} - GetNumDims(shape), Value::kOk, p_.words + operand, 1u, t.shape, t.ndim, &misfit);
    }
    if (op == DimOp::kVar) {
      return say_.Raise("ValueError", "%S: expected shape %h with %s = %x%b, got %l%p", shape, p_.DimName(operand),
                        want, dim, t.shape, t.ndim, &misfit);
    }
    return say_.Raise("ValueError", "%S: expected shape %h with %s = %i, got %l%p", shape,
                      p_.ParamName(p_.IntParam(operand)), want, t.shape, t.ndim, &misfit);
  }
  KP_COLD int WrongBatch(const uint32_t* shape, const KpDLTensor& t) const {
    const Misfit misfit{shape, t, Misfit::kBatch, 0};
    return say_.Raise("ValueError", "%S: expected shape %h with ... = %l%b%s, got %l%p", shape, f_.batch_shape,
                      f_.batch_ndim, ComplainOf<Extents>::kBatchBinder,
                      GetBatch(shape) == Batch::kBroadcast ? " or 1 in place of any of these" : kNoText, t.shape,
                      t.ndim, &misfit);
  }
  KP_COLD int WrongStar(const uint32_t* shape, const KpDLTensor& t, uint32_t i) const {
    const uint32_t dim = GetDims(shape)[i];
    const uint32_t star = Operand(dim);
    const Misfit misfit{shape, t, i, 0};
    return say_.Raise("ValueError", "%S: expected shape %h with %s = %l%b, got %l%p", shape, p_.StarName(star),
                      f_.star_shape[star], f_.star_ndim[star], dim, t.shape, t.ndim, &misfit);
  }

  int CheckMemory(uint32_t flags, const KpDLTensor& t) {
    const Layout layout = GetLayout(t);
    if (KP_UNLIKELY(!layout.sane) && !extents_.MayBeSane(t)) {
      return say_.Raise("ValueError", "%S: expected sizes of at least 0 whose product fits 64 bits, got %l", t.shape,
                        t.ndim);
    }
    if (abstract_) return 0;
    if (KP_UNLIKELY(!layout.contiguous && !(flags & KP_PARAM_STRIDED))) {
      return say_.Raise("ValueError",
                        "%S: expected a contiguous tensor, got shape %l with strides %l: pass a contiguous one (torch: "
                        "x.contiguous(), NumPy: np.ascontiguousarray(x))",
                        t.shape, t.ndim, t.strides, t.ndim);
    }
    if (flags & KP_PARAM_ON_CPU) {
      if (t.device.device_type != KP_DEVICE_CPU) {
        return say_.Raise("ValueError", "%S: expected device cpu, got %D: call .cpu() first", t.device);
      }
    } else if (!f_.device.device_type) {
      if (KP_UNLIKELY(t.device.device_type <= 0)) {
        return say_.Raise("ValueError", "%S: expected a device, got device type %i, which DLPack doesn't define",
                          int64_t{t.device.device_type});
      }
      f_.device = t.device;
      device_from_ = say_.who;
    } else if (KP_UNLIKELY(t.device.device_type != f_.device.device_type ||
                           t.device.device_id != f_.device.device_id)) {
      return say_.Raise("ValueError", "%S: expected device %D (that of %n), got %D: move one of them", f_.device,
                        device_from_, t.device);
    }
    if (KP_UNLIKELY(!t.data && !layout.empty)) {
      return say_.Raise("ValueError",
                        "%S: expected a tensor with memory, got one whose data is NULL (a fake or meta tensor?)");
    }
    if (t.device.device_type != KP_DEVICE_CPU) return 0;
    const uint32_t unit = Alignment(t.dtype);
    uint64_t address = 0;
    if (KP_UNLIKELY(__builtin_add_overflow(reinterpret_cast<uintptr_t>(t.data), t.byte_offset, &address))) {
      return say_.Raise("ValueError", "%S: expected a byte_offset from 0 that stays in memory, got %i",
                        static_cast<int64_t>(t.byte_offset));
    }
    if (KP_UNLIKELY((address & (unit - 1)) != 0)) {
      return say_.Raise("ValueError",
                        "%S: expected memory aligned to %i bytes, got an address that is not: pass a copy",
                        int64_t{unit});
    }
    return 0;
  }

  // Where no tensor fixed the device, a device parameter does, then `on`.
  int SettleDevice() {
    const int32_t on = p_.OnDeviceType();
    for (int i = 0; i < p_.NumParams() && !f_.device.device_type; ++i) {
      if (f_.args[i].type_index == KP_TYPE_DEVICE) f_.device = f_.args[i].v.v_device;
    }
    if (on && !f_.device.device_type) f_.device = KpDLDevice{on, 0};
    if (KP_LIKELY(!on || on == f_.device.device_type || abstract_)) return 0;
    return say_.Raise("ValueError", "expected tensors on %s, got %D: the function runs on %s only", p_.OnDeviceName(),
                      f_.device, p_.OnDeviceName());
  }

  KP_COLD int CheckCondition(const uint32_t* record) const {
    const uint32_t* code = record + 1;
    const uint32_t relations = *record >> 16;
    int64_t left = 0;
    Value value = Evaluate(f_, &code, &left, extents_);
    bool holds = true;
    for (uint32_t i = 0; i < relations; ++i) {
      const Relation relation = static_cast<Relation>(*code++);
      int64_t right = 0;
      const Value next = Evaluate(f_, &code, &right, extents_);
      if (value == Value::kOk || next == Value::kUnbound) value = next;
      holds &= Holds(relation, left, right);
      left = right;
    }
    // kUnbound: an optional parameter that would bind a dim that it names, maybe its last, is absent.
    if (value == Value::kUnbound || (value == Value::kOk && holds)) return 0;
    return say_.Raise("ValueError", "expected %s, got %w", p_.Text(*record), value, record + 1, relations + 1);
  }

  KP_COLD int CheckDestination(int i) {
    int64_t shape[KP_MAX_NDIM];
    KpDLTensor want;
    say_.who = p_.NumParams() + i;
    say_.item = -1;
    const KpDLTensor* t = kp_any_tensor(&results_[i]);
    if (!t) {
      return say_.Raise("TypeError", "%S: expected a tensor of shape %h, got %t", p_.words + p_.Result(i)[2],
                        &results_[i]);
    }
    if (ResultPrototype(f_, say_.function, i, say_.raiser, shape, &want, extents_)) return -1;
    if (PackDType(t->dtype) != PackDType(want.dtype) || t->dtype.lanes != 1) {
      return say_.Raise("TypeError", "%S: expected dtype %d, got %d", want.dtype, t->dtype);
    }
    // NOLINTBEGIN(clang-analyzer-core.CallAndMessage): ResultPrototype has filled `want` and `shape`
    if (t->ndim < 0 || (t->ndim && !t->shape) || !MeetSizes(t->shape, t->ndim, shape, want.ndim)) {
      return say_.Raise("ValueError", "%S: expected shape %h = %l, got %l", p_.words + p_.Result(i)[2], shape,
                        want.ndim, t->shape, t->shape && t->ndim > 0 && t->ndim <= KP_MAX_NDIM ? t->ndim : 0);
    }
    // NOLINTEND(clang-analyzer-core.CallAndMessage)
    return CheckMemory(0, *t);
  }

  // A written tensor must not share memory with another argument.
  int CheckOverlaps() {
    const int params = p_.NumParams();
    const int all = params + (results_ ? p_.NumResults() : 0);
    say_.item = -1;
    for (int i = 0; i < all; ++i) {
      if (!Written(i)) continue;
      if (KP_UNLIKELY(i < params && (GetFlags(p_.Param(i)) & KP_PARAM_LIST))) return CheckOverlapsOfMany(all);
      const KpDLTensor* written = kp_any_tensor(GetItems(i).at);
      if (!written) continue;
      say_.who = i;
      const Sharing itself = OverlapWithItself(*written);
      if (KP_UNLIKELY(itself != Sharing::kNone)) return SharesItsElements(*written, itself);
      const Range range = GetRange(*written);
      for (int j = 0; j < all; ++j) {
        if (j == i || !HoldsTensors(j)) continue;
        const Items items = GetItems(j);
        for (int64_t k = 0; k < items.count; ++k) {
          const KpDLTensor* other = kp_any_tensor(&items.at[k]);
          const Sharing found = other ? Overlap(*written, range, *other) : Sharing::kNone;
          if (KP_UNLIKELY(found != Sharing::kNone)) return SharesMemory(j, -1, found);
        }
      }
    }
    return 0;
  }

  // The same where a list is written: it may have hundreds of items, so what they reach is sorted instead of compared in pairs.
  KP_COLD int CheckOverlapsOfMany(int all) {
    size_t count = 0;
    for (int i = 0; i < all; ++i) count += HoldsTensors(i) ? static_cast<size_t>(GetItems(i).count) : 0;
    Reach few[32];
    Reach* const reaches = count > 32 ? static_cast<Reach*>(malloc(count * sizeof(Reach))) : few;
    if (!reaches) return say_.Raise("MemoryError", "%i bytes", static_cast<int64_t>(count * sizeof(Reach)));
    const int rc = CheckReaches(all, reaches);
    if (reaches != few) free(reaches);
    return rc;
  }

  int CheckReaches(int all, Reach* reaches) {
    size_t count = 0;
    for (int i = 0; i < all; ++i) {
      if (!HoldsTensors(i)) continue;
      const bool written = Written(i);
      const Items items = GetItems(i);
      for (int64_t k = 0; k < items.count; ++k) {
        const KpDLTensor* t = kp_any_tensor(&items.at[k]);
        if (!t) continue;
        say_.who = i;
        say_.item = i < p_.NumParams() && (GetFlags(p_.Param(i)) & KP_PARAM_LIST) ? k : -1;
        const Sharing itself = written ? OverlapWithItself(*t) : Sharing::kNone;
        if (itself != Sharing::kNone) return SharesItsElements(*t, itself);
        reaches[count] = Reach{GetRange(*t), t, say_.item, i, written, 0};
        if (reaches[count].range.begin != reaches[count].range.end) ++count;
      }
    }
    const Reach *written = nullptr, *other = nullptr;
    const Sharing found = FindOverlap(reaches, count, &written, &other);
    if (found == Sharing::kNone) return 0;
    say_.who = written->who;
    say_.item = written->item;
    return SharesMemory(other->who, other->item, found);
  }

  bool Written(int index) const { return index >= p_.NumParams() || (GetFlags(p_.Param(index)) & KP_PARAM_MUTATED); }
  bool HoldsTensors(int index) const { return index >= p_.NumParams() || GetKind(p_.Param(index)) == KP_PARAM_TENSOR; }

  KP_COLD int SharesItsElements(const KpDLTensor& t, Sharing found) const {
    for (int32_t i = 0; i < t.ndim; ++i) {
      if (t.strides[i] != 0 || t.shape[i] == 1) continue;
      return say_.Raise("ValueError",
                        "%S: expected each element to have memory of its own to write to, got a tensor with elements "
                        "that share it (a stride of 0): pass a copy");
    }
    return say_.Raise(
        "ValueError",
        "%S: expected each element to have memory of its own to write to, got shape %l with strides %l, "
        "where elements %s: pass a copy",
        t.shape, t.ndim, t.strides, t.ndim,
        found == Sharing::kSome ? "share it" : "may share it (the search for such elements was given up)");
  }

  KP_COLD int SharesMemory(int other, int64_t item, Sharing found) const {
    Text place;  // in a list
    if (item >= 0) place << '[' << item << ']';
    return say_.Raise("ValueError",
                      "%S: expected memory of its own to write to, got a tensor that %s %n%s%s: pass a copy",
                      found == Sharing::kSome ? "overlaps" : "may overlap", other, place.c_str(),
                      found == Sharing::kSome ? kNoText : " (the search for an element of both was given up)");
  }

  const View p_;
  KpSigFrame& f_;
  const KpAny* results_;
  const bool abstract_;
  const Extents extents_;
  bool waiting_ = false;  // something needs the second pass
  int device_from_ = 0;
  ComplainOf<Extents> say_;
};

// See kp_sig_check.
template <class Extents = KnownExtents>
inline int Check(const uint32_t* program, const char* function, const KpAny* args, const KpAny* results, uint32_t flags,
                 const Raiser& raiser, KpSigFrame* frame, const Extents& extents = Extents()) {
  return Checker<Extents>(program, function, args, results, flags, raiser, frame, extents).Run();
}

}  // namespace signature
KP_NAMESPACE_END

#endif  // KERNPACK_SIGNATURE_CHECK_H_
