// Functions and modules: text, equality, verification.
#include <kernpack/error.h>
#include <kernpack/sdk/ir/equal.h>
#include <kernpack/sdk/ir/text.h>
#include <kernpack/sdk/ir/verify.h>

#include "ir_bindings.h"

namespace kernpack::compiler {
namespace {

using sdk::ir::IRModule;
using sdk::ir::Param;
using sdk::ir::Role;

IRModule MakeIRModule(const std::vector<Function>& functions, std::string name, py::handle target) {
  IRModule module;
  module.name = std::move(name);
  if (!target.is_none()) module.target = ToTarget(target).str();
  for (const Function& f : functions) {
    if (module.Find(f.node->name)) {
      KP_THROW(ValueError) << "IRModule: two functions are named '" << f.node->name << "'";
    }
    module.functions.push_back(f.node);
  }
  return module;
}

Function FindFunction(const IRModule& module, const std::string& name) {
  for (const ir::PrimFunc& f : module.functions) {
    if (f->name == name) return {f};
  }
  KP_THROW(KeyError) << "module '" << module.name << "' has no function '" << name << "'";
}

std::vector<Function> Functions(const IRModule& module) {
  std::vector<Function> all;
  for (const ir::PrimFunc& f : module.functions) all.push_back({f});
  return all;
}

py::object OrNone(const std::string& text) { return text.empty() ? py::object(py::none()) : py::str(text); }

// (name, role, type, shape as text or None for a scalar)
py::list FunctionParams(const Function& f) {
  py::list all;
  for (const Param& p : f.node->params) {
    const char* role = p.role == Role::kInput ? "input" : p.role == Role::kInOut ? "inout" : "result";
    if (!p.buffer) {
      all.append(py::make_tuple(p.name(), role, p.var->type, py::none()));
      continue;
    }
    py::list shape;
    for (const ir::Expr& e : p.buffer->shape) {
      const bool leading = p.has_any_rank() && shape.empty();
      shape.append(Print(e) + (leading ? "..." : ""));
    }
    all.append(py::make_tuple(p.name(), role, p.buffer->element, py::tuple(shape)));
  }
  return all;
}

// The text of exactly one function.
Function ParseFunction(const std::string& text) {
  const IRModule module = ir::Parse(text);
  if (module.functions.size() != 1) {
    KP_THROW(ValueError) << "PrimFunc.parse: expected the text of one function, got " << module.functions.size();
  }
  return {module.functions[0]};
}

void BindFunction(py::module_& module) {
  py::class_<Function>(module, "PrimFunc",
                       "A function over tensors; immutable. @ir.func makes one; str() is its text form.")
      .def_static("parse", &ParseFunction, py::arg("text"))
      .def_property_readonly("name", [](const Function& f) { return f.node->name; })
      .def_property_readonly("params", &FunctionParams,
                             "(name, 'input', 'inout' or 'result', Type, shape as text or None of a scalar).")
      .def_property_readonly("is_private", [](const Function& f) { return f.node->is_private; })
      .def_property_readonly("target", [](const Function& f) { return OrNone(f.node->target); })
      .def_property_readonly(
          "signature", [](const Function& f) { return OrNone(f.node->signature); },
          "The contract's text if it was given; None: it is derived.")
      .def_property_readonly(
          "gradient", [](const Function& f) { return OrNone(f.node->gradient); },
          "The function that computes its gradient.")
      .def(
          "__eq__", [](const Function& a, const Function& b) { return Equal(*a.node, *b.node); }, py::is_operator(),
          "Structural equality: names bound inside the function don't count.")
      .def("__hash__", [](const Function& f) { return Hash(*f.node); })
      .def("__str__", [](const Function& f) { return Print(*f.node); })
      .def("__repr__", [](const Function& f) { return "<ir.PrimFunc " + f.node->name + ">"; })
      .def(py::pickle([](const Function& f) { return Print(*f.node); }, &ParseFunction));
}

}  // namespace

void BindIrModule(py::module_& module) {
  BindFunction(module);
  py::class_<IRModule>(module, "IRModule", R"(Functions that are built together; immutable.

target: what it is compiled for where the caller does not say. str() is the text form, IRModule.parse() reads it.)")
      .def(py::init(&MakeIRModule), py::arg("functions") = std::vector<Function>(), py::arg("name") = "module",
           py::arg("target") = py::none())
      .def_static("parse", &ir::Parse, py::arg("text"),
                  "Parses a module. ValueError or TypeError: \"line 3, column 9: expected ..., got ...\".")
      .def_readonly("name", &IRModule::name)
      .def_property_readonly("target", [](const IRModule& m) { return OrNone(m.target); })
      .def_property_readonly("functions", &Functions)
      .def("__getitem__", &FindFunction)
      .def("__contains__", [](const IRModule& m, const std::string& name) { return m.Find(name) != nullptr; })
      .def("__len__", [](const IRModule& m) { return m.functions.size(); })
      .def("__iter__", [](const IRModule& m) { return py::iter(py::cast(Functions(m))); })
      .def("verify", &ir::Verify, R"(Raises the first thing that is wrong: "line 3, column 5: softmax: ...".

The position is the one in the text, or, behind the name of the file, in the Python that wrote the function.)")
      .def(
          "__eq__", [](const IRModule& a, const IRModule& b) { return Equal(a, b); }, py::is_operator())
      .def("__hash__", [](const IRModule& m) { return Hash(m); })
      .def("__str__", [](const IRModule& m) { return Print(m); })
      .def("__repr__",
           [](const IRModule& m) {
             return "<ir.IRModule " + m.name + ", " + std::to_string(m.functions.size()) + " functions>";
           })
      .def(py::pickle([](const IRModule& m) { return Print(m); },
                      [](const std::string& text) { return ir::Parse(text); }));
}

}  // namespace kernpack::compiler
