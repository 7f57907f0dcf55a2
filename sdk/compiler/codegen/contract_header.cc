#include "codegen/signature_words.h"

#include <kernpack/error.h>
#include <kernpack/sdk/ir/type.h>
#include <kernpack/signature/program.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace kernpack::sdk::ir {
namespace {

using signature::DimOp;
using signature::View;

class HeaderWriter {
 public:
  HeaderWriter(const std::string& function, const uint32_t* words) : function_(function), view_{words} {}

  std::string Run() {
    std::string params, results;
    for (int i = 0; i < view_.NumParams(); ++i) params += (i ? ", " : "") + Param(i);
    for (int i = 0; i < view_.NumResults(); ++i) {
      const uint32_t* record = view_.Result(i);
      results += std::string(i ? ", " : "") + view_.Text(record[0]) + ": " + Tensor(view_.ResultName(i), record);
    }
    return "(" + params + ") -> (" + results + ")";
  }

 private:
  const std::string& function_;
  const View view_;
  std::optional<std::string> leading_;  // the name of the leading dims
  int nameless_ = 0;

  [[noreturn]] void Refuse(const std::string& name, const std::string& said) const {
    KP_THROW(NotImplementedError) << function_ << ": " << name << ": " << said;
  }

  std::string Param(int i) {
    const uint32_t* record = view_.Param(i);
    const std::string name = view_.ParamName(i);
    const uint32_t flags = signature::GetFlags(record);
    if (flags & KP_PARAM_OPTIONAL) Refuse(name, "an optional argument; write a function for calls without it");
    if (flags & KP_PARAM_LIST) Refuse(name, "a list; write a parameter for each item");
    if ((flags & KP_PARAM_STRIDED) || signature::IsMarkedCompact(record)) {
      Refuse(name, "a tensor with strides; the kernel gets contiguous tensors, so leave the mark out");
    }
    if (flags & KP_PARAM_ON_CPU) Refuse(name, "a tensor on the CPU; the kernel gets memory of the device");
    const std::string head = name + (flags & KP_PARAM_MUTATED ? "!: " : ": ");
    switch (signature::GetKind(record)) {
      case KP_PARAM_TENSOR:
        return head + Tensor(name, record);
      case KP_PARAM_INT:
        return head + "i64";
      case KP_PARAM_FLOAT:
        return head + "f64";
      case KP_PARAM_BOOL:
        return head + "bool";
      default:
        Refuse(name, "expected a tensor, an int, a float or a bool");
    }
  }

  std::string Tensor(const std::string& name, const uint32_t* record) {
    const uint32_t dtype = record[1];
    if (signature::GetForm(dtype) != signature::DTypeForm::kFixed) {
      Refuse(name, "a dtype that the call chooses; a kernel is compiled for one, such as f32");
    }
    const KpDLDataType unpacked = signature::UnpackDType(dtype);
    const Type type = {unpacked.code, unpacked.bits, 1};
    if (!IsSupported(type)) Refuse(name, "a dtype that the IR doesn't have (docs/ir.md)");
    const uint32_t* shape = view_.words + record[2];
    std::string dims;
    if (signature::GetBatch(shape) == signature::Batch::kBroadcast) Refuse(name, "dims that broadcast");
    if (signature::GetBatch(shape) == signature::Batch::kSame) dims = Leading(name, "...");
    for (uint32_t d = 0; d < signature::GetNumDims(shape); ++d) {
      const uint32_t dim = signature::GetDims(shape)[d];
      if (signature::GetDimOp(dim) == DimOp::kStar && d > 0) Refuse(name, "any number of dims that aren't the first");
      dims += (dims.empty() ? "" : ", ") + Dim(name, dim);
    }
    return TypeName(type) + "[" + dims + "]";
  }

  std::string Leading(const std::string& name, const std::string& star) {
    if (leading_ && *leading_ != star) Refuse(name, "two names for any number of dims");
    leading_ = star;
    return Free(star == "..." ? "Batch" : star) + "...";
  }
  // A name that no dim has.
  std::string Free(std::string name) const {
    for (uint32_t i = 0; i < static_cast<uint32_t>(view_.NumDims()); ++i) {
      if (name == view_.DimName(i)) name += "_", i = 0;
    }
    return name;
  }

  std::string Dim(const std::string& name, uint32_t dim) {
    const uint32_t operand = signature::Operand(dim);
    switch (signature::GetDimOp(dim)) {
      case DimOp::kAny:
        return Free("Any" + std::to_string(nameless_++));
      case DimOp::kConst:
        return std::to_string(operand);
      case DimOp::kVar:
        return view_.DimName(operand);
      case DimOp::kStar:
        return Leading(name, view_.StarName(operand));
      case DimOp::kInt:
        return view_.ParamName(view_.IntParam(operand));
      case DimOp::kCode:
        return Code(name, view_.words + operand);
    }
    Refuse(name, "a dim that this version doesn't know");
  }

  // Reverse Polish as text.
  std::string Code(const std::string& name, const uint32_t* code) const {
    std::vector<std::string> stack;
    const auto two = [&](const std::string& before, const std::string& between, const std::string& after) {
      const std::string b = std::move(stack.back());
      stack.pop_back();
      stack.back() = before + stack.back() + between + b + after;
    };
    for (;; ++code) {
      const uint32_t operand = signature::Operand(*code);
      switch (static_cast<signature::Op>(*code & 0xff)) {
        case signature::Op::kEnd:
          return stack.back();
        case signature::Op::kConst:
          stack.push_back(std::to_string(operand));
          break;
        case signature::Op::kWide:
          stack.push_back(std::to_string(static_cast<int64_t>(code[1] | uint64_t{code[2]} << 32)));
          code += 2;
          break;
        case signature::Op::kDim:
          stack.emplace_back(view_.DimName(operand));
          break;
        case signature::Op::kInt:
          stack.emplace_back(view_.ParamName(view_.IntParam(operand)));
          break;
        case signature::Op::kNegate:
          stack.back() = "(-" + stack.back() + ")";
          break;
        case signature::Op::kAdd:
          two("(", " + ", ")");
          break;
        case signature::Op::kSubtract:
          two("(", " - ", ")");
          break;
        case signature::Op::kMultiply:
          two("(", " * ", ")");
          break;
        case signature::Op::kFloorDivide:
          two("floordiv(", ", ", ")");
          break;
        case signature::Op::kModulo:
          two("floormod(", ", ", ")");
          break;
        case signature::Op::kMin:
          two("min(", ", ", ")");
          break;
        case signature::Op::kMax:
          two("max(", ", ", ")");
          break;
        case signature::Op::kCeilDivide:
          two("(-floordiv(-", ", ", "))");
          break;
        default:
          Refuse(name, "an extent with numel, itemsize or an item of a list");
      }
    }
  }
};

}  // namespace

std::string HeaderOfContract(const std::string& function, const std::string& contract) {
  return HeaderWriter(function, CompileSignature(function, contract).data()).Run();
}

}  // namespace kernpack::sdk::ir
