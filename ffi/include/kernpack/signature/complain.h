// The error texts of a check: function, argument, what was expected, what came. Off the hot path, and small: it is part of
// every module.
#ifndef KERNPACK_SIGNATURE_COMPLAIN_H_
#define KERNPACK_SIGNATURE_COMPLAIN_H_

#include <kernpack/device.h>
#include <kernpack/dtype.h>
#include <kernpack/signature/evaluate.h>
#include <kernpack/value_names.h>

#include <stdarg.h>

KP_NAMESPACE_BEGIN
namespace signature {

// Where errors go: the host's raise, or a foreign host's. `kind` is NUL-terminated, text borrowed. Returns -1.
struct Raiser {
  void* self;
  int (*raise)(void* self, const char* kind, KpBytes text);
};

// Sizes of a tensor that don't fit its shape in the contract, for a drawing.
struct Misfit {
  static constexpr uint32_t kBatch = ~0u;
  const uint32_t* shape;
  const KpDLTensor& tensor;
  uint32_t dim;  // the number of the dim in `shape`, or kBatch
  int64_t want;  // of a dim that is one size
};

inline constexpr char kKindNames[][7] = {"tensor", "int", "float", "bool", "dtype", "device", "str"};
inline constexpr char kNoText[] = "";

// A checked call as its errors speak of it.
template <class Extents = KnownExtents>
struct ComplainOf {
  View p;
  const char* function;
  const Raiser& raiser;
  const KpSigFrame& frame;
  int who = 0;  // the parameter at hand, or number of parameters + the result
  int64_t item = -1;  // of a list parameter
  Extents extents{};

  // Raises "<function>: " and the format; returns -1. The format's directives and their arguments:
  //   %S the parameter or result at hand    %s const char*          %i int64_t           %q KpBytes const*
  //   %x int64_t: an extent
  //   %h shape record: its text             %l int64_t const*, int32_t: [2, 3]           %t KpAny const*: its type
  //   %d KpDLDataType                       %D KpDLDevice           %u set record: T in {f32, f16}
  //   %c choices: "a", "b"                  %n int: as who          %b uint32_t: " (bound by x)", see AddBinder
  //   %v Value, code, uint32_t: what went wrong, then the values that so many expressions name    %f the same behind " for "
  //   %w as %v, with the parameter that each dim comes from
  //   %p Misfit const*: lines with a drawing, in hosts that draw    %a: a line about converting an argument, in these hosts
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
        case 'S':
          text << GetName(who);
          if (item >= 0) text << '[' << item << ']';
          break;
        case 'n':
          text << GetName(va_arg(arguments, int));
          break;
        case 's':
          text << va_arg(arguments, const char*);
          break;
        case 'i':
          text << va_arg(arguments, int64_t);
          break;
        case 'x':
          extents.Print(text, va_arg(arguments, int64_t));
          break;
        case 'q':
          text << *va_arg(arguments, const KpBytes*);
          break;
        case 'h':
          text << p.Text(va_arg(arguments, const uint32_t*)[1]);
          break;
        case 'l': {
          const int64_t* values = va_arg(arguments, const int64_t*);
          const int32_t count = va_arg(arguments, int32_t);
          text << '[';
          for (int32_t i = 0; i < count; ++i) {
            text << (i ? ", " : kNoText);
            extents.Print(text, values[i]);
          }
          text << ']';
          break;
        }
        case 'd':
          text << va_arg(arguments, KpDLDataType);
          break;
        case 'D':
          text << va_arg(arguments, KpDLDevice);
          break;
        case 't':
          text << kp_value_type_name(va_arg(arguments, const KpAny*)->type_index);
          break;
        case 'b':
          AddBinder(text, va_arg(arguments, uint32_t));
          break;
        case 'p':
          extents.Draw(text, *this, *va_arg(arguments, const Misfit*));
          break;
        case 'a':
          extents.AdviseToConvert(text);
          break;
        case 'c':
          AddChoices(text, va_arg(arguments, const uint32_t*));
          break;
        case 'u':
          AddSet(text, va_arg(arguments, const uint32_t*));
          break;
        default: {
          const Value value = va_arg(arguments, Value);
          const uint32_t* code = va_arg(arguments, const uint32_t*);
          AddValues(text, value, code, va_arg(arguments, uint32_t),
                    *format == 'f' || value != Value::kOk ? " for " : kNoText, *format == 'w');
        }
      }
    }
    va_end(arguments);
    return raiser.raise(raiser.self, kind, text.bytes());
  }

  // For %b: a dim word (DimOp::kVar or kStar), or one of these, which aren't a DimOp.
  static constexpr uint32_t kBatchBinder = 0xfe;
  static constexpr uint32_t kDTypeBinder = 0xff;  // | variable << 8

  const char* GetName(int index) const {
    return index < p.NumParams() ? p.ParamName(index) : p.ResultName(index - p.NumParams());
  }

  // The first tensor given that binds it; of a list the first item. NULL where none does. `what`: as for %b.
  KP_COLD const KpDLTensor* FindBinder(uint32_t what, int* index) const {
    for (int i = 0; i < p.NumParams(); ++i) {
      const uint32_t* param = p.Param(i);
      if (GetKind(param) != KP_PARAM_TENSOR || !extents.HasType(frame.args[i])) continue;
      const KpDLTensor* t = FirstTensor(frame.args[i]);
      if (!t) continue;
      const uint32_t* shape = p.words + param[2];
      bool binds = what == kBatchBinder && GetBatch(shape) == Batch::kSame;
      for (uint32_t j = 0; j < GetNumDims(shape); ++j) binds |= GetDims(shape)[j] == what;
      if (!extents.HasDims(*t)) binds = false;
      if (GetForm(param[1]) == DTypeForm::kVar) binds |= what == (kDTypeBinder | (param[1] & 0xff) << 8);
      if (!binds) continue;
      *index = i;
      return t;
    }
    return nullptr;
  }

 private:
  static const KpDLTensor* FirstTensor(const KpAny& a) {
    if (a.type_index != KP_TYPE_ARRAY && a.type_index != KP_TYPE_LIST) return kp_any_tensor(&a);
    const auto* list = reinterpret_cast<const KpSequenceObject*>(a.v.v_obj);
    for (int64_t i = 0; list && i < list->size; ++i) {
      if (const KpDLTensor* t = kp_any_tensor(&list->data[i])) return t;
    }
    return nullptr;
  }

  KP_COLD void AddChoices(Text& text, const uint32_t* choices) const {
    for (uint32_t i = 1; i <= *choices; ++i) text << (i == 1 ? "\"" : ", \"") << p.Text(choices[i]) << '"';
  }

  KP_COLD void AddSet(Text& text, const uint32_t* set) const {
    const uint32_t count = *set >> 16;
    text << p.Text(*set) << (count ? " in {" : " in any");
    for (uint32_t i = 1; i <= count; ++i) text << (i == 1 ? kNoText : ", ") << UnpackDType(set[i]);
    if (count) text << '}';
  }

  KP_COLD void AddBinder(Text& text, uint32_t what) const {
    int index = 0;
    if (FindBinder(what, &index)) text << " (bound by " << p.ParamName(index) << ')';
  }

  // True if no earlier word equals the word at `at`. The payload of a kWide may look like it; then an item isn't named.
  static bool IsFirst(const uint32_t* begin, const uint32_t* at) {
    for (; begin != at; ++begin) {
      if (*begin == *at) return false;
    }
    return true;
  }

  // "a division by zero for k = 7, N = 5": what the expressions at `code` name.
  KP_COLD void AddValues(Text& text, Value value, const uint32_t* code, uint32_t expressions, const char* before,
                         bool with_binders) const {
    if (value == Value::kZeroDivisor) text << "a division by zero";
    if (value == Value::kOverflow) text << "a value that does not fit 64 bits";
    uint64_t seen[2] = {0, 0};  // dims, ints
    const uint32_t* const begin = code;
    while (expressions) {
      const Op op = static_cast<Op>(*code & 0xff);
      const uint32_t operand = Operand(*code++);
      if (op == Op::kWide) code += 2;
      if (op == Op::kEnd) {
        --expressions;
        ++code;  // a relation, or what follows the last one
      }
      if (op == Op::kItem) {
        const int list = p.IntParam(operand & 0xff);
        const KpAny* given = IsFirst(begin, code - 1) ? ItemAt(frame.args[list], operand >> 8) : nullptr;
        if (!given || !extents.HasValue(*given)) continue;
        text << before << p.ParamName(list) << '[' << int64_t{operand >> 8} << "] = " << given->v.v_int;
        before = ", ";
        continue;
      }
      const bool is_int = op == Op::kInt;
      if (op == Op::kDim && !(frame.bound >> operand & 1)) continue;
      if ((op != Op::kDim && !is_int) || (seen[is_int] >> operand & 1)) continue;
      seen[is_int] |= uint64_t{1} << operand;
      const int param = is_int ? p.IntParam(operand) : 0;
      text << before << (is_int ? p.ParamName(param) : p.DimName(operand)) << " = ";
      if (is_int) {
        text << frame.args[param].v.v_int;
      } else {
        extents.Print(text, frame.dims[operand]);
        if (with_binders) AddBinder(text, static_cast<uint32_t>(DimOp::kVar) | operand << 8);
      }
      before = ", ";
    }
  }
};

using Complain = ComplainOf<>;

}  // namespace signature
KP_NAMESPACE_END

#endif  // KERNPACK_SIGNATURE_COMPLAIN_H_
