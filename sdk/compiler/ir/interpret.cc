#include <kernpack/error.h>
#include <kernpack/sdk/ir/interpret.h>
#include <kernpack/shape.h>
#include <kernpack/signature/memory.h>

#include <cstring>

#include "ir/machine.h"
#include "ir/scalar.h"

namespace kernpack::sdk::ir {
namespace {

Value ScalarFrom(const FuncNode& f, const Param& p, const KpAny& a) {
  const Type t = p.var->type;
  Value v;
  if (t.is_floating_point() && (a.type_index == KP_TYPE_FLOAT || a.type_index == KP_TYPE_INT)) {
    v.lane[0] = LaneFromDouble(t, a.type_index == KP_TYPE_FLOAT ? a.v.v_float : static_cast<double>(a.v.v_int));
    return v;
  }
  if (!t.is_floating_point() && (a.type_index == KP_TYPE_INT || a.type_index == KP_TYPE_BOOL)) {
    v.lane[0] = LaneFromInt(t, a.v.v_int);
    if (!IsBool(t) && static_cast<int64_t>(v.lane[0]) != a.v.v_int) {
      KP_THROW(ValueError) << f.name << ": " << p.name() << ": " << a.v.v_int << " does not fit " << TypeName(t);
    }
    return v;
  }
  KP_THROW(TypeError) << f.name << ": " << p.name() << ": expected a number for " << TypeName(t);
}

// The dimensions that the first extent of a parameter of any rank stands for.
ShapeView GetLeadingDims(const FuncNode& f, const Param& p, const KpDLTensor& t) {
  const auto rest = static_cast<int64_t>(p.buffer->shape.size()) - 1;
  if (t.ndim < rest) {
    KP_THROW(ValueError) << f.name << ": " << p.name() << ": expected at least " << rest << " dimensions, got "
                         << t.ndim;
  }
  return {t.shape, static_cast<size_t>(t.ndim - rest)};
}

// With leading dimensions as one.
std::vector<int64_t> ShapeFrom(const FuncNode& f, const Param& p, const KpDLTensor& t) {
  if (!p.has_any_rank()) return {t.shape, t.shape + t.ndim};
  const ShapeView leading = GetLeadingDims(f, p, t);
  std::vector<int64_t> shape(leading.end(), leading.end() + (t.ndim - static_cast<int64_t>(leading.size())));
  int64_t count = 1;
  for (const int64_t extent : leading) {
    if (__builtin_mul_overflow(count, extent, &count)) {
      KP_THROW(ValueError) << f.name << ": " << p.name() << ": dimensions of more than 2^63 elements";
    }
  }
  shape.insert(shape.begin(), count);
  return shape;
}

Memory TensorFrom(const FuncNode& f, const Param& p, const KpAny& a) {
  const KpDLTensor* tensor = kp_any_tensor(&a);
  if (!tensor) KP_THROW(TypeError) << f.name << ": " << p.name() << ": expected a tensor";
  if (Type(tensor->dtype) != p.buffer->element) {
    KP_THROW(TypeError) << f.name << ": " << p.name() << ": expected " << TypeName(p.buffer->element) << ", got "
                        << TypeName(tensor->dtype);
  }
  if (tensor->device.device_type != KP_DEVICE_CPU) {
    KP_THROW(ValueError) << f.name << ": " << p.name() << ": the interpreter takes memory of the CPU";
  }
  Memory m;
  m.data = static_cast<std::byte*>(tensor->data) + tensor->byte_offset;
  if (!signature::IsCompact(*tensor)) {
    KP_THROW(ValueError) << f.name << ": " << p.name() << ": expected a contiguous tensor";
  }
  m.shape = ShapeFrom(f, p, *tensor);
  return m;
}

// Tensors of any rank have the same leading dimensions.
void CheckLeading(const FuncNode& f, const std::vector<KpAny>& args) {
  const Param* first = nullptr;
  ShapeView leading;
  for (size_t i = 0; i < args.size(); ++i) {
    const Param& p = f.params[i];
    if (!p.has_any_rank()) continue;
    const ShapeView own = GetLeadingDims(f, p, *kp_any_tensor(&args[i]));
    if (first && own != leading) {
      KP_THROW(ValueError) << f.name << ": " << p.name() << ": expected leading dimensions " << leading
                           << ", as those of " << first->name() << ", got " << own;
    }
    first = &p;
    leading = own;
  }
}

}  // namespace

void Interpret(const IRModule& module, std::string_view function, const std::vector<KpAny>& args,
               PersistentMemory* persistent, const InterpretOptions& options) {
  const FuncNode* f = module.Find(function);
  if (!f) KP_THROW(AttributeError) << "module '" << module.name << "' has no function '" << function << '\'';
  if (args.size() != f->params.size()) {
    KP_THROW(TypeError) << f->name << ": expected " << f->params.size() << " arguments, got " << args.size();
  }
  std::vector<Memory> tensors;
  std::vector<Value> scalars;
  for (size_t i = 0; i < args.size(); ++i) {
    const Param& p = f->params[i];
    if (p.buffer) {
      tensors.push_back(TensorFrom(*f, p, args[i]));
    } else {
      scalars.push_back(ScalarFrom(*f, p, args[i]));
    }
  }
  CheckLeading(*f, args);
  Machine(module, persistent, options).CallWith(*f, tensors, scalars);
}

}  // namespace kernpack::sdk::ir
