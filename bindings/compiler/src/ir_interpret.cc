// The interpreter on memory of the CPU that Python owns.
#include <kernpack/error.h>
#include <kernpack/sdk/ir/interpret.h>

#include "ir_bindings.h"

namespace kernpack::compiler {
namespace {

using sdk::ir::IRModule;
using sdk::ir::Param;
using sdk::ir::Role;

// A tensor as Python hands it over: address, shape, strides in elements, dtype.
struct View {
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  KpDLTensor tensor{};

  View(uint64_t address, std::vector<int64_t> shape_, std::vector<int64_t> strides_, py::handle type)
      : shape(std::move(shape_)), strides(std::move(strides_)) {
    if (strides.size() != shape.size()) KP_THROW(ValueError) << "strides: expected one for each dimension";
    tensor.data = reinterpret_cast<void*>(address);
    tensor.device = {KP_DEVICE_CPU, 0};
    tensor.ndim = static_cast<int32_t>(shape.size());
    tensor.dtype = ToType(type);
    tensor.shape = shape.data();
    tensor.strides = strides.data();
  }
  View(const View&) = delete;
  View& operator=(const View&) = delete;
};

// State that functions keep between calls. A class, because Python would get a copy of a std::map.
struct Kept {
  ir::PersistentMemory memory;
};

KpAny ToAnyValue(py::handle value) {
  KpAny any = kp_none();
  if (py::isinstance<View>(value)) {
    any.type_index = KP_TYPE_DLTENSOR_PTR;
    any.v.v_tensor = &value.cast<View&>().tensor;
  } else if (py::isinstance<py::bool_>(value)) {
    any.type_index = KP_TYPE_BOOL;
    any.v.v_int = value.cast<bool>();
  } else if (py::isinstance<py::float_>(value)) {
    any.type_index = KP_TYPE_FLOAT;
    any.v.v_float = value.cast<double>();
  } else {
    any.type_index = KP_TYPE_INT;
    any.v.v_int = ToInt64(value);
  }
  return any;
}

std::vector<KpAny> ToValues(const py::list& values) {
  std::vector<KpAny> all;
  for (py::handle value : values) all.push_back(ToAnyValue(value));
  return all;
}

ir::InterpretOptions MakeOptions(const py::dict& externs, uint64_t max_steps) {
  ir::InterpretOptions options;
  options.max_steps = max_steps;
  for (auto [name, function] : externs) {
    options.externs[name.cast<std::string>()] =
        [f = py::reinterpret_borrow<py::object>(function)](const std::vector<double>& args) {
          return f(*py::tuple(py::cast(args))).cast<double>();
        };
  }
  return options;
}

// Those that "N..." of some parameter stands for; the interpreter has checked the arguments.
std::vector<int64_t> LeadingDimensions(const ir::FuncNode& f, const std::vector<KpAny>& args) {
  for (size_t i = 0; i < f.params.size(); ++i) {
    const Param& p = f.params[i];
    if (!p.has_any_rank() || p.role == Role::kResult) continue;
    const KpDLTensor& t = *kp_any_tensor(&args[i]);
    return {t.shape, t.shape + t.ndim + 1 - p.buffer->shape.size()};
  }
  return {};
}

// The extents of every result, computed by a function that stores them: one meaning of an extent, the interpreter's.
std::vector<std::vector<int64_t>> ResultShapes(const IRModule& module, const std::string& name,
                                               const py::list& values) {
  const ir::FuncNode* f = module.Find(name);
  if (!f) KP_THROW(AttributeError) << "module '" << module.name << "' has no function '" << name << "'";
  ir::FuncNode shapes;
  shapes.name = f->name;
  std::vector<ir::Expr> extents;
  for (const Param& p : f->params) {
    if (p.role != Role::kResult) {
      shapes.params.push_back(p);
      continue;
    }
    extents.insert(extents.end(), p.buffer->shape.begin(), p.buffer->shape.end());
  }
  const auto count = static_cast<int64_t>(extents.size());
  Param out;
  out.buffer = ir::MakeBuffer("extents", ir::kI64, {ir::Expr(count)});
  out.role = Role::kResult;
  shapes.params.push_back(out);
  for (int64_t i = 0; i < count; ++i) {
    shapes.body.push_back(Store(out.buffer, {ir::Expr(i)}, Cast(ir::kI64, extents[static_cast<size_t>(i)])));
  }
  std::vector<int64_t> found(extents.size());
  View view(reinterpret_cast<uint64_t>(found.data()), {count}, {1}, py::str("i64"));
  std::vector<KpAny> args = ToValues(values);
  KpAny result = kp_none();
  result.type_index = KP_TYPE_DLTENSOR_PTR;
  result.v.v_tensor = &view.tensor;
  args.push_back(result);
  ir::Interpret({module.name, "", {std::make_shared<ir::FuncNode>(shapes)}}, name, args);
  const std::vector<int64_t> leading = LeadingDimensions(*f, args);
  std::vector<std::vector<int64_t>> all;
  auto next = found.begin();
  for (const Param& p : f->params) {
    if (p.role != Role::kResult) continue;
    const auto end = next + static_cast<std::ptrdiff_t>(p.buffer->shape.size());
    all.push_back(p.has_any_rank() ? leading : std::vector<int64_t>());
    all.back().insert(all.back().end(), next + p.has_any_rank(), end);
    next = end;
  }
  return all;
}

}  // namespace

void BindIrInterpret(py::module_& module) {
  py::class_<View>(module, "View").def(py::init<uint64_t, std::vector<int64_t>, std::vector<int64_t>, py::handle>());
  py::class_<Kept>(module, "PersistentMemory",
                   "Memory that functions keep between calls of the interpreter; pass the same one to each call.")
      .def(py::init<>());
  module.def("result_shapes", &ResultShapes);
  module.def("interpret", [](const IRModule& m, const std::string& name, const py::list& values, Kept& kept,
                             const py::dict& externs, uint64_t max_steps) {
    ir::Interpret(m, name, ToValues(values), &kept.memory, MakeOptions(externs, max_steps));
  });
}

}  // namespace kernpack::compiler
