#include "program/call_types.h"

#include <kernpack/sdk/ir/type.h>
#include <kernpack/signature/result.h>
#include <kernpack/signature/sequence.h>

#include <algorithm>

namespace kernpack::sdk::program {
namespace {

using signature::Batch;
using signature::DimOp;
using signature::Op;
using signature::Operand;

using Dims = std::vector<Dim>;

// The parts of a signature that arguments bind, as signature/check.h binds them from values.
class Matching {
 public:
  Matching(signature::View view, const std::vector<Argument>& args) : view_(view), args_(args), frame_{} {
    for (KpAny& a : values_) a = kp_none();
    frame_.program = view.words;
    frame_.args = values_;
  }

  // Empty when every argument fits.
  std::string Run() {
    for (int i = 0; i < view_.NumParams(); ++i) NoteValue(i);
    for (size_t i = 0; i < args_.size(); ++i) {
      const std::string problem = MatchParam(static_cast<int>(i), *args_[i].type);
      if (!problem.empty()) return std::string(view_.ParamName(static_cast<int>(i))) + ": " + problem;
    }
    for (int i = 0; i < view_.NumDims(); ++i) {
      if (!dims_[i].is_constant()) continue;
      frame_.bound |= uint64_t{1} << i;
      frame_.dims[i] = dims_[i].extent;
    }
    return "";
  }

  // After Run().
  Type ResultType(int i) const {
    const uint32_t* record = view_.Result(i);
    const bool dtype_unknown =
        signature::FormOf(record[1]) == signature::DTypeForm::kParam && !known_[record[1] & 0xff];
    const DType dtype = dtype_unknown ? DType() : DType(signature::ResultDType(frame_, record[1]));
    if (dtype_unknown || dtype.lanes == 0) return Type::Unknown();
    const uint32_t* shape = view_.words + record[2];
    Dims dims;
    const auto append = [&dims](const std::optional<Dims>& more) {
      if (more) dims.insert(dims.end(), more->begin(), more->end());
      return more.has_value();
    };
    if (signature::BatchOf(shape) != Batch::kNone && !append(batch_)) return Type::Tensor(dtype);
    for (uint32_t d = 0; d < signature::NumDimsOf(shape); ++d) {
      const uint32_t word = signature::DimsOf(shape)[d];
      if (signature::DimOpOf(word) != DimOp::kStar) {
        dims.push_back(DimOf(word));
      } else if (!append(stars_[Operand(word)])) {
        return Type::Tensor(dtype);
      }
    }
    return Type::Tensor(dtype, std::move(dims));
  }

 private:
  const signature::View view_;
  const std::vector<Argument>& args_;
  KpSigFrame frame_;  // what is constant
  KpAny values_[KP_SIG_MAX_PARAMS];
  bool known_[KP_SIG_MAX_PARAMS] = {};  // whether values_[i] is the parameter's
  Dim dims_[KP_SIG_MAX_DIMS];
  std::optional<Dims> batch_;
  std::optional<Dims> stars_[signature::kMaxStars];

  // What expressions and dtype parameters may refer to: constants, and the defaults of what is left out.
  void NoteValue(int i) {
    KpAny& value = values_[i];
    if (static_cast<size_t>(i) >= args_.size()) {
      const uint32_t at = view_.Param(i)[3];
      if (at && (view_.words[at] & 0xff) != signature::kListDefault) value = ReadDefault(view_, view_.words + at);
      known_[i] = true;
    } else if (const Constant* constant = args_[static_cast<size_t>(i)].constant) {
      const auto* number = std::get_if<int64_t>(constant);
      const auto* dtype = std::get_if<DType>(constant);
      if (number) {
        value.type_index = KP_TYPE_INT;
        value.v.v_int = *number;
      } else if (dtype) {
        value.type_index = KP_TYPE_DTYPE;
        value.v.v_dtype = *dtype;
      }
      known_[i] = number || dtype;
    }
  }

  std::string MatchParam(int i, const Type& type) {
    const uint32_t* record = view_.Param(i);
    const uint32_t flags = signature::FlagsOf(record);
    if (type.kind == TypeKind::kUnknown || (type.kind == TypeKind::kNone && (flags & KP_PARAM_OPTIONAL))) return "";
    if (!(flags & KP_PARAM_LIST)) return MatchOne(record, flags, type);
    if (type.kind != TypeKind::kTuple) return "expected a tuple for this list, got " + type.str();
    for (size_t k = 0; k < type.elements.size(); ++k) {
      const Type& element = type.elements[k];
      if (element.kind == TypeKind::kUnknown) continue;
      const std::string problem = MatchOne(record, flags, element);
      if (!problem.empty()) return "element " + std::to_string(k) + ": " + problem;
    }
    return "";
  }

  std::string MatchOne(const uint32_t* record, uint32_t flags, const Type& type) {
    // By KpParamKind.
    static constexpr TypeKind kKinds[] = {TypeKind::kTensor, TypeKind::kInt,     TypeKind::kFloat, TypeKind::kBool,
                                          TypeKind::kDType,  TypeKind::kUnknown, TypeKind::kStr};
    const uint32_t kind = signature::KindOf(record);
    const TypeKind wanted = kKinds[kind];
    const bool number = type.kind == TypeKind::kInt || type.kind == TypeKind::kFloat || type.kind == TypeKind::kBool;
    if (kind == KP_PARAM_DEVICE) return "a device cannot be an argument in a program: give the function a default";
    if (wanted == TypeKind::kTensor && number && (flags & KP_PARAM_SCALAR_OK)) return "";
    if (wanted == TypeKind::kFloat && type.kind == TypeKind::kInt) return "";
    if (wanted != type.kind) return std::string("expected ") + Article(kind) + ", got " + type.str();
    return wanted == TypeKind::kTensor ? MatchTensor(record, type) : "";
  }

  static const char* Article(uint32_t kind) {
    static constexpr const char* kNames[] = {"a tensor", "an int", "a float", "a bool", "a dtype", "a device", "a str"};
    return kNames[kind];
  }

  std::string MatchTensor(const uint32_t* record, const Type& type) {
    const std::string wrong_dtype = MatchDType(record[1], type.dtype);
    if (!wrong_dtype.empty()) return wrong_dtype + ", got " + type.str();
    if (!type.dims) return "";
    const Dims& dims = *type.dims;
    const uint32_t* shape = view_.words + record[2];
    const size_t written = signature::NumDimsOf(shape);
    const int star = signature::StarOf(shape);
    const bool batch = signature::BatchOf(shape) != Batch::kNone;
    const size_t least = star < 0 ? written : written - 1;
    if (dims.size() < least || (dims.size() > least && star < 0 && !batch)) {
      return "expected " + std::string(batch || star >= 0 ? "at least " : "") + std::to_string(least) +
             (least == 1 ? " dim, got " : " dims, got ") + type.str();
    }
    const size_t extra = dims.size() - least;
    size_t at = 0;
    if (batch) {
      const Dims head(dims.begin(), dims.begin() + static_cast<ptrdiff_t>(extra));
      at = extra;
      if (signature::BatchOf(shape) == Batch::kSame && !Bind(&batch_, head)) {
        return "expected the batch dims " + Type::Tensor(type.dtype, batch_).str() + " has, got " + type.str();
      }
    }
    for (size_t d = 0; d < written; ++d) {
      const uint32_t word = signature::DimsOf(shape)[d];
      if (static_cast<int>(d) == star) {
        const Dims part(dims.begin() + static_cast<ptrdiff_t>(at), dims.begin() + static_cast<ptrdiff_t>(at + extra));
        at += extra;
        if (!Bind(&stars_[Operand(word)], part)) {
          return "expected the dims that *" + std::string(view_.StarName(Operand(word))) + " is bound to, got " +
                 type.str();
        }
        continue;
      }
      const std::string problem = MatchDim(word, dims[at++]);
      if (!problem.empty()) return "expected " + problem + ", got " + type.str();
    }
    return "";
  }

  std::string MatchDType(uint32_t wanted, DType dtype) {
    if (signature::FormOf(wanted) == signature::DTypeForm::kFixed) {
      const DType fixed = signature::UnpackDType(wanted);
      return fixed == dtype ? "" : "expected dtype " + ir::TypeName(fixed);
    }
    const uint32_t index = wanted & 0xff;
    const uint32_t* set = view_.DTypeSet(static_cast<int>(index));
    const uint32_t count = *set >> 16;
    const auto is = [dtype](uint32_t member) { return DType(signature::UnpackDType(member)) == dtype; };
    const std::string name = view_.Text(*set);
    if (count && std::none_of(set + 1, set + 1 + count, is)) return "expected a dtype that " + name + " may be";
    const DType bound = frame_.dtypes[index];
    if (bound.lanes && bound != dtype) return "expected dtype " + name + " = " + ir::TypeName(bound);
    frame_.dtypes[index] = dtype;
    return "";
  }

  // What two extents are together; false when no run can make them equal.
  static bool Meet(Dim* bound, const Dim& dim) {
    if (bound->is_constant() && dim.is_constant()) return *bound == dim;
    if (bound->is_unknown() || dim.is_constant()) *bound = dim;
    return true;
  }

  static bool Bind(std::optional<Dims>* bound, const Dims& dims) {
    if (!*bound) {
      *bound = dims;
      return true;
    }
    if ((*bound)->size() != dims.size()) return false;
    for (size_t i = 0; i < dims.size(); ++i) {
      if (!Meet(&(**bound)[i], dims[i])) return false;
    }
    return true;
  }

  std::string MatchDim(uint32_t word, const Dim& dim) {
    const uint32_t operand = Operand(word);
    if (signature::DimOpOf(word) == DimOp::kVar) {
      const Dim before = dims_[operand];
      if (Meet(&dims_[operand], dim)) return "";
      return std::string(view_.DimName(operand)) + " = " + before.str();
    }
    if (signature::DimOpOf(word) == DimOp::kConst) {
      Dim wanted(static_cast<int64_t>(operand));
      return Meet(&wanted, dim) ? "" : "an extent of " + std::to_string(operand);
    }
    return "";  // `_`, and expressions, which the run evaluates
  }

  bool Knows(const uint32_t* code) const {
    for (; static_cast<Op>(*code & 0xff) != Op::kEnd; ++code) {
      const Op op = static_cast<Op>(*code & 0xff);
      const uint32_t operand = Operand(*code);
      if (op == Op::kDim && !(frame_.bound >> operand & 1)) return false;
      if (op == Op::kInt && !known_[view_.IntParam(operand)]) return false;
      if (op == Op::kWide) code += 2;
    }
    return true;
  }

  Dim DimOf(uint32_t word) const {
    const uint32_t operand = Operand(word);
    const DimOp op = signature::DimOpOf(word);
    if (op == DimOp::kVar) return dims_[operand];
    if (op == DimOp::kInt && !known_[view_.IntParam(operand)]) return {};
    if (op == DimOp::kCode && !Knows(view_.words + operand)) return {};
    int64_t extent = 0;
    const bool ok = signature::DimValue(frame_, word, &extent) == signature::Value::kOk && extent >= 0;
    return ok ? Dim(extent) : Dim();
  }
};

}  // namespace

std::vector<Type> TypesOfCall(const Function& function, const std::vector<Argument>& args, std::string* problem) {
  problem->clear();
  if (!function.words()) return {};
  const signature::View view{function.words()};
  const auto count = static_cast<size_t>(view.NumParams());
  size_t required = 0;
  for (size_t i = 0; i < count; ++i) {
    if (!(signature::FlagsOf(view.Param(static_cast<int>(i))) & KP_PARAM_HAS_DEFAULT)) required = i + 1;
  }
  if (args.size() < required || args.size() > count) {
    *problem = "expected " + std::to_string(required) + (required == count ? "" : " to " + std::to_string(count)) +
               " arguments, got " + std::to_string(args.size());
    return {};
  }
  Matching matching(view, args);
  *problem = matching.Run();
  std::vector<Type> results;
  for (int i = 0; problem->empty() && i < view.NumResults(); ++i) results.push_back(matching.ResultType(i));
  return results;
}

}  // namespace kernpack::sdk::program
