// What a checked call needs allocated: its results and its workspace.
#ifndef KERNPACK_SIGNATURE_RESULT_H_
#define KERNPACK_SIGNATURE_RESULT_H_

#include <kernpack/signature/complain.h>

KP_NAMESPACE_BEGIN
namespace signature {

inline KpDLDataType ResultDType(const KpSigFrame& frame, uint32_t dtype) {
  const uint32_t index = dtype & 0xff;
  if (FormOf(dtype) == DTypeForm::kFixed) {
    return KpDLDataType{static_cast<uint8_t>(index), static_cast<uint8_t>(dtype >> 8 & 0xff), 1};
  }
  if (FormOf(dtype) == DTypeForm::kParam) return frame.args[index].v.v_dtype;
  KpDLDataType t = frame.dtypes[index];
  if (FormOf(dtype) == DTypeForm::kRealOf && t.code == KP_DTYPE_COMPLEX) {
    t.code = KP_DTYPE_FLOAT;
    t.bits = static_cast<uint8_t>(t.bits / 2);
  } else if (FormOf(dtype) == DTypeForm::kComplexOf && t.code == KP_DTYPE_FLOAT) {
    t.code = KP_DTYPE_COMPLEX;
    t.bits = static_cast<uint8_t>(t.bits * 2);
  }
  return t;
}

KP_COLD inline int BadSize(const Complain& say, int index, Value value, int64_t size) {
  const uint32_t* shape = say.p.words + say.p.Result(index)[2];
  const char* name = say.p.ResultName(index);
  if (value == Value::kOk) {
    return say.Raise("ValueError", "%s: expected shape %h with no negative dim, got %i", name, shape, size);
  }
  return say.Raise("ValueError", "%s: expected shape %h whose size fits 64 bits, got %v", name, shape, value, nullptr, 0u);
}

// See kp_sig_result_prototype.
inline int ResultPrototype(const KpSigFrame& frame, const char* function, int index, const Raiser& raiser, int64_t* shape,
                           KpDLTensor* out) {
  const View p{frame.program};
  const Complain say{p, function, raiser, frame};
  const uint32_t* record = p.Result(index);
  const uint32_t* contract = p.words + record[2];
  int32_t n = 0;
  int64_t elements = 1;
  bool empty = false;
  Value value = Value::kOk;
  auto add = [&](int64_t size) {
    if (n == KP_MAX_NDIM || size < 0) return false;
    shape[n++] = size;
    if (size == 0) empty = true;
    if (size && __builtin_mul_overflow(elements, size, &elements)) value = Value::kOverflow;
    return true;
  };
  if (BatchOf(contract) == Batch::kSame) {
    for (int32_t i = 0; i < frame.batch_ndim; ++i) {
      if (!add(frame.batch_shape[i])) return BadSize(say, index, Value::kOverflow, 0);
    }
  }
  for (uint32_t i = 0; i < NumDimsOf(contract); ++i) {
    const uint32_t dim = DimsOf(contract)[i];
    const uint32_t operand = Operand(dim);
    int64_t size = operand;
    if (DimOpOf(dim) == DimOp::kStar) {
      for (int32_t j = 0; j < frame.star_ndim[operand]; ++j) {
        if (!add(frame.star_shape[operand][j])) return BadSize(say, index, Value::kOverflow, 0);
      }
      continue;
    }
    if (DimOpOf(dim) == DimOp::kVar) size = frame.dims[operand];
    if (DimOpOf(dim) == DimOp::kInt) size = frame.args[p.IntParam(operand)].v.v_int;
    if (DimOpOf(dim) == DimOp::kCode) {
      const uint32_t* code = p.words + operand;
      const Value status = Evaluate(frame, &code, &size);
      if (status != Value::kOk) return BadSize(say, index, status, 0);
    }
    if (!add(size)) return BadSize(say, index, Value::kOk, size);
  }
  out->dtype = ResultDType(frame, record[1]);
  int64_t bits = 0;
  if (__builtin_mul_overflow(elements, int64_t{out->dtype.bits} * out->dtype.lanes, &bits)) value = Value::kOverflow;
  if (value != Value::kOk && !empty) return BadSize(say, index, value, 0);
  out->data = nullptr;
  out->device = frame.device.device_type ? frame.device : KpDLDevice{KP_DEVICE_CPU, 0};
  out->ndim = n;
  out->shape = shape;
  out->strides = nullptr;
  out->byte_offset = 0;
  return 0;
}

// See kp_sig_workspace_bytes.
inline int WorkspaceBytes(const KpSigFrame& frame, const char* function, const Raiser& raiser, uint64_t* out) {
  const View p{frame.program};
  *out = 0;
  if (!p.HasWorkspace()) return 0;
  const uint32_t* code = p.words + p.words[kHeadWorkspace] + 1;
  int64_t bytes = 0;
  const Value value = Evaluate(frame, &code, &bytes);
  if (value != Value::kOk || bytes < 0) {
    const uint32_t* record = p.words + p.words[kHeadWorkspace];
    return Complain{p, function, raiser, frame}.Raise("ValueError", "expected workspace = %s from 0, got %i: %v",
                                                      p.Text(*record), bytes, value, record + 1, 1u);
  }
  *out = static_cast<uint64_t>(bytes);
  return 0;
}

}  // namespace signature
KP_NAMESPACE_END

#endif  // KERNPACK_SIGNATURE_RESULT_H_
