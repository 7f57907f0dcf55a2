// Expressions: Python's operators with Python's meanings, and the IR's operations by name.
#include <kernpack/error.h>
#include <kernpack/sdk/ir/text.h>

#include "ir_bindings.h"

namespace kernpack::compiler {
namespace {

using sdk::ir::Expr;
using sdk::ir::Op;
using sdk::ir::Type;

// Numbers take the type of the expression beside them.
Expr Both(Op op, py::handle a, py::handle b) {
  const Type* like = nullptr;
  if (py::isinstance<Expr>(a)) like = &a.cast<const Expr&>()->type;
  if (py::isinstance<Expr>(b)) like = &b.cast<const Expr&>()->type;
  return Binary(op, ToExpr(a, like), ToExpr(b, like));
}

// Python's / isn't integer division.
Expr TrueDivide(py::handle a, py::handle b) {
  const Expr quotient = Both(Op::kDiv, a, b);
  if (ir::IsInteger(quotient->type)) {
    KP_THROW(TypeError) << "/ divides floats; for integers use // (rounds down) or ir.truncdiv (toward zero)";
  }
  return quotient;
}

Expr Remainder(py::handle a, py::handle b) { return Both(Op::kFloorMod, a, b); }

[[noreturn]] bool NoTruth(const Expr& e) {
  KP_THROW(TypeError) << "'" << Print(e) << "' has no value while a function is being written; use ir.when, "
                      << "ir.select, ir.min, ir.max, and & | ~ for and, or, not";
}

[[noreturn]] py::object NoNumber(const Expr& e) {
  KP_THROW(TypeError) << "'" << Print(e) << "' has no value while a function is being written; count with `with "
                      << "ir.serial(n) as i:`, and take functions of ir, as ir.exp(x)";
}

template <class Class, class F>
void DefineOperator(Class& type, const char* name, F f) {
  type.def((std::string("__") + name + "__").c_str(),
           [f](const py::object& a, const py::object& b) { return f(a, b); });
  type.def((std::string("__r") + name + "__").c_str(),
           [f](const py::object& a, const py::object& b) { return f(b, a); });
}

Expr MakeSelect(py::handle condition, py::handle then, py::handle otherwise) {
  const Type* like = nullptr;
  if (py::isinstance<Expr>(then)) like = &then.cast<const Expr&>()->type;
  if (!like && py::isinstance<Expr>(otherwise)) like = &otherwise.cast<const Expr&>()->type;
  return ir::Select(ToExpr(condition), ToExpr(then, like), ToExpr(otherwise, like));
}

// `counter` was made by reduction_variable(), and `body` uses it.
Expr MakeReduce(const std::string& op, const Expr& counter, py::handle begin, py::handle end, int lanes,
                const Expr& body) {
  const Op joined = op == "argmax" ? Op::kArgMax : op == "argmin" ? Op::kArgMin : ToOp(op);
  return ir::Reduce(joined, counter->var(), ToExpr(begin, &counter->type), ToExpr(end, &counter->type), lanes, body);
}

Expr MakeExtern(const std::string& name, py::handle type, const py::args& args) {
  std::vector<Expr> operands;
  for (py::handle a : args) {
    const Expr operand = ToExpr(a);
    if (!py::isinstance<Expr>(a)) {
      KP_THROW(TypeError) << "extern: " << name << ": the number " << py::str(a).cast<std::string>()
                          << " has no type; give it that of the C function's parameter, for example ir.f64(...)";
    }
    operands.push_back(operand);
  }
  return ir::Extern(name, ToType(type), operands);
}

void BindOperators(py::class_<Expr>& type) {
  struct Row {
    const char* name;
    Op op;
  };
  for (const Row row : {Row{"add", Op::kAdd}, Row{"sub", Op::kSub}, Row{"mul", Op::kMul},
                        Row{"floordiv", Op::kFloorDiv}, Row{"pow", Op::kPow}, Row{"and", Op::kAnd}, Row{"or", Op::kOr},
                        Row{"xor", Op::kXor}, Row{"lshift", Op::kShl}, Row{"rshift", Op::kShr}}) {
    DefineOperator(type, row.name, [op = row.op](py::handle a, py::handle b) { return Both(op, a, b); });
  }
  DefineOperator(type, "truediv", TrueDivide);
  DefineOperator(type, "mod", Remainder);
  for (const Row row : {Row{"__eq__", Op::kEq}, Row{"__ne__", Op::kNe}, Row{"__lt__", Op::kLt}, Row{"__le__", Op::kLe},
                        Row{"__gt__", Op::kGt}, Row{"__ge__", Op::kGe}}) {
    type.def(row.name, [op = row.op](const py::object& a, const py::object& b) { return Both(op, a, b); });
  }
  for (const Row row : {Row{"__neg__", Op::kNeg}, Row{"__invert__", Op::kNot}, Row{"__abs__", Op::kAbs}}) {
    type.def(row.name, [op = row.op](const Expr& a) { return Unary(op, a); });
  }
  type.def("__pos__", [](const Expr& a) { return a; });
  type.def("__bool__", &NoTruth);
  for (const char* name : {"__index__", "__int__", "__float__"}) type.def(name, &NoNumber);
  type.attr("__hash__") = py::none();
  type.attr("__array_ufunc__") = py::none();  // NumPy's operators leave the work to ours
}

void BindNamed(py::module_& module) {
#define KP_IR_BIND_(op, text, cls)                                                                \
  if (ir::OpClass::cls == ir::OpClass::Rounding || ir::OpClass::cls == ir::OpClass::Math) {       \
    module.def(text, [](const py::object& a) { return Unary(Op::op, ToExpr(a)); }, py::arg("x")); \
  }
  KP_IR_OPS(KP_IR_BIND_)
#undef KP_IR_BIND_
  struct Row {
    const char* name;
    Op op;
    const char* doc;
  };
  for (const Row row :
       {Row{"min", Op::kMin, "The smaller; ignores NaN."}, Row{"max", Op::kMax, "The larger; ignores NaN."},
        Row{"minimum", Op::kMinimum, "The smaller; NaN if either is."},
        Row{"maximum", Op::kMaximum, "The larger; NaN if either is."}, Row{"pow", Op::kPow, "x to the power of y."},
        Row{"truncdiv", Op::kDiv, "Quotient toward zero; of integers 0 when y is 0."},
        Row{"truncmod", Op::kRem, "Remainder of truncdiv; has the sign of x."}}) {
    module.def(
        row.name, [op = row.op](const py::object& a, const py::object& b) { return Both(op, a, b); }, py::arg("x"),
        py::arg("y"), row.doc);
  }
}

void BindForms(py::module_& module) {
  module.def(
      "cast", [](py::handle type, py::handle value) { return CastTo(ToType(type), value); }, py::arg("type"),
      py::arg("x"), "Converts a value to another type. A Python number becomes a constant, which must fit.");
  module.def(
      "bitcast", [](py::handle type, const Expr& value) { return Bitcast(ToType(type), value); }, py::arg("type"),
      py::arg("x"), "The same bits as another type of the same width.");
  module.def("select", &MakeSelect, py::arg("condition"), py::arg("then"), py::arg("otherwise"),
             "then where the condition holds, else otherwise. Both are evaluated.");
  module.def(
      "broadcast", [](py::handle value, int lanes) { return Broadcast(ToExpr(value), lanes); }, py::arg("x"),
      py::arg("lanes"));
  module.def(
      "ramp",
      [](py::handle base, py::handle stride, int lanes) {
        const Expr first = ToExpr(base);
        return Ramp(first, ToExpr(stride, &first->type), lanes);
      },
      py::arg("base"), py::arg("stride"), py::arg("lanes"), "base + lane * stride.");
  module.def(
      "strict", [](py::handle value) { return Strict(ToExpr(value)); }, py::arg("x"),
      "The value; its float operations are exempt from the target's fast-math options.");
  module.def("shuffle", &ir::Shuffle, py::arg("a"), py::arg("b"), py::arg("lanes"),
             "Selects lanes: numbers below a.type.lanes are lanes of a, the others lanes of b.");
  module.def(
      "lanes", [](const std::string& op, const Expr& v) { return ReduceLanes(ToOp(op), v); }, py::arg("op"),
      py::arg("x"), "Reduces the lanes of a vector to one value; each step joins the two halves.");
  module.def("extern", &MakeExtern, py::arg("name"), py::arg("type"),
             "Calls a C function of scalars that has no effects.");
  module.def(
      "variable", [](const std::string& name, py::handle type) { return Expr(ir::MakeVar(name, ToType(type))); },
      py::arg("name"), py::arg("type"));
  module.def("reduce", &MakeReduce, py::arg("op"), py::arg("counter"), py::arg("begin"), py::arg("end"),
             py::arg("lanes"), py::arg("body"));
}

}  // namespace

Op ToOp(const std::string& name) {
  Op op;
  if (!ir::OpFromName(name, &op))
    KP_THROW(ValueError) << "the IR has no operation '" << name
                         << "' to join values; it has +, *, min, max, minimum, maximum, argmin, argmax, &, | and ^";
  return op;
}

void BindIrExpr(py::module_& module) {
  py::class_<Expr> type(module, "Expr", R"(A value that a function computes.

Operators mean what they do in Python: // and % round down, / divides floats. Numbers take the type of the operand beside
them. Comparisons give expressions, which have no truth value.)");
  type.def_property_readonly("type", [](const Expr& e) { return e->type; })
      .def("__str__", [](const Expr& e) { return Print(e); })
      .def("__repr__", [](const Expr& e) { return "<ir.Expr " + ir::TypeName(e->type) + ": " + Print(e) + ">"; });
  BindOperators(type);
  BindNamed(module);
  BindForms(module);
}

}  // namespace kernpack::compiler
