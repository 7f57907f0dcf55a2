// The error texts of a check: function, argument, what was expected, what came, what to do. All of it is off the hot path, and
// small: it is part of every module.
#ifndef KERNPACK_SIGNATURE_COMPLAIN_H_
#define KERNPACK_SIGNATURE_COMPLAIN_H_

#include <kernpack/device.h>
#include <kernpack/dtype.h>
#include <kernpack/signature/evaluate.h>

#include <stdarg.h>

KP_NAMESPACE_BEGIN
namespace signature {

// Where errors go: the host's raise, or a foreign host's. `kind` is NUL-terminated, text borrowed. Returns -1.
struct Raiser {
  void* self;
  int (*raise)(void* self, const char* kind, KpBytes text);
};

// Which value is meant: a parameter, an item of a list parameter (item >= 0), or a destination.
struct Subject {
  int index;
  int64_t item;
  bool result;
};

inline constexpr char kKindNames[][7] = {"tensor", "int", "float", "bool", "dtype", "device", "str"};
inline constexpr char kPlainTypes[][8] = {"None",   "int",    "bool", "float", "pointer", "dtype", "device",
                                          "Tensor", "str",    "bytes", "rvalue", "str",    "bytes"};
inline constexpr char kObjectTypes[][9] = {"object", "str",   "bytes", "Error",  "Function", "Shape",
                                           "Tensor", "Array", "Map",   "Module", "object",   "List"};

// What AddBinder looks for.
enum class Bound { kDim, kStar, kBatch, kDType };

struct Complain {
  View p;
  const char* function;
  const Raiser& raiser;
  const KpSigFrame& frame;

  // Raises "<function>: " and the format; returns -1. The format's directives and their arguments:
  //   %s const char*                  %i int64_t                     %q KpBytes const*
  //   %S Subject const*: its name     %h shape record: its text      %l int64_t const*, int32_t: [2, 3]
  //   %d KpDLDataType                 %D KpDLDevice                  %t KpAny const*: what type it has
  //   %b Bound, uint32_t: " (bound by x)"                            %c choices: "a", "b"
  //   %u set record: T in {f32, f16}
  //   %v Value, code, uint32_t: what went wrong, then the values that so many expressions name
  KP_COLD int Raise(const char* kind, const char* format, ...) const {
    Text text;
    va_list arguments;
    text << function << ": ";
    va_start(arguments, format);
    for (; *format; ++format) {
      if (*format != '%') {
        text << *format;
        continue;
      }
      switch (*++format) {
        case 's':
          text << va_arg(arguments, const char*);
          break;
        case 'i':
          text << va_arg(arguments, int64_t);
          break;
        case 'q':
          text << *va_arg(arguments, const KpBytes*);
          break;
        case 'S':
          AddSubject(text, *va_arg(arguments, const Subject*));
          break;
        case 'h':
          text << p.Text(va_arg(arguments, const uint32_t*)[1]);
          break;
        case 'l': {
          const int64_t* values = va_arg(arguments, const int64_t*);
          AddList(text, values, va_arg(arguments, int32_t));
          break;
        }
        case 'd':
          text << va_arg(arguments, KpDLDataType);
          break;
        case 'D':
          text << va_arg(arguments, KpDLDevice);
          break;
        case 't':
          text << TypeName(*va_arg(arguments, const KpAny*));
          break;
        case 'b': {
          const Bound what = va_arg(arguments, Bound);
          AddBinder(text, what, va_arg(arguments, uint32_t));
          break;
        }
        case 'c': {
          const uint32_t* choices = va_arg(arguments, const uint32_t*);
          for (uint32_t i = 0; i < *choices; ++i) text << (i ? ", \"" : "\"") << p.Text(choices[1 + i]) << '"';
          break;
        }
        case 'u':
          AddSet(text, va_arg(arguments, const uint32_t*));
          break;
        default: {
          const Value value = va_arg(arguments, Value);
          const uint32_t* code = va_arg(arguments, const uint32_t*);
          AddValues(text, value, code, va_arg(arguments, uint32_t));
        }
      }
    }
    va_end(arguments);
    return raiser.raise(raiser.self, kind, text.bytes());
  }

 private:
  KP_COLD void AddSubject(Text& text, const Subject& who) const {
    text << (who.result ? p.ResultName(who.index) : p.ParamName(who.index));
    if (who.item >= 0) text << '[' << who.item << ']';
  }

  KP_COLD static void AddList(Text& text, const int64_t* values, int32_t count) {
    text << '[';
    for (int32_t i = 0; i < count; ++i) text << (i ? ", " : "") << values[i];
    text << ']';
  }

  KP_COLD static const char* TypeName(const KpAny& a) {
    if (a.type_index >= 0 && a.type_index <= KP_TYPE_SMALL_BYTES) return kPlainTypes[a.type_index];
    if (a.type_index >= KP_TYPE_OBJECT && a.type_index <= KP_TYPE_LIST) return kObjectTypes[a.type_index - KP_TYPE_OBJECT];
    return "an object";
  }

  KP_COLD void AddSet(Text& text, const uint32_t* set) const {
    text << p.Text(*set) << " in ";
    if (!(*set >> 16)) text << "any";
    for (uint32_t i = 1; i <= *set >> 16; ++i) {
      text << (i == 1 ? "{" : ", ") << DType(static_cast<uint8_t>(set[i] & 0xff), static_cast<uint8_t>(set[i] >> 8));
    }
    if (*set >> 16) text << '}';
  }

  // The first tensor given that binds it.
  KP_COLD void AddBinder(Text& text, Bound what, uint32_t operand) const {
    for (int i = 0; i < p.NumParams(); ++i) {
      const uint32_t* param = p.Param(i);
      if (KindOf(param) != KP_PARAM_TENSOR || frame.args[i].type_index == KP_TYPE_NONE) continue;
      const uint32_t* shape = p.words + param[2];
      bool binds = false;
      if (what == Bound::kDType) {
        binds = FormOf(param[1]) == DTypeForm::kVar && (param[1] & 0xff) == operand && kp_any_tensor(&frame.args[i]);
      } else if (what == Bound::kBatch) {
        binds = BatchOf(shape) == Batch::kSame;
      } else {
        const DimOp op = what == Bound::kDim ? DimOp::kVar : DimOp::kStar;
        const uint32_t dim = static_cast<uint32_t>(op) | operand << 8;
        for (uint32_t j = 0; j < NumDimsOf(shape); ++j) binds |= DimsOf(shape)[j] == dim;
      }
      if (!binds) continue;
      text << " (bound by " << p.ParamName(i) << ')';
      return;
    }
  }

  // "a division by zero for k = 7, N = 5": what the expressions at `code` name.
  KP_COLD void AddValues(Text& text, Value value, const uint32_t* code, uint32_t expressions) const {
    const char* before = value == Value::kOk ? "" : " for ";
    if (value == Value::kZeroDivisor) text << "a division by zero";
    if (value == Value::kOverflow) text << "a value that does not fit 64 bits";
    uint64_t seen[2] = {0, 0};  // dims, ints
    while (expressions) {
      const Op op = static_cast<Op>(*code & 0xff);
      const uint32_t operand = Operand(*code++);
      if (op == Op::kWide) code += 2;
      if (op == Op::kEnd) {
        --expressions;
        ++code;  // a relation, or what follows the last one
      }
      if (op != Op::kDim && op != Op::kInt) continue;
      uint64_t& mask = seen[op == Op::kInt];
      if (mask >> operand & 1) continue;
      mask |= uint64_t{1} << operand;
      const int param = op == Op::kInt ? p.IntParam(operand) : 0;
      text << before << (op == Op::kInt ? p.ParamName(param) : p.DimName(operand)) << " = "
           << (op == Op::kInt ? frame.args[param].v.v_int : frame.dims[operand]);
      before = ", ";
    }
  }
};

}  // namespace signature
KP_NAMESPACE_END

#endif  // KERNPACK_SIGNATURE_COMPLAIN_H_
