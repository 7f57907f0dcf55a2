// The three-array call with nanobind. Arrays come in as nb::ndarray, checked for dtype, rank and layout.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

namespace nb = nanobind;
using Array = nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Vector = nb::ndarray<float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

NB_MODULE(nanobind_bench, m) {
  m.def("nothing", [] {});
  m.def("add_ints", [](long a, long b, long c) { return a + b + c; });
  m.def("three", [](const Array& a, const Array& b, const Vector& c) { return a.size() + b.size() + c.size(); });
}
