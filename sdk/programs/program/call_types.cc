#include "program/call_types.h"

#include <kernpack/signature/check.h>
#include <kernpack/signature/sequence.h>

#include <deque>

#include "program/symbolic_extents.h"

namespace kernpack::sdk::program {
namespace {

using signature::Batch;
using signature::DimOp;

// Arguments as the check reads them: values where they are known, else SymbolicExtents' marks.
class CheckedArguments {
 public:
  explicit CheckedArguments(Symbols* symbols) : symbols_(symbols) {}

  // True if everything is known about all added values.
  bool complete() const { return complete_; }
  const KpAny* data() const { return values_.data(); }

  void Add(const Argument& arg) {
    if (arg.type->kind != TypeKind::kTuple) return values_.push_back(GetValue(*arg.type, arg.constant));
    List& list = lists_.emplace_back();
    for (size_t i = 0; i < arg.type->elements.size(); ++i) {
      list.items.push_back(GetValue(arg.type->elements[i], i < arg.elements.size() ? arg.elements[i] : nullptr));
    }
    AddList(&list);
  }

  // Parameter `i` is left out. False when it has no default.
  bool AddDefault(signature::View view, int i) {
    const uint32_t at = view.Param(i)[3];
    if (!at) return false;
    const uint32_t* words = view.words + at;
    if ((*words & 0xff) != signature::kListDefault) {
      values_.push_back(signature::ReadDefault(view, words));
      return true;
    }
    List& list = lists_.emplace_back();
    for (uint32_t k = 0; k < signature::Operand(*words); ++k) {
      list.items.push_back(signature::ReadDefault(view, words + 1 + 3 * k));
    }
    AddList(&list);
    return true;
  }

 private:
  struct List {
    KpSequenceObject body{};
    std::vector<KpAny> items;
  };
  Symbols* symbols_;
  bool complete_ = true;
  std::vector<KpAny> values_;
  std::deque<List> lists_;
  std::deque<KpDLTensor> tensors_;
  std::deque<std::vector<int64_t>> shapes_;

  void AddList(List* list) {
    list->body.header.type_index = KP_TYPE_ARRAY;
    list->body.data = list->items.data();
    list->body.size = list->body.capacity = static_cast<int64_t>(list->items.size());
    KpAny& a = values_.emplace_back(kp_none());
    a.type_index = KP_TYPE_ARRAY;
    a.v.v_obj = &list->body.header;
  }

  KpAny GetValue(const Type& type, const Constant* constant) {
    // By TypeKind. Nothing reads a shape but its type, and no tuple stands in a tuple.
    static constexpr int32_t kIndices[] = {
        SymbolicExtents::kNoType, KP_TYPE_DLTENSOR_PTR, KP_TYPE_INT,  KP_TYPE_FLOAT, KP_TYPE_BOOL,
        KP_TYPE_RAW_STR,          KP_TYPE_DTYPE,        KP_TYPE_NONE, KP_TYPE_SHAPE, KP_TYPE_ARRAY};
    static_assert(std::size(kIndices) == static_cast<size_t>(TypeKind::kTuple) + 1);
    KpAny a = kp_none();
    a.type_index = kIndices[static_cast<size_t>(type.kind)];
    if (type.is_tensor()) {
      a.v.v_tensor = MakeTensor(type);
    } else if (constant) {
      Set(*constant, &a);
    } else if (type.kind != TypeKind::kNone) {
      a.small_len = SymbolicExtents::kNoValue;
      if (type.kind == TypeKind::kStr) a.v.v_c_str = "";
      complete_ = false;
    }
    return a;
  }

  static void Set(const Constant& constant, KpAny* a) {
    if (const auto* number = std::get_if<int64_t>(&constant)) a->v.v_int = *number;
    if (const auto* truth = std::get_if<bool>(&constant)) a->v.v_int = *truth;
    if (const auto* real = std::get_if<double>(&constant)) a->v.v_float = *real;
    if (const auto* text = std::get_if<std::string>(&constant)) a->v.v_c_str = text->c_str();
    if (const auto* dtype = std::get_if<DType>(&constant)) a->v.v_dtype = *dtype;
  }

  KpDLTensor* MakeTensor(const Type& type) {
    KpDLTensor& t = tensors_.emplace_back();
    t.dtype = type.dtype;
    t.ndim = -1;
    complete_ = complete_ && type.dtype.bits != 0 && type.dims;
    if (!type.dims) return &t;
    std::vector<int64_t>& shape = shapes_.emplace_back();
    for (const Dim& d : *type.dims) {
      shape.push_back(symbols_->GetCode(d));
      complete_ = complete_ && d.is_constant();
    }
    shape.reserve(1);  // a shape, though it is of rank 0
    t.ndim = static_cast<int32_t>(shape.size());
    t.shape = shape.data();
    return &t;
  }
};

// After a check that found nothing wrong.
class Results {
 public:
  Results(const KpSigFrame& frame, const char* function, const signature::Raiser& raiser, Symbols* symbols,
          const SymbolicExtents& extents, bool complete)
      : frame_(frame),
        function_(function),
        raiser_(raiser),
        symbols_(*symbols),
        extents_(extents),
        complete_(complete) {}

  bool TypeOf(int index, Type* out) const {
    const uint32_t* record = view_.Result(index);
    if (!complete_ && !signature::ResultDType(frame_, record[1]).lanes) return true;  // unknown
    if (!complete_ && !HasRank(view_.words + record[2])) {
      *out = Type::Tensor(signature::ResultDType(frame_, record[1]));
      return true;
    }
    int64_t extents[KP_MAX_NDIM];
    KpDLTensor prototype;
    if (signature::ResultPrototype(frame_, function_, index, raiser_, extents, &prototype, extents_)) return false;
    std::vector<Dim> dims;
    for (int32_t d = 0; d < prototype.ndim; ++d) dims.push_back(symbols_.FindDim(extents[d]));
    *out = Type::Tensor(prototype.dtype, std::move(dims));
    return true;
  }

  // False if the workspace certainly has no valid size.
  bool WorkspaceFits() const {
    uint64_t bytes = 0;
    return signature::WorkspaceBytes(frame_, function_, raiser_, &bytes, extents_) == 0;
  }

 private:
  const KpSigFrame& frame_;
  const char* function_;
  const signature::Raiser& raiser_;
  const Symbols& symbols_;
  const SymbolicExtents& extents_;
  const bool complete_;
  const signature::View view_{frame_.program};

  bool HasRank(const uint32_t* shape) const {
    if (signature::GetBatch(shape) != Batch::kNone && frame_.batch_ndim < 0) return false;
    const int star = signature::GetStar(shape);
    return star < 0 || frame_.star_ndim[signature::Operand(signature::GetDims(shape)[star])] >= 0;
  }
};

// The first error of a call.
struct Problem {
  const char* kind = nullptr;
  std::string text;

  static int Keep(void* self, const char* kind, KpBytes text) {
    *static_cast<Problem*>(self) = {kind, std::string(text.data, text.size)};
    return -1;
  }
  [[noreturn]] void Throw() const { throw Error(kind, KpBytes{text.data(), text.size()}); }
};

// As kp_call counts them, but that programs give no destinations.
void AddArguments(const Function& function, const std::vector<Argument>& args, CheckedArguments* checked) {
  const signature::View view{function.words()};
  const auto count = static_cast<size_t>(view.NumParams());
  if (args.size() > count) {
    std::string names;
    for (int i = 0; i < view.NumParams(); ++i) names += (i ? ", " : "") + std::string(view.ParamName(i));
    KP_THROW(TypeError) << function.name << ": expected at most " << count << " arguments (" << names << "), got "
                        << args.size();
  }
  for (const Argument& arg : args) checked->Add(arg);
  for (size_t i = args.size(); i < count; ++i) {
    if (checked->AddDefault(view, static_cast<int>(i))) continue;
    KP_THROW(TypeError) << function.name << ": expected at least " << i + 1 << " arguments ("
                        << view.ParamName(static_cast<int>(i)) << " has no default), got " << args.size();
  }
}

}  // namespace

std::vector<Type> TypesOfCall(const Function& function, const std::vector<Argument>& args) {
  if (!function.words()) return {};
  Symbols symbols;
  CheckedArguments checked(&symbols);
  AddArguments(function, args, &checked);
  const SymbolicExtents extents(&symbols, checked.complete());
  Problem problem;
  const signature::Raiser raiser{&problem, &Problem::Keep};
  const char* name = function.name.c_str();
  KpSigFrame frame;
  if (signature::Check(function.words(), name, checked.data(), nullptr, KP_SIG_ABSTRACT, raiser, &frame, extents)) {
    problem.Throw();
  }
  const Results results(frame, name, raiser, &symbols, extents, checked.complete());
  std::vector<Type> types(static_cast<size_t>(signature::View{function.words()}.NumResults()));
  for (size_t i = 0; i < types.size(); ++i) {
    if (!results.TypeOf(static_cast<int>(i), &types[i])) problem.Throw();
  }
  if (!results.WorkspaceFits()) problem.Throw();
  return types;
}

}  // namespace kernpack::sdk::program
