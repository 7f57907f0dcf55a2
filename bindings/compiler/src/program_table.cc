// FunctionTable: what programs call, as the planner and the executable find it.
#include <kernpack/sdk/program/module_functions.h>

#include <kernpack/signature/sequence.h>

#include <algorithm>

#include "program_bindings.h"

namespace kernpack::compiler {
namespace {

using program::FunctionTable;

// `handle`: kernpack.FunctionInfo.handle.
void AddLoaded(FunctionTable& table, uintptr_t handle) {
  table.Add(program::FunctionOf(*reinterpret_cast<const KpLoadedFunction*>(handle)));
}

// `callee`: a kernpack.Object of a function.
void AddPacked(FunctionTable& table, const std::string& name, const std::string& signature, const py::object& callee) {
  table.Add(program::FunctionOf(name, Any(UnwrapObject(callee)), signature));
}

// A default that Python can say; `otherwise` for a dtype, a device or a list.
py::object GetDefault(const signature::View& contract, int index, const py::object& otherwise) {
  const uint32_t at = contract.Param(index)[3];
  if (at == 0) return otherwise;
  const KpAny value = signature::ReadDefault(contract, contract.words + at);
  switch (value.type_index) {
    case KP_TYPE_NONE:
      return py::none();
    case KP_TYPE_INT:
      return py::int_(value.v.v_int);
    case KP_TYPE_BOOL:
      return py::bool_(value.v.v_int != 0);
    case KP_TYPE_FLOAT:
      return py::float_(value.v.v_float);
    case KP_TYPE_RAW_STR:
      return py::str(value.v.v_c_str);
    default:
      return otherwise;
  }
}

// The inspect.Signature of a function with a contract.
py::object GetSignature(const FunctionTable& table, const std::string& name) {
  const signature::View contract{table.Find(name)->words()};
  const py::module_ inspect = py::module_::import("inspect");
  const py::object parameter = inspect.attr("Parameter");
  py::list all;
  for (int i = 0; i < contract.NumParams(); ++i) {
    const bool keyword = (signature::GetFlags(contract.Param(i)) & KP_PARAM_KEYWORD_ONLY) != 0;
    all.append(parameter(contract.ParamName(i), parameter.attr(keyword ? "KEYWORD_ONLY" : "POSITIONAL_OR_KEYWORD"),
                         py::arg("default") = GetDefault(contract, i, parameter.attr("empty"))));
  }
  return inspect.attr("Signature")(all);
}

// Where its functions can run: names of device types, each once.
std::vector<std::string> DeviceTypes(const FunctionTable& table) {
  std::vector<std::string> types;
  for (const std::string& name : table.names()) {
    for (const int32_t type : table.Find(name)->device_types) {
      const std::string text = DeviceTypeName(type);
      if (std::find(types.begin(), types.end(), text) == types.end()) types.push_back(text);
    }
  }
  return types;
}

}  // namespace

void BindProgramTable(py::module_& module) {
  py::class_<FunctionTable, std::shared_ptr<FunctionTable>>(module, "FunctionTable")
      .def(py::init<>())
      .def("add_loaded", &AddLoaded, py::arg("handle"))
      .def("add_packed", &AddPacked, py::arg("name"), py::arg("signature"), py::arg("callee"))
      .def("signature", &GetSignature, py::arg("name"))
      .def("device_types", &DeviceTypes);
}

}  // namespace kernpack::compiler
