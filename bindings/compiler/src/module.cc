// kernpack_compiler._native: the SDK's classes in Python, on the host that kernpack._core has.
#include <kernpack/error.h>

#include "author.h"
#include "bindings.h"
#include "ir_bindings.h"
#include "target/host.h"

namespace kernpack::compiler {
namespace {

const KpHost* g_host = nullptr;

// A kp::Error as kernpack raises it: an exception of Python's own comes back as it was, a kind as its class. What is wrong
// with what somebody writes in Python names the line.
void Translate(std::exception_ptr thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const Error& error) {
    const bool placed = TakeFailedWithAuthor() || IsTracing();
    const bool is_author = placed && *error.what();  // a Python exception's text is its own
    const std::string text = is_author ? AuthorPlace() + error.what() : "";
    (is_author ? Error(error.kind().data, KpBytes{text.data(), text.size()}) : error).raise(g_host);
    const py::object raise = py::module_::import("kernpack._core").attr("raise_pending");
    Py_XDECREF(PyObject_CallNoArgs(raise.ptr()));  // null, and the exception is set
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
  BindObjects();
  BindBuild(module);
  BindImported(module);
  BindProgram(module);
  ExplainArguments(module, "");
}
