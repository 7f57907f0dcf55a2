// Buffers: indexing loads, assignment stores.
#include <kernpack/error.h>

#include "ir_bindings.h"

namespace kernpack::compiler {
namespace {

using sdk::ir::Buffer;
using sdk::ir::BufferNode;
using sdk::ir::Expr;
using sdk::ir::Scope;

Expr LoadFrom(const Buffer& buffer, py::handle indices, py::handle mask, py::handle otherwise) {
  std::vector<Expr> at = ToExprs(indices);
  if (mask.is_none()) return Load(buffer, std::move(at));
  const Expr lanes = ToExpr(mask);
  Expr other = ToExpr(otherwise, &buffer->element);
  if (lanes->type.lanes > 1 && other->type.lanes == 1) other = Broadcast(other, lanes->type.lanes);
  return MaskedLoad(buffer, std::move(at), lanes, std::move(other));
}

void StoreTo(const Buffer& buffer, py::handle indices, py::handle value, py::handle mask) {
  std::vector<Expr> at = ToExprs(indices);
  Record(Store(buffer, std::move(at), ToExpr(value, &buffer->element), mask.is_none() ? Expr() : ToExpr(mask)));
}

Scope ToScope(const std::string& name) {
  for (const Scope scope : {Scope::kLocal, Scope::kShared, Scope::kWorkspace}) {
    if (name == ir::ScopeName(scope)) return scope;
  }
  KP_THROW(ValueError) << "alloc: unknown scope '" << name << "'; expected local, shared or workspace";
}

// Raises that a tensor isn't an element.
Expr NoArithmetic(const std::shared_ptr<BufferNode>& b, py::handle) { return ToExpr(py::cast(b)); }

Buffer Allocated(Buffer buffer) {
  Record(Alloc(buffer));
  return buffer;
}

}  // namespace

void BindIrBuffer(py::module_& module) {
  py::class_<BufferNode, std::shared_ptr<BufferNode>> type(
      module, "Buffer", "Row-major elements: x[i, j] reads one, x[i, j] = e writes one; an index with lanes, several.");
  for (const char* name : {"add", "sub", "mul", "truediv", "floordiv", "mod", "pow"}) {
    type.def((std::string("__") + name + "__").c_str(), &NoArithmetic);
    type.def((std::string("__r") + name + "__").c_str(), &NoArithmetic);
  }
  type.attr("__array_ufunc__") = py::none();  // NumPy's operators leave the work to ours
  type.def_readonly("name", &BufferNode::name)
      .def_readonly("dtype", &BufferNode::element)
      .def_property_readonly("shape", [](const BufferNode& b) { return py::tuple(py::cast(b.shape)); })
      .def_property_readonly("ndim", [](const BufferNode& b) { return b.shape.size(); })
      .def_property_readonly("scope", [](const BufferNode& b) { return ir::ScopeName(b.scope); })
      .def("__getitem__", [](const std::shared_ptr<BufferNode>& b,
                             py::handle indices) { return LoadFrom(b, indices, py::none(), py::none()); })
      .def("__setitem__", [](const std::shared_ptr<BufferNode>& b, py::handle indices,
                             py::handle value) { StoreTo(b, indices, value, py::none()); })
      .def(
          "load",
          [](const std::shared_ptr<BufferNode>& b, py::handle indices, py::handle mask, py::handle otherwise) {
            return LoadFrom(b, indices, mask, otherwise);
          },
          py::arg("indices"), py::arg("mask"), py::arg("otherwise") = 0,
          "Elements where the mask holds, `otherwise` elsewhere; those are not read.")
      .def(
          "store",
          [](const std::shared_ptr<BufferNode>& b, py::handle indices, py::handle value, py::handle mask) {
            StoreTo(b, indices, value, mask);
          },
          py::arg("indices"), py::arg("value"), py::arg("mask"), "Writes where the mask holds.")
      .def("__len__",
           [](const BufferNode& b) -> size_t {
             KP_THROW(TypeError) << "the length of '" << b.name << "' is not known yet; use " << b.name << ".shape[0]";
           })
      .def("__iter__",  // without it Python would ask for x[0], x[1], ... without end
           [](const BufferNode& b) -> py::iterator {
             KP_THROW(TypeError) << "'" << b.name
                                 << "' cannot be iterated over while a function is being written; use ir.serial("
                                 << b.name << ".shape[0])";
           })
      .def("__repr__",
           [](const BufferNode& b) { return "<ir.Buffer " + b.name + ": " + ir::TypeName(b.element) + ">"; });
  module.def(
      "alloc",
      [](py::handle type, py::handle shape, const std::string& scope, const std::string& name) {
        return std::const_pointer_cast<BufferNode>(
            Allocated(ir::MakeBuffer(name, ToType(type), ToExprs(shape), ToScope(scope))));
      },
      py::arg("dtype"), py::arg("shape"), py::arg("scope") = "local", py::arg("name") = "t",
      R"(Memory that lives to the end of the open block; undefined until written.

scope: local (of a thread), shared (of the threads of a block), workspace (scratch that the host keeps between calls).)");
  module.def(
      "persistent",
      [](const std::string& key, py::handle type, py::handle shape, bool zeroed, const std::string& name) {
        return std::const_pointer_cast<BufferNode>(
            Allocated(ir::MakeBuffer(name, ToType(type), ToExprs(shape), Scope::kPersistent, key, zeroed)));
      },
      py::arg("key"), py::arg("dtype"), py::arg("shape"), py::arg("zeroed") = false, py::arg("name") = "t",
      "Memory that keeps its contents between calls, named by a key. zeroed: 0 when it is first made.");
}

}  // namespace kernpack::compiler
