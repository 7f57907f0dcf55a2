// The three-array call with pybind11. Arrays come in as py::array_t, checked for dtype and layout.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

namespace py = pybind11;
using Array = py::array_t<float, py::array::c_style>;

PYBIND11_MODULE(pybind11_bench, m) {
  m.def("nothing", [] {});
  m.def("add_ints", [](long a, long b, long c) { return a + b + c; });
  m.def("three", [](const Array& a, const Array& b, const Array& c) { return a.size() + b.size() + c.size(); });
}
