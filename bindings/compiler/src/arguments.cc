// Calls with arguments of the wrong types say which argument, what was expected and what came. pybind11 lists a function's
// forms instead, and has no hook for that; so each function's entry goes through one that looks at the error it leaves, and explains
// it by the signature that pybind11 keeps of the function.
#include <map>
#include <string>

#include "author.h"
#include "bindings.h"

namespace kernpack::compiler {
namespace {

using Entry = PyObject* (*)(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* keywords);

constexpr int kFlags = METH_FASTCALL | METH_KEYWORDS;

Entry g_entry = nullptr;  // pybind11's, the same for every function

// The public name of each function, by the object that pybind11 keeps for it, which lives as long as this extension.
std::map<PyObject*, std::string>& Names() {
  static auto* const names = new std::map<PyObject*, std::string>;
  return *names;
}

// Writes the pending error anew where it is pybind11's about types.
void Explain(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* keywords) {
  py::error_already_set raised;
  const auto text = py::str(raised.value()).cast<std::string>();
  const auto name = Names().find(self);
  const py::detail::function_record* const record = py::detail::function_record_ptr_from_PyObject(self);
  const bool explains = name != Names().end() && record && !record->next;
  if (!explains || text.find("(): incompatible ") == std::string::npos) return raised.restore();
  try {
    py::list positional;
    py::dict named;
    for (Py_ssize_t i = 0; i < n; ++i) positional.append(py::handle(args[i]));
    for (Py_ssize_t i = 0; keywords && i < PyTuple_GET_SIZE(keywords); ++i) {
      named[PyTuple_GET_ITEM(keywords, i)] = py::handle(args[n + i]);
    }
    const py::object explain = py::module_::import("kernpack_compiler._arguments").attr("explain");
    const std::string place = name->second.rfind("ir.", 0) == 0 ? AuthorPlace() : "";
    py::set_error(PyExc_TypeError,
                  (place + explain(name->second, record->signature, positional, named).cast<std::string>()).c_str());
  } catch (py::error_already_set& failed) {
    failed.restore();
  }
}

PyObject* Call(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* keywords) {
  PyObject* const result = g_entry(self, args, n, keywords);
  if (!result && PyErr_ExceptionMatches(PyExc_TypeError)) Explain(self, args, PyVectorcall_NARGS(n), keywords);
  return result;
}

void Route(PyObject* function, const std::string& name) {
  if (PyInstanceMethod_Check(function)) function = PyInstanceMethod_GET_FUNCTION(function);
  if (!PyCFunction_Check(function)) return;
  PyMethodDef* const def = reinterpret_cast<PyCFunctionObject*>(function)->m_ml;
  if (def->ml_flags != kFlags || def->ml_meth == reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&Call)))
    return;
  g_entry = reinterpret_cast<Entry>(reinterpret_cast<void (*)()>(def->ml_meth));
  def->ml_meth = reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&Call));
  Names()[PyCFunction_GET_SELF(function)] = name;
}

}  // namespace

void ExplainArguments(const py::handle& scope, const std::string& prefix) {
  for (const auto& [key, value] : py::dict(scope.attr("__dict__"))) {
    const auto own = key.cast<std::string>();
    const std::string name = own == "__init__" ? prefix.substr(0, prefix.size() - 1) : prefix + own;
    if (py::isinstance<py::module_>(value) || (PyType_Check(value.ptr()) && own[0] != '_')) {
      ExplainArguments(value, name + ".");
    } else if (py::isinstance<py::staticmethod>(value)) {
      Route(value.attr("__func__").ptr(), name);
    } else {
      Route(value.ptr(), name);
    }
  }
}

}  // namespace kernpack::compiler
