// kernpack_compiler._native: the SDK's classes in Python, on the host that kernpack._core has.
#include <kernpack/error.h>

#include "bindings.h"
#include "target/host.h"

namespace kernpack::compiler {
namespace {

const KpHost* g_host = nullptr;

// The Python exception of a kp::Error's kind; RuntimeError for a kind that Python has no class for.
void Translate(std::exception_ptr thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const Error& error) {
    const std::string kind(error.kind().data, error.kind().size);
    const py::object type = py::module_::import("builtins").attr("__dict__").attr("get")(kind);
    const bool known = !type.is_none() && PyExceptionClass_Check(type.ptr()) != 0;
    PyErr_SetString(known ? type.ptr() : PyExc_RuntimeError, error.what());
  }
}

}  // namespace
}  // namespace kernpack::compiler

const KpHost* kernpack::sdk::Host() { return kernpack::compiler::g_host; }

PYBIND11_MODULE(_native, module) {
  using namespace kernpack::compiler;
  module.doc() = "Targets, virtual devices, the IR and code generators.";
  const auto host = py::module_::import("kernpack._core").attr("host").cast<py::capsule>();
  g_host = host.get_pointer<const KpHost>();
  py::register_exception_translator(Translate);
  BindTarget(module);
  BindMatch(module);
  BindVirtualDevice(module);
  BindCompilationConfig(module);
  BindIr(module);
}
