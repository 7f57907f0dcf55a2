// Types of a program's values, both ways.
#include <kernpack/error.h>
#include <kernpack/sdk/ir/type.h>

#include "program_bindings.h"

namespace kernpack::compiler {
namespace {

program::Dim ToDim(py::handle extent) {
  if (extent.is_none()) return {};
  if (py::isinstance<py::str>(extent)) return extent.cast<std::string>();
  return ToInt64(extent);
}

py::object FromDim(const program::Dim& dim) {
  if (dim.is_unknown()) return py::none();
  return dim.is_constant() ? py::object(py::int_(dim.extent)) : py::str(dim.symbol);
}

}  // namespace

program::Type TensorType(const std::string& dtype, const py::iterable& shape) {
  DType element;
  for (const DTypeName& row : kDTypeNames) {
    if (dtype == row.name) element = row.dtype;
  }
  if (element == DType()) KP_THROW(ValueError) << "expected a dtype such as 'f32', got '" << dtype << "'";
  std::vector<program::Dim> dims;
  for (py::handle extent : shape) dims.push_back(ToDim(extent));
  return program::Type::Tensor(element, std::move(dims));
}

py::tuple DescribeType(const program::Type& type) {
  if (!type.is_tensor()) return py::make_tuple(py::none(), py::none());
  const std::string dtype = sdk::ir::TypeName(type.dtype);
  if (!type.dims) return py::make_tuple(dtype, py::none());
  py::list extents;
  for (const program::Dim& dim : *type.dims) extents.append(FromDim(dim));
  return py::make_tuple(dtype, extents);
}

}  // namespace kernpack::compiler
