// Types of the IR, and numbers as constants of them.
#include <kernpack/error.h>

#include <cmath>

#include "ir_bindings.h"

namespace kernpack::compiler {
namespace {

using sdk::ir::Expr;
using sdk::ir::Type;

std::string GetName(py::handle value) { return py::type::of(value).attr("__name__").cast<std::string>(); }

[[noreturn]] void DoesNotFit(py::handle number, Type type) {
  KP_THROW(OverflowError) << py::str(number).cast<std::string>() << " does not fit " << ir::TypeName(type);
}

// Of a float type, rounded to nearest.
Expr FromDouble(py::handle number, double value, Type type) {
  if (!ir::IsInRange(type, value)) DoesNotFit(number, type);
  return ir::ConstFloat(type, value);
}

Expr FromInt(py::handle value, Type type) {
  const py::int_ number = py::reinterpret_steal<py::int_>(PyNumber_Index(value.ptr()));
  if (!number) throw py::error_already_set();
  if (type.is_floating_point()) {
    const double nearest = PyLong_AsDouble(number.ptr());
    if (PyErr_Occurred()) {
      PyErr_Clear();
      DoesNotFit(number, type);
    }
    int overflows = 0;
    const long long whole = PyLong_AsLongLongAndOverflow(number.ptr(), &overflows);
    const Expr rounded = FromDouble(number, nearest, type);
    return overflows ? rounded : ir::ConstInt(type, whole);  // rounded once
  }
  const unsigned bits = ir::IsBool(type) ? 1 : type.bits;
  const py::int_ one(1);
  const py::object span = one << py::int_(ir::IsSigned(type) ? bits - 1 : bits);
  const py::object least = ir::IsSigned(type) ? py::object(-span) : py::object(py::int_(0));
  if (number < least || number >= span) {
    DoesNotFit(number, type);
  }
  const unsigned long long low = PyLong_AsUnsignedLongLongMask(number.ptr());
  return ir::ConstInt(type, static_cast<int64_t>(low));
}

Expr FromFloat(py::handle number, Type type) {
  const auto value = number.cast<double>();
  if (!type.is_floating_point()) {
    KP_THROW(TypeError) << "the number " << value << " is a float where " << ir::TypeName(type)
                        << " is needed; cast one side, for example ir.f32(i)";
  }
  return FromDouble(number, value, type);
}

// A constant from a number, a cast from an expression.
Expr Make(Type type, py::handle value) {
  if (py::isinstance<Expr>(value)) return Cast(type, value.cast<Expr>());
  return ToExpr(value, &type);
}

}  // namespace

Type ToType(py::handle value) {
  if (py::isinstance<Type>(value)) return value.cast<Type>();
  if (!py::isinstance<py::str>(value)) {
    KP_THROW(TypeError) << "expected an ir.Type or its name, got " << GetName(value);
  }
  Type type;
  const std::string name = value.cast<std::string>();
  if (!ir::TypeFromName(name, &type)) {
    KP_THROW(ValueError) << "the IR has no type '" << name << "'; it has bool, i8 to i64, u8 to u64, f16, bf16, "
                         << "f8_e4m3fn, f8_e5m2, f32, f64, each with lanes: 'f32x8'";
  }
  return type;
}

namespace {

// Python's floats, and NumPy's of any width.
bool IsReal(py::handle value) {
  if (py::isinstance<py::float_>(value) || PyIndex_Check(value.ptr()) || py::isinstance<py::str>(value))
    return py::isinstance<py::float_>(value);
  return py::isinstance(value, py::module_::import("numbers").attr("Real"));
}

}  // namespace

Expr ToExpr(py::handle value, const Type* like) {
  if (py::isinstance<Expr>(value)) return value.cast<Expr>();
  const bool is_bool = py::isinstance<py::bool_>(value);
  if (is_bool && (!like || ir::IsBool(*like))) return Expr(value.cast<bool>());
  const bool is_real = IsReal(value);
  const Type type = like ? ir::ElementOf(*like) : is_real ? ir::kF32 : ir::kI64;
  if (is_real) return FromFloat(value, type);
  if (!is_bool && PyIndex_Check(value.ptr())) return FromInt(value, type);
  if (py::isinstance<ir::BufferNode>(value)) {
    KP_THROW(TypeError) << '\'' << value.cast<const ir::BufferNode&>().name
                        << "' is a tensor, expected one of its elements: index it, as in x[i, j]";
  }
  KP_THROW(TypeError) << "expected an expression or a number" << (like ? " of " : "")
                      << (like ? ir::TypeName(*like) : std::string()) << ", got " << GetName(value);
}

Expr CastTo(Type type, py::handle value) {
  if (py::isinstance<Expr>(value)) return Cast(type, value.cast<Expr>());
  const Type element = ir::ElementOf(type);
  if (py::isinstance<py::bool_>(value)) return Cast(element, Expr(value.cast<bool>()));
  if (!IsReal(value) && !PyIndex_Check(value.ptr())) return ToExpr(value, &element);  // which says why not
  if (ir::IsBool(element)) return Expr(!value.equal(py::int_(0)));
  if (!IsReal(value) || element.is_floating_point()) return ToExpr(value, &element);
  const auto number = value.cast<double>();
  if (!std::isfinite(number)) DoesNotFit(value, element);
  return FromInt(py::reinterpret_steal<py::int_>(PyLong_FromDouble(number)), element);  // toward zero
}

std::vector<Expr> ToExprs(py::handle values) {
  std::vector<Expr> out;
  if (py::isinstance<py::tuple>(values) || py::isinstance<py::list>(values)) {
    for (py::handle value : values) out.push_back(ToExpr(value));
  } else {
    out.push_back(ToExpr(values));
  }
  return out;
}

void BindIrType(py::module_& module) {
  py::class_<Type>(module, "Type", "A scalar dtype and a number of lanes. f32(x) is a constant or a cast.")
      .def(py::init(&ToType), py::arg("name"))
      .def_property_readonly("name", &ir::TypeName)
      .def_property_readonly("lanes", [](Type t) { return t.lanes; })
      .def_property_readonly("element", &ir::ElementOf, "The same dtype with one lane.")
      .def(
          "with_lanes",
          [](Type t, int lanes) {
            return ToType(py::str(ir::TypeName(ir::ElementOf(t)) + "x" + std::to_string(lanes)));
          },
          py::arg("lanes"))
      .def("__call__", &Make, py::arg("value"))
      .def(
          "__eq__", [](Type a, Type b) { return a == b; }, py::is_operator())
      .def("__hash__", [](Type t) { return std::hash<std::string>()(ir::TypeName(t)); })
      .def("__repr__", [](Type t) { return "ir.Type('" + ir::TypeName(t) + "')"; });
  for (const char* name : {"bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f8_e4m3fn",
                           "f8_e5m2", "f32", "f64"}) {
    const std::string attribute = std::string(name) == "bool" ? "bool_" : name;
    module.attr(attribute.c_str()) = ToType(py::str(name));
  }
}

}  // namespace kernpack::compiler
