#include "author.h"

#include <utility>

#include "bindings.h"

namespace kernpack::compiler {
namespace {

// The innermost Python frame outside this package: what the author wrote.
py::object AuthorFrame() {
  py::object frame = py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  while (frame && !frame.is_none()) {
    const py::object name = frame.attr("f_globals").attr("get")("__name__", "");
    if (!name.attr("startswith")("kernpack_compiler").cast<bool>()) return frame;
    frame = frame.attr("f_back");
  }
  return py::none();
}

thread_local bool g_failed = false;

}  // namespace

NamesAuthor::~NamesAuthor() { g_failed = g_failed || std::uncaught_exceptions() > thrown_before_; }
bool TakeFailedWithAuthor() { return std::exchange(g_failed, false); }

std::string AuthorFile() {
  const py::object frame = AuthorFrame();
  return frame.is_none() ? "" : frame.attr("f_code").attr("co_filename").cast<std::string>();
}

std::string AuthorPlace() {
  const std::string file = AuthorFile();
  return file.empty() ? "" : file + ", line " + std::to_string(AuthorPosition().line) + ": ";
}

sdk::ir::Position AuthorPosition() {
  const py::object frame = AuthorFrame();
  if (frame.is_none()) return {};
  const auto instruction = frame.attr("f_lasti").cast<int64_t>() / 2;
  const py::object positions = frame.attr("f_code").attr("co_positions")();
  const py::tuple all(py::module_::import("itertools").attr("islice")(positions, instruction, instruction + 1));
  const py::object line = frame.attr("f_lineno");
  sdk::ir::Position at{line.is_none() ? 0 : line.cast<uint32_t>(), 1};
  if (all.size() == 1) {
    const py::object column = all[0].cast<py::tuple>()[2];
    if (!column.is_none()) at.column = column.cast<uint32_t>() + 1;
  }
  return at;
}

}  // namespace kernpack::compiler
