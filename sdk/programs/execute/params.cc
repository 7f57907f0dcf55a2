// Arguments of a program: they equal the last ones in type, or are checked against the program's types.
#include <kernpack/error.h>
#include <kernpack/signature/overlap.h>

#include <algorithm>

#include "execute/runner.h"
#include "execute/tensors.h"

namespace kernpack::sdk::program {
namespace {

bool HasType(const KpAny& value, TypeKind kind) {
  const int32_t index = value.type_index;
  KpBytes text{};
  switch (kind) {
    case TypeKind::kUnknown:
      return true;
    case TypeKind::kTensor:
      return kp_any_tensor(&value) != nullptr;
    case TypeKind::kInt:
      return index == KP_TYPE_INT;
    case TypeKind::kFloat:
      return index == KP_TYPE_FLOAT || index == KP_TYPE_INT;
    case TypeKind::kBool:
      return index == KP_TYPE_BOOL;
    case TypeKind::kStr:
      return kp_any_str(&value, &text) != 0;
    case TypeKind::kDType:
      return index == KP_TYPE_DTYPE;
    case TypeKind::kNone:
      return index == KP_TYPE_NONE;
    case TypeKind::kShape:
      return index == KP_TYPE_SHAPE;
    case TypeKind::kTuple:
      return index == KP_TYPE_ARRAY || index == KP_TYPE_LIST;
  }
  return false;
}

// One parameter and its argument, as errors speak of them.
struct Param {
  const Program& program;
  const Value& value;
  KpDLDevice device;
  const KpAny& given;

  // "main: x: expected f32[N, 8] on opencl:0, got f32[3] on cpu:0".
  template <class Because>
  [[noreturn]] void Refuse(const char* kind, const Because& because) const {
    Text text;
    text << program.name << ": " << value.name << ": expected " << value.type.str();
    if (value.type.is_tensor()) text << " on " << GetName(device);
    text << ", got ";
    if (const KpDLTensor* tensor = kp_any_tensor(&given)) {
      text << DType(tensor->dtype) << GetSizes(*tensor) << " on " << GetName(tensor->device);
    } else {
      text << type_name(given.type_index);
    }
    text << because;
    throw Error(kind, text.bytes());
  }
};

void CheckTensor(const Param& param, const std::vector<int64_t>& dims, std::vector<int64_t>* symbols) {
  const KpDLTensor& tensor = *kp_any_tensor(&param.given);
  const Type& type = param.value.type;
  if (type.dtype.bits != 0 && !SameDType(tensor.dtype, type.dtype)) param.Refuse("TypeError", "");
  if (!SameDevice(tensor.device, param.device)) param.Refuse("ValueError", "; copy it there first");
  if (tensor.ndim < 0 || tensor.ndim > KP_MAX_NDIM || (tensor.ndim && !tensor.shape)) {
    KP_THROW(ValueError) << param.program.name << ": " << param.value.name
                         << ": expected a tensor of 0 to 64 dims with a shape, got " << tensor.ndim << " dims";
  }
  if (!type.dims) return;
  if (static_cast<size_t>(tensor.ndim) != dims.size()) param.Refuse("ValueError", "");
  for (size_t i = 0; i < dims.size(); ++i) {
    int64_t want = dims[i];
    if (want == kUnknownDim) continue;
    if (want < kUnknownDim) {
      int64_t& symbol = (*symbols)[static_cast<size_t>(-2 - want)];
      if (symbol < 0) symbol = tensor.shape[i];
      want = symbol;
    }
    if (tensor.shape[i] == want) continue;
    if (dims[i] >= 0) param.Refuse("ValueError", "");
    param.Refuse("ValueError", ", where " + (*type.dims)[i].str() + " is " + std::to_string(want));
  }
}

[[noreturn]] void RefuseShared(const Program& program, size_t written, size_t other, signature::Sharing found) {
  const bool sure = found == signature::Sharing::kSome;
  KP_THROW(ValueError) << program.name << ": " << program.values[program.params[written]].name
                       << ": expected memory of its own to write to, got a tensor that "
                       << (sure ? "overlaps " : "may overlap ") << program.values[program.params[other]].name
                       << (sure ? "" : " (the search for an element of both was given up)") << ": pass a copy";
}

}  // namespace

// Steps that don't depend on each other run at once, so one that writes an argument would race with those that read its memory by
// another name. The steps' own contracts can't see that.
void Runner::CheckShared(const KpAny* params) const {
  const Program& program = *resolved_.entry->program;
  for (size_t i = 0; i < program.params.size(); ++i) {
    const KpDLTensor* written = resolved_.written[program.params[i]] ? kp_any_tensor(&params[i]) : nullptr;
    if (!written) continue;
    const signature::Range range = signature::GetRange(*written);
    for (size_t j = 0; j < program.params.size(); ++j) {
      const KpDLTensor* other = j == i ? nullptr : kp_any_tensor(&params[j]);
      const auto found = other ? signature::Overlap(*written, range, *other) : signature::Sharing::kNone;
      if (found != signature::Sharing::kNone) RefuseShared(program, i, j, found);
    }
  }
}

// True if the arguments differ from the arguments of the last run only in their addresses.
bool Runner::LikeLast(const Frame& frame, const KpAny* params) const {
  const Program& program = *frame.program->program;
  for (size_t i = 0; i < program.params.size(); ++i) {
    const KpAny& given = params[i];
    const KpDLTensor* tensor = kp_any_tensor(&given);
    if (!tensor) {
      const KpAny& last = frame.last_params[i];
      // Text and objects may have changed behind the same pointer.
      if (given.type_index == KP_TYPE_RAW_STR || kp_is_object(&given)) return false;
      if (given.type_index != last.type_index || given.v.v_bits != last.v.v_bits) return false;
      continue;
    }
    const KpDLTensor& last = frame.slots[program.params[i]].tensor;
    if (!IsLike(*tensor, last)) return false;
  }
  return true;
}

void Runner::CheckParams(Frame* frame, const KpAny* params) const {
  const ResolvedProgram& resolved = *frame->program;
  const Program& program = *resolved.program;
  std::fill(frame->symbols.begin(), frame->symbols.end(), -1);
  for (size_t i = 0; i < program.params.size(); ++i) {
    const ValueId id = program.params[i];
    const Param param{program, program.values[id], resolved_.devices[resolved.values[id].device].device, params[i]};
    if (!HasType(params[i], param.value.type.kind)) param.Refuse("TypeError", "");
    Slot& slot = frame->slots[id];
    const KpDLTensor* tensor = kp_any_tensor(&params[i]);
    if (!tensor) {
      slot.tensor = {};
      frame->last_params[i] = kp_is_object(&params[i]) ? kp_none() : params[i];
      continue;
    }
    if (param.value.type.is_tensor()) CheckTensor(param, resolved.param_dims[i], &frame->symbols);
    slot.Describe(tensor->device, tensor->dtype, tensor->shape, tensor->ndim);
    frame->last_params[i] = kp_none();
  }
}

}  // namespace kernpack::sdk::program
