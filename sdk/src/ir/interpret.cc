#include <kernpack/error.h>
#include <kernpack/sdk/ir/interpret.h>

#include <algorithm>
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
  m.shape.assign(tensor->shape, tensor->shape + tensor->ndim);
  int64_t step = 1;
  const bool empty = std::find(m.shape.begin(), m.shape.end(), 0) != m.shape.end();
  for (int d = tensor->ndim - 1; tensor->strides && !empty && d >= 0; --d) {
    if (tensor->shape[d] != 1 && tensor->strides[d] != step) {
      KP_THROW(ValueError) << f.name << ": " << p.name() << ": expected a contiguous tensor";
    }
    step *= tensor->shape[d];
  }
  return m;
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
  Machine(module, persistent, options).CallWith(*f, tensors, scalars);
}

}  // namespace kernpack::sdk::ir
