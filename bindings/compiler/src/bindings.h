// The functions by which each file of this extension adds to the module, and code that the files share.
#ifndef KERNPACK_PYTHON_COMPILER_BINDINGS_H_
#define KERNPACK_PYTHON_COMPILER_BINDINGS_H_

#include <kernpack/any.h>
#include <kernpack/sdk/target.h>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>

namespace kernpack::compiler {

namespace py = pybind11;

void BindTarget(py::module_& module);
void BindMatch(py::module_& module);
void BindVirtualDevice(py::module_& module);
void BindCompilationConfig(py::module_& module);
void BindIr(py::module_& module);
void BindObjects();  // of the classes that the others bind
void BindBuild(py::module_& module);
void BindProgram(py::module_& module);
void BindImported(py::module_& module);  // modules that launch kernels of other compilers
// After all others: errors about arguments of what `scope`, a module or a class, has. `prefix` is "" or ends with a point.
void ExplainArguments(const py::handle& scope, const std::string& prefix);

// Attribute values, both ways. TypeError for what no attribute can be; OverflowError for integers beyond 64 bits.
sdk::AttrValue FromPython(py::handle value);
py::object ToPython(const sdk::AttrValue& value);
py::dict ToPython(const sdk::AttrMap& map);

// A Target, or what makes one: str or dict.
sdk::Target ToTarget(py::handle value);
// A device type's name.
int32_t ToDeviceType(const std::string& name);
std::string DeviceTypeName(int32_t device_type);
// OverflowError "<number> does not fit 64 bits"; TypeError for what isn't an integer.
int64_t ToInt64(py::handle number);
// The host's object behind a kernpack.Object or another holder of one.
Any UnwrapObject(py::handle holder);
// An object of the host as kernpack._core.object_of() takes it.
py::capsule ToCapsule(Any value);
// "cuda:1", or anything whose str() is such.
KpDLDevice ToDevice(py::handle value);

}  // namespace kernpack::compiler

#endif  // KERNPACK_PYTHON_COMPILER_BINDINGS_H_
