// The memory that a checked call needs: its results and its workspace.
#ifndef KERNPACK_SIGNATURE_RESULT_H_
#define KERNPACK_SIGNATURE_RESULT_H_

#include <kernpack/signature/complain.h>

KP_NAMESPACE_BEGIN
namespace signature {

// lanes is 0 where a variable has no dtype yet.
inline KpDLDataType ResultDType(const KpSigFrame& frame, uint32_t dtype) {
  const uint32_t index = dtype & 0xff;
  const DTypeForm form = GetForm(dtype);
  if (form == DTypeForm::kFixed) return UnpackDType(dtype);
  if (form == DTypeForm::kParam) return frame.args[index].v.v_dtype;
  KpDLDataType t = frame.dtypes[index];
  if (form == DTypeForm::kRealOf && t.code == KP_DTYPE_COMPLEX) {
    t.code = KP_DTYPE_FLOAT;
    t.bits = static_cast<uint8_t>(t.bits / 2);
  } else if (form == DTypeForm::kComplexOf && t.code == KP_DTYPE_FLOAT) {
    t.code = KP_DTYPE_COMPLEX;
    t.bits = static_cast<uint8_t>(t.bits * 2);
  }
  return t;
}

// The value of a dim that is one size: neither _ nor a dims tuple. A variable's is an extent, which may be a symbol; the others are
// numbers.
template <class Extents = KnownExtents>
inline Value DimValue(const KpSigFrame& frame, uint32_t dim, int64_t* out, const Extents& extents = Extents()) {
  const View p{frame.program};
  const uint32_t operand = Operand(dim);
  switch (GetDimOp(dim)) {
    case DimOp::kVar:
      *out = frame.dims[operand];
      return frame.bound >> operand & 1 ? Value::kOk : Value::kUnbound;
    case DimOp::kInt: {
      const KpAny& a = frame.args[p.IntParam(operand)];
      *out = a.v.v_int;
      return extents.HasValue(a) ? Value::kOk : Value::kUnbound;
    }
    case DimOp::kCode: {
      const uint32_t* code = p.words + operand;
      return Evaluate(frame, &code, out, extents);
    }
    default:
      *out = operand;
      return Value::kOk;
  }
}

// Where the call runs: on its tensors' device; on the CPU where none fixed it.
inline KpDLDevice CallDevice(const KpSigFrame& frame) {
  return frame.device.device_type ? frame.device : KpDLDevice{KP_DEVICE_CPU, 0};
}

// Builds a result's shape.
template <class Extents>
class ShapeBuilder {
 public:
  ShapeBuilder(int64_t* shape, const Extents& extents) : shape_(shape), extents_(extents) {}
  int32_t ndim() const { return ndim_; }

  // A batch or dims tuple; count < 0: nothing bound it.
  Value Add(const int64_t* sizes, int32_t count) {
    if (count < 0) return Value::kUnbound;
    for (int32_t i = 0; i < count; ++i) {
      int64_t size = sizes[i];
      if (!extents_.Read(&size)) {
        counted_ = false;  // it may be 0, and then no size beside it is too large
      } else if (size < 0) {
        return Value::kNegative;
      }
      if (ndim_ == KP_MAX_NDIM) return Value::kOverflow;
      if (counted_ && (__builtin_mul_overflow(elements_, size, &elements_) || elements_ >> 56)) return Value::kOverflow;
      shape_[ndim_++] = size;
    }
    return Value::kOk;
  }

 private:
  int64_t* shape_;
  const Extents& extents_;
  int32_t ndim_ = 0;
  bool counted_ = true;  // elements_ is the product so far
  int64_t elements_ = 1;
};

template <class Extents>
KP_COLD inline int BadResult(ComplainOf<Extents> say, int index, const uint32_t* shape, uint32_t dim, Value value) {
  say.who = say.p.NumParams() + index;
  if (value == Value::kUnbound) {
    return say.Raise("ValueError",
                     "%S: expected arguments that fix its shape %h and dtype, got only empty lists or numbers", shape);
  }
  if (value == Value::kNegative) return say.Raise("ValueError", "%S: expected shape %h, got a negative size", shape);
  const bool code = GetDimOp(dim) == DimOp::kCode;
  return say.Raise("ValueError", "%S: expected shape %h, got %v", shape, value,
                   code ? say.p.words + Operand(dim) : say.p.words, code ? 1u : 0u);
}

// Describes the tensor of result `index`: dtype, ndim, shape (written to `shape`, length KP_MAX_NDIM), device. No strides.
template <class Extents = KnownExtents>
KP_COLD inline int ResultPrototype(const KpSigFrame& frame, const char* function, int index, const Raiser& raiser,
                                   int64_t* shape, KpDLTensor* out, const Extents& extents = Extents()) {
  const View p{frame.program};
  const uint32_t* record = p.Result(index);
  const uint32_t* contract = p.words + record[2];
  ShapeBuilder<Extents> builder(shape, extents);
  Value value = Value::kOk;
  uint32_t dim = 0;
  out->dtype = ResultDType(frame, record[1]);
  if (!out->dtype.lanes) value = Value::kUnbound;
  if (value == Value::kOk && GetBatch(contract) == Batch::kSame)
    value = builder.Add(frame.batch_shape, frame.batch_ndim);
  for (uint32_t i = 0; i < GetNumDims(contract) && value == Value::kOk; ++i) {
    dim = GetDims(contract)[i];
    if (GetDimOp(dim) == DimOp::kStar) {
      value = builder.Add(frame.star_shape[Operand(dim)], frame.star_ndim[Operand(dim)]);
      continue;
    }
    int64_t size = 0;
    value = DimValue(frame, dim, &size, extents);
    if (value == Value::kOk && size < 0 && GetDimOp(dim) != DimOp::kVar) value = Value::kNegative;
    if (value == Value::kUnbound && extents.Defer(&size)) value = Value::kOk;
    if (value == Value::kOk) value = builder.Add(&size, 1);
  }
  if (value != Value::kOk) {
    return BadResult(ComplainOf<Extents>{p, function, raiser, frame, 0, -1, extents}, index, contract, dim, value);
  }
  out->data = nullptr;
  out->device = CallDevice(frame);
  out->ndim = builder.ndim();
  out->shape = shape;
  out->strides = nullptr;
  out->byte_offset = 0;
  return 0;
}

// 0 bytes where the contract has no workspace.
template <class Extents = KnownExtents>
KP_COLD inline int WorkspaceBytes(const KpSigFrame& frame, const char* function, const Raiser& raiser, uint64_t* out,
                                  const Extents& extents = Extents()) {
  const View p{frame.program};
  *out = 0;
  if (!p.HasWorkspace()) return 0;
  const uint32_t* record = p.words + p.words[kHeadWorkspace];
  const uint32_t* code = record + 1;
  int64_t bytes = 0;
  Value value = Evaluate(frame, &code, &bytes, extents);
  if (value == Value::kOk && bytes >= 0) {
    *out = static_cast<uint64_t>(bytes);
    return 0;
  }
  const ComplainOf<Extents> say{p, function, raiser, frame, 0, -1, extents};
  if (value == Value::kUnbound) {
    if (extents.Defer(&bytes)) return 0;
    return say.Raise("ValueError", "expected arguments that fix workspace = %s, got only empty lists", p.Text(*record));
  }
  if (value != Value::kOk) {
    return say.Raise("ValueError", "expected workspace = %s to be at least 0 bytes, got %v", p.Text(*record), value,
                     record + 1, 1u);
  }
  return say.Raise("ValueError", "expected workspace = %s to be at least 0 bytes, got %i: %v", p.Text(*record), bytes,
                   value, record + 1, 1u);
}

}  // namespace signature
KP_NAMESPACE_END

#endif  // KERNPACK_SIGNATURE_RESULT_H_
