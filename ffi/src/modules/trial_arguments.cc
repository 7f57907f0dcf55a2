#include "modules/trial_arguments.h"

#include <iterator>

#include <kernpack/dtype.h>
#include <kernpack/signature/result.h>
#include <kernpack/signature/sequence.h>

#include "modules/contracts.h"

namespace kernpack::host {
namespace {

using signature::Batch;
using signature::DimOp;
using signature::DTypeForm;
using signature::GetFlags;
using signature::GetForm;
using signature::GetKind;
using signature::Operand;

constexpr KpDLDataType kFloat32{KP_DTYPE_FLOAT, 32, 1};

// Sizes and dtypes of trial calls. The first sizes have no common divisors, so that a dim in the place of another is seen; the next are
// powers of two, which conditions as `D % G == 0` allow; the others are drawn from small numbers, the same on every machine.
class Numbers {
 public:
  explicit Numbers(Trial trial)
      : sizes_(static_cast<uint32_t>(trial.sizes)), dtypes_(static_cast<uint32_t>(trial.dtypes)) {}

  int64_t Dim(uint32_t index) const {
    static constexpr int kPrimes[] = {5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61};
    static constexpr int kPool[] = {2, 3, 4, 6, 8, 9, 12, 16, 24, 32, 64, 128, 256};
    if (sizes_ == 0) return kPrimes[index % std::size(kPrimes)];
    if (sizes_ == 1) return 128 >> index % 7;
    if (sizes_ == 2) return 2 << index % 7;
    if (sizes_ % 8 == 7) return Random(index) % 4 == 0 ? 1 : kPool[Random(index) % std::size(kPool)];
    const uint32_t step = 1 + sizes_ % (std::size(kPool) - 1);  // no divisor of the pool's size: dims differ
    return kPool[(Random(0) + index * step) % std::size(kPool)];
  }

  int64_t Int(uint32_t index) const {
    static constexpr int kPool[] = {0, 1, 2, 3, 4, 8};
    return sizes_ < 3 ? 2 - static_cast<int>(sizes_) % 2 : kPool[Random(index + 64) % std::size(kPool)];
  }

  // Defaults are tried in every other call.
  bool TakesDefaults() const { return sizes_ % 2 == 0; }

  // The number of dims that "..." (0) or a dims tuple (from 1) stands for: every pair of ranks comes.
  int32_t Rank(uint32_t of) const {
    static constexpr int kRanks[] = {1, 2, 0, 3};
    if (sizes_ < 4) return kRanks[(sizes_ + of) % 4];
    return static_cast<int32_t>(of == 0 ? sizes_ % 6 : (sizes_ / 6 + of - 1) % 6);
  }

  // Of `count` dtypes: those of two variables differ in every other call.
  uint32_t DType(uint32_t variable, uint32_t count) const {
    return (dtypes_ / 2 + (dtypes_ % 2 == 0 ? variable : 0)) % count;
  }

 private:
  uint32_t Random(uint32_t index) const {
    uint32_t x = (sizes_ * 97 + index + 1) * 2654435769u;
    x ^= x >> 15;
    x *= 2246822519u;
    return x ^ x >> 13;
  }

  uint32_t sizes_, dtypes_;
};

// The arguments of one call. Every dim is bound before the tensors are made, as sizes may be expressions of any dim.
class Maker {
 public:
  Maker(signature::View p, Trial trial, Arena* arena)
      : p_(p), numbers_(trial), arena_(*arena), args_(arena_.Take<KpAny>(static_cast<size_t>(p.NumParams()))) {}

  const KpAny* Make() {
    frame_.args = args_;
    frame_.program = p_.words;
    for (int i = 0; i < p_.NumParams(); ++i) {
      if (GetKind(p_.Param(i)) != KP_PARAM_TENSOR) args_[i] = Other(i);
    }
    BindDims();
    BindDTypes();
    for (int i = 0; i < p_.NumParams(); ++i) {
      if (GetKind(p_.Param(i)) == KP_PARAM_TENSOR && !Tensors(i)) return nullptr;
    }
    return args_;
  }

 private:
  void BindDims() {
    for (int i = 0; i < p_.NumDims(); ++i) frame_.dims[i] = numbers_.Dim(static_cast<uint32_t>(i));
    frame_.bound = ~uint64_t{0};
    frame_.batch_shape = Sizes(frame_.batch_ndim = numbers_.Rank(0), 2);
    for (int i = 0; i < p_.NumStars(); ++i) {
      const auto from = static_cast<uint32_t>(i) + 1;
      frame_.star_shape[i] = Sizes(frame_.star_ndim[i] = numbers_.Rank(from), 3 + i);
    }
  }

  int64_t* Sizes(int32_t count, int64_t first) {
    auto* sizes = arena_.Take<int64_t>(static_cast<size_t>(count));
    for (int32_t i = 0; i < count; ++i) sizes[i] = first + i % 3;
    return sizes;
  }

  void BindDTypes() {
    static constexpr KpDLDataType kAny[] = {
        kFloat32, {KP_DTYPE_FLOAT, 64, 1}, {KP_DTYPE_FLOAT, 16, 1}, {KP_DTYPE_BFLOAT, 16, 1}};
    for (int i = 0; i < p_.NumDTypes(); ++i) {
      const uint32_t* set = p_.DTypeSet(i);
      const uint32_t count = *set >> 16;
      const uint32_t choice = numbers_.DType(static_cast<uint32_t>(i), count ? count : std::size(kAny));
      frame_.dtypes[i] = count ? signature::UnpackDType(set[1 + choice]) : kAny[choice];
    }
  }

  KpAny Other(int param) {
    const uint32_t* record = p_.Param(param);
    const uint32_t flags = GetFlags(record);
    const bool is_int = GetKind(record) == KP_PARAM_INT;
    if ((flags & KP_PARAM_HAS_DEFAULT) && (numbers_.TakesDefaults() || !is_int)) return GetDefault(p_, param, &arena_);
    if (!(flags & KP_PARAM_LIST)) return Scalar(record, static_cast<uint32_t>(param));
    const uint32_t count = is_int && record[2] > 0 ? record[2] : 1;
    auto* items = arena_.Take<KpAny>(count);
    for (uint32_t i = 0; i < count; ++i) items[i] = Scalar(record, static_cast<uint32_t>(param) + i);
    return ListAny(items, count, &arena_);
  }

  KpAny Scalar(const uint32_t* record, uint32_t index) const {
    KpAny a = kp_none();
    switch (GetKind(record)) {
      case KP_PARAM_INT:
        return IntAny(numbers_.Int(index));
      case KP_PARAM_FLOAT:
        a.type_index = KP_TYPE_FLOAT;
        a.v.v_float = 1;
        break;
      case KP_PARAM_BOOL:
        a.type_index = KP_TYPE_BOOL;
        break;
      case KP_PARAM_DTYPE:
        a.type_index = KP_TYPE_DTYPE;
        a.v.v_dtype = kFloat32;
        break;
      case KP_PARAM_DEVICE:
        a.type_index = KP_TYPE_DEVICE;
        a.v.v_device = KpDLDevice{KP_DEVICE_CPU, 0};
        break;
      default:
        a.type_index = KP_TYPE_RAW_STR;
        a.v.v_c_str = record[2] ? p_.Text(p_.words[record[2] + 1]) : "";
    }
    return a;
  }

  // Items of a list may differ in dims written _.
  bool Tensors(int param) {
    const uint32_t* record = p_.Param(param);
    if (!(GetFlags(record) & KP_PARAM_LIST)) return Tensor(record, &args_[param]);
    auto* items = arena_.Take<KpAny>(2);
    if (!Tensor(record, &items[0]) || !Tensor(record, &items[1])) return false;
    args_[param] = ListAny(items, 2, &arena_);
    return true;
  }

  bool Tensor(const uint32_t* record, KpAny* out) {
    const uint32_t* shape = p_.words + record[2];
    auto* sizes = arena_.Take<int64_t>(KP_MAX_NDIM);
    const signature::KnownExtents known;
    signature::ShapeBuilder<signature::KnownExtents> builder(sizes, known);
    if (signature::GetBatch(shape) != Batch::kNone && !Add(&builder, frame_.batch_shape, frame_.batch_ndim))
      return false;
    for (uint32_t i = 0; i < signature::GetNumDims(shape); ++i) {
      const uint32_t dim = signature::GetDims(shape)[i];
      const uint32_t operand = Operand(dim);
      int64_t size = 0;
      if (signature::GetDimOp(dim) == DimOp::kStar) {
        if (!Add(&builder, frame_.star_shape[operand], frame_.star_ndim[operand])) return false;
        continue;
      }
      if (signature::GetDimOp(dim) == DimOp::kAny) {
        size = numbers_.Dim(KP_SIG_MAX_DIMS + any_++);
      } else if (signature::DimValue(frame_, dim, &size) != signature::Value::kOk) {
        return false;
      }
      if (!Add(&builder, &size, 1)) return false;
    }
    KpDLTensor tensor{};
    tensor.dtype = signature::ResultDType(frame_, record[1]);
    tensor.device = KpDLDevice{p_.OnDeviceType() != 0 ? p_.OnDeviceType() : int32_t{KP_DEVICE_CPU}, 0};
    tensor.ndim = builder.ndim();
    tensor.shape = sizes;
    *out = TensorAny(tensor, &arena_);
    return true;
  }

  static bool Add(signature::ShapeBuilder<signature::KnownExtents>* builder, const int64_t* sizes, int32_t count) {
    return builder->Add(sizes, count) == signature::Value::kOk;
  }

  signature::View p_;
  Numbers numbers_;
  Arena& arena_;
  KpAny* args_;
  KpSigFrame frame_{};
  uint32_t any_ = 0;  // dims written _ so far
};

}  // namespace

KpAny IntAny(int64_t value) {
  KpAny a = kp_none();
  a.type_index = KP_TYPE_INT;
  a.v.v_int = value;
  return a;
}

KpAny TensorAny(const KpDLTensor& prototype, Arena* arena) {
  KpAny a = kp_none();
  a.type_index = KP_TYPE_DLTENSOR_PTR;
  a.v.v_tensor = arena->Take<KpDLTensor>(1);
  *a.v.v_tensor = prototype;
  return a;
}

KpAny ListAny(KpAny* items, int64_t count, Arena* arena) {
  auto* list = arena->Take<KpSequenceObject>(1);
  list->data = items;
  list->size = list->capacity = count;
  KpAny a = kp_none();
  a.type_index = KP_TYPE_ARRAY;
  a.v.v_obj = &list->header;
  return a;
}

KpAny FirstItem(const KpAny& list) { return reinterpret_cast<const KpSequenceObject*>(list.v.v_obj)->data[0]; }

KpAny GetDefault(signature::View view, int param, Arena* arena) {
  const uint32_t offset = view.Param(param)[3];
  if (offset == 0) return kp_none();
  const uint32_t* at = view.words + offset;
  if ((*at & 0xff) != signature::kListDefault) return signature::ReadDefault(view, at);
  const uint32_t count = Operand(*at);
  auto* items = arena->Take<KpAny>(count);
  for (uint32_t i = 0; i < count; ++i) items[i] = signature::ReadDefault(view, at + 1 + 3 * i);
  return ListAny(items, count, arena);
}

const KpAny* TrialArguments(signature::View view, Trial trial, Arena* arena) {
  return Maker(view, trial, arena).Make();
}

bool IsGeneric(signature::View view, Trial trial) {
  const Numbers numbers(trial);
  const auto count = static_cast<uint32_t>(view.NumDims());
  for (uint32_t i = 0; i < count; ++i) {
    bool alone = numbers.Dim(i) > 1;
    for (uint32_t j = 0; j < i; ++j) alone = alone && numbers.Dim(i) != numbers.Dim(j);
    if (!alone) return false;
  }
  return true;
}

}  // namespace kernpack::host
