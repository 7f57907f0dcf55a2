// The error texts of a check: function, argument, what was expected, what came, what to do. All of it is off the hot path.
#ifndef KERNPACK_SIGNATURE_COMPLAIN_H_
#define KERNPACK_SIGNATURE_COMPLAIN_H_

#include <kernpack/signature/evaluate.h>
#include <kernpack/signature/message.h>

KP_NAMESPACE_BEGIN
namespace signature {

// Which value is meant: a parameter, an item of a list parameter (item >= 0), or a destination.
struct Subject {
  int index;
  int64_t item;
  bool result;
};

inline const char* KindName(uint32_t kind) {
  constexpr char kNames[][7] = {"tensor", "int", "float", "bool", "dtype", "device", "str"};
  return kNames[kind];
}

inline KpDLDataType ResultDType(const KpSigFrame& frame, uint32_t dtype) {
  const uint32_t index = dtype & 0xff;
  switch (FormOf(dtype)) {
    case DTypeForm::kFixed:
      return KpDLDataType{static_cast<uint8_t>(index), static_cast<uint8_t>(dtype >> 8 & 0xff), 1};
    case DTypeForm::kParam:
      return frame.args[index].v.v_dtype;
    default:
      break;
  }
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

// Each returns -1 with the error raised.
struct Complain {
  View p;
  const char* function;
  const Raiser& raiser;
  const KpSigFrame& frame;

  KP_COLD int Type(const Subject& who, const char* expected, const KpAny& got) const {
    Message m;
    Expected(m, who).Add(expected).Add(", got ").AddType(got);
    return m.Raise(raiser, "TypeError");
  }

  KP_COLD int NotATensor(const Subject& who, const uint32_t* record, const KpAny& got) const {
    Message m;
    Expected(m, who).Add("a tensor of shape ").Add(ShapeText(p.words + record[2])).Add(", got ").AddType(got);
    return m.Raise(raiser, "TypeError");
  }

  KP_COLD int Choice(const Subject& who, const uint32_t* choices, KpBytes got) const {
    Message m;
    Expected(m, who);
    for (uint32_t i = 0; i < *choices; ++i) m.Add(i ? ", \"" : "\"").Add(p.Text(choices[1 + i])).Add("\"");
    if (got.size > 64) got.size = 64;
    m.Add(", got \"").Add(got).Add("\"");
    return m.Raise(raiser, "ValueError");
  }

  KP_COLD int DType(const Subject& who, const uint32_t* record, KpDLDataType got) const {
    Message m;
    Expected(m, who).Add("dtype ");
    const uint32_t want = record[1];
    const uint32_t index = want & 0xff;
    if (FormOf(want) == DTypeForm::kFixed) {
      m.AddDType(signature::ResultDType(frame, want));
    } else {
      const uint32_t* set = p.DTypeSet(static_cast<int>(index));
      m.Add(p.Text(*set));
      if (frame.dtypes[index].lanes) {
        m.Add(" = ").AddDType(frame.dtypes[index]);
        AddBinder(m, [&](int i) { return FormOf(p.Param(i)[1]) == DTypeForm::kVar && (p.Param(i)[1] & 0xff) == index; });
      } else if (*set >> 16) {
        m.Add(" in {");
        for (uint32_t i = 1; i <= *set >> 16; ++i) {
          const KpDLDataType t{static_cast<uint8_t>(set[i] & 0xff), static_cast<uint8_t>(set[i] >> 8), 1};
          m.Add(i > 1 ? ", " : "").AddDType(t);
        }
        m.Add("}");
      } else {
        m.Add(" of one lane");
      }
    }
    m.Add(", got ").AddDType(got);
    return m.Raise(raiser, "TypeError");
  }

  KP_COLD int ResultDType(const Subject& who, KpDLDataType expected, KpDLDataType got) const {
    Message m;
    Expected(m, who).Add("dtype ").AddDType(expected).Add(", got ").AddDType(got);
    return m.Raise(raiser, "TypeError");
  }

  KP_COLD int Malformed(const Subject& who, const KpDLTensor& t) const {
    Message m;
    Expected(m, who).Add("a tensor of 0 to 64 dims with sizes that are not negative and fit 64 bits, got ");
    if (t.ndim < 0 || t.ndim > KP_MAX_NDIM) {
      m.Add(int64_t{t.ndim}).Add(" dims");
    } else if (!t.shape) {
      m.Add("no shape");
    } else {
      m.AddList(t.shape, t.ndim);
    }
    return m.Raise(raiser, "ValueError");
  }

  KP_COLD int Rank(const Subject& who, const uint32_t* shape, const KpDLTensor& t) const {
    Message m;
    const int64_t fixed = static_cast<int64_t>(NumDimsOf(shape)) - (StarOf(shape) >= 0);
    const bool open = BatchOf(shape) != Batch::kNone || StarOf(shape) >= 0;
    ExpectedShape(m, who, shape).Add(open ? " (at least " : " (").Add(fixed).Add(fixed == 1 ? " dim)" : " dims)");
    Got(m, t).Add(" (").Add(int64_t{t.ndim}).Add(t.ndim == 1 ? " dim)" : " dims)");
    return m.Raise(raiser, "ValueError");
  }

  KP_COLD int Dim(const Subject& who, const uint32_t* shape, const KpDLTensor& t, uint32_t dim, int64_t want) const {
    Message m;
    ExpectedShape(m, who, shape);
    const uint32_t operand = Operand(dim);
    if (DimOpOf(dim) == DimOp::kVar) {
      m.Add(" with ").Add(p.DimName(operand)).Add(" = ").Add(want);
      AddBinder(m, [&](int i) { return Binds(i, DimOp::kVar, operand); });
    } else if (DimOpOf(dim) == DimOp::kInt) {
      m.Add(" with ").Add(p.ParamName(p.IntParam(operand))).Add(" = ").Add(want);
    } else if (DimOpOf(dim) == DimOp::kCode) {
      int64_t position = 0;
      while (DimsOf(shape)[position] != dim) ++position;
      m.Add(" with ").Add(want).Add(" at dim ").Add(position - int64_t{NumDimsOf(shape)});
      AddValues(m, " for ", p.words + operand, 1);
    }
    Got(m, t);
    return m.Raise(raiser, "ValueError");
  }

  KP_COLD int Batch(const Subject& who, const uint32_t* shape, const KpDLTensor& t) const {
    Message m;
    ExpectedShape(m, who, shape).Add(" with ... = ").AddList(frame.batch_shape, frame.batch_ndim);
    AddBinder(m, [&](int i) { return BatchOf(p.words + p.Param(i)[2]) == signature::Batch::kSame; });
    if (BatchOf(shape) == signature::Batch::kBroadcast) m.Add(" or 1 in place of any of its dims");
    Got(m, t);
    return m.Raise(raiser, "ValueError");
  }

  KP_COLD int Star(const Subject& who, const uint32_t* shape, const KpDLTensor& t, uint32_t star) const {
    Message m;
    ExpectedShape(m, who, shape).Add(" with ").Add(p.StarName(star)).Add(" = ");
    m.AddList(frame.star_shape[star], frame.star_ndim[star]);
    AddBinder(m, [&](int i) { return Binds(i, DimOp::kStar, star); });
    Got(m, t);
    return m.Raise(raiser, "ValueError");
  }

  KP_COLD int NoValue(const Subject& who, const uint32_t* shape, uint32_t dim, Value value) const {
    Message m;
    ExpectedShape(m, who, shape).Add(", got ");
    AddFailure(m, value);
    AddValues(m, " for ", p.words + Operand(dim), 1);
    return m.Raise(raiser, "ValueError");
  }

  KP_COLD int Contiguous(const Subject& who, const KpDLTensor& t) const {
    Message m;
    Expected(m, who).Add("a contiguous tensor, got shape ").AddList(t.shape, t.ndim).Add(" with strides ");
    m.AddList(t.strides, t.ndim).Add(who.result ? ": pass a contiguous destination" : ": call .contiguous() on it first");
    return m.Raise(raiser, "ValueError");
  }

  KP_COLD int OnCpu(const Subject& who, const KpDLTensor& t) const {
    Message m;
    Expected(m, who).Add("a tensor on cpu, got one on ").AddDevice(t.device).Add(": call .cpu() on it first");
    return m.Raise(raiser, "ValueError");
  }

  KP_COLD int Device(const Subject& who, const KpDLTensor& t, const Subject& first) const {
    Message m;
    Expected(m, who).Add("device ").AddDevice(frame.device).Add(" (where ");
    AddSubject(m, first).Add(" is), got ").AddDevice(t.device).Add(": move one of them");
    return m.Raise(raiser, "ValueError");
  }

  KP_COLD int On(int32_t device_type) const {
    Message m;
    m.Add(function).Add(": expected tensors on ").AddDeviceType(device_type).Add(", got ").AddDevice(frame.device);
    m.Add(": this function runs on ").AddDeviceType(device_type).Add(" only");
    return m.Raise(raiser, "ValueError");
  }

  KP_COLD int NoMemory(const Subject& who) const {
    Message m;
    Expected(m, who).Add("a tensor with memory, got one whose data is NULL (a fake or meta tensor?)");
    return m.Raise(raiser, "ValueError");
  }

  KP_COLD int Aligned(const Subject& who, int64_t unit) const {
    Message m;
    Expected(m, who).Add("memory aligned to ").Add(unit).Add(" bytes, got an address that is not: copy it first");
    return m.Raise(raiser, "ValueError");
  }

  KP_COLD int Overlap(const Subject& written, const Subject& other) const {
    Message m;
    const bool itself = written.index == other.index && written.result == other.result;
    Expected(m, written).Add("memory of its own to write to, got a tensor that overlaps ");
    if (itself) {
      m.Add("itself (stride 0)");
    } else {
      AddSubject(m, other);
    }
    m.Add(": pass a copy");
    return m.Raise(raiser, "ValueError");
  }

  KP_COLD int NeedsItem(int result) const {
    Message m;
    m.Add(function).Add(": ").Add(p.ResultName(result)).Add(": expected arguments that fix its dtype and shape ");
    m.Add(ShapeText(p.words + p.Result(result)[2])).Add(", got only empty lists or plain numbers for them");
    return m.Raise(raiser, "ValueError");
  }

  // `value` is kOk when the condition was evaluated and does not hold.
  KP_COLD int Condition(const uint32_t* record, Value value) const {
    Message m;
    m.Add(function).Add(": expected ").Add(p.Text(*record)).Add(", got ");
    if (value != Value::kOk) AddFailure(m, value);
    AddValues(m, value != Value::kOk ? " for " : "", record + 1, (*record >> 16) + 1);
    return m.Raise(raiser, "ValueError");
  }

  KP_COLD int Result(int index, Value value, int64_t size) const {
    Message m;
    m.Add(function).Add(": ").Add(p.ResultName(index)).Add(": expected shape ");
    m.Add(ShapeText(p.words + p.Result(index)[2])).Add(" with sizes from 0 that fit 64 bits, got ");
    if (value == Value::kOk) {
      m.Add(size);
    } else {
      AddFailure(m, value);
    }
    return m.Raise(raiser, "ValueError");
  }

  KP_COLD int Workspace(Value value, int64_t size) const {
    Message m;
    const uint32_t* record = p.words + p.words[kHeadWorkspace];
    m.Add(function).Add(": expected workspace = ").Add(p.Text(*record)).Add(" to be a number of bytes from 0, got ");
    if (value == Value::kOk) {
      m.Add(size);
    } else {
      AddFailure(m, value);
    }
    AddValues(m, " for ", record + 1, 1);
    return m.Raise(raiser, "ValueError");
  }

 private:
  const char* ShapeText(const uint32_t* shape) const { return p.Text(shape[1]); }

  KP_COLD Message& AddSubject(Message& m, const Subject& who) const {
    m.Add(who.result ? p.ResultName(who.index) : p.ParamName(who.index));
    if (who.item >= 0) m.Add("[").Add(who.item).Add("]");
    return m;
  }
  KP_COLD Message& Expected(Message& m, const Subject& who) const {
    m.Add(function).Add(": ");
    return AddSubject(m, who).Add(": expected ");
  }
  KP_COLD Message& ExpectedShape(Message& m, const Subject& who, const uint32_t* shape) const {
    return Expected(m, who).Add("shape ").Add(ShapeText(shape));
  }
  KP_COLD static Message& Got(Message& m, const KpDLTensor& t) { return m.Add(", got ").AddList(t.shape, t.ndim); }

  static void AddFailure(Message& m, Value value) {
    m.Add(value == Value::kZeroDivisor ? "a division by zero" : "a value that does not fit 64 bits");
  }

  bool Binds(int param, DimOp op, uint32_t operand) const {
    const uint32_t* shape = p.words + p.Param(param)[2];
    for (uint32_t i = 0; i < NumDimsOf(shape); ++i) {
      if (DimOpOf(DimsOf(shape)[i]) == op && Operand(DimsOf(shape)[i]) == operand) return true;
    }
    return false;
  }

  // " (bound by x)": the first tensor given for which `binds` holds.
  template <class F>
  KP_COLD void AddBinder(Message& m, F binds) const {
    for (int i = 0; i < p.NumParams(); ++i) {
      const bool given = KindOf(p.Param(i)) == KP_PARAM_TENSOR && frame.args[i].type_index != KP_TYPE_NONE;
      if (!given || !binds(i)) continue;
      m.Add(" (bound by ").Add(p.ParamName(i)).Add(")");
      return;
    }
  }

  // "k = 7, N = 5": what the expressions at `code` name.
  KP_COLD void AddValues(Message& m, const char* before, const uint32_t* code, uint32_t expressions) const {
    uint64_t dims = 0;
    uint64_t ints = 0;
    while (expressions) {
      const Op op = static_cast<Op>(*code & 0xff);
      if (op == Op::kDim) dims |= uint64_t{1} << Operand(*code);
      if (op == Op::kInt) ints |= uint64_t{1} << Operand(*code);
      if (op == Op::kWide) code += 2;
      if (op == Op::kEnd) {
        --expressions;
        ++code;  // a relation, or beyond the end
      }
      ++code;
    }
    for (int i = 0; i < p.NumInts(); ++i) {
      if (!(ints >> i & 1)) continue;
      const int param = p.IntParam(static_cast<uint32_t>(i));
      m.Add(before).Add(p.ParamName(param)).Add(" = ").Add(frame.args[param].v.v_int);
      before = ", ";
    }
    for (int i = 0; i < p.NumDims(); ++i) {
      if (!(dims & frame.bound & uint64_t{1} << i)) continue;
      m.Add(before).Add(p.DimName(static_cast<uint32_t>(i))).Add(" = ").Add(frame.dims[i]);
      before = ", ";
    }
  }
};

}  // namespace signature
KP_NAMESPACE_END

#endif  // KERNPACK_SIGNATURE_COMPLAIN_H_
