// Kernels of other compilers: modules that launch them.
#include <array>

#include "codegen/device/imported.h"
#include "codegen/signature_words.h"
#include "ir_bindings.h"

namespace kernpack::compiler {
namespace {

// (argument, words of a tensor map, tensor)
using ParameterRow = std::tuple<uint32_t, std::vector<uint32_t>, std::string>;
// (function, entry, image, multiples, shared, cluster, cooperative, parameters)
using KernelRow = std::tuple<std::string, std::string, size_t, uint64_t, uint32_t, std::array<uint32_t, 3>, bool,
                             std::vector<ParameterRow>>;
// (target, format, data)
using ImageRow = std::tuple<std::string, std::string, py::bytes>;

sdk::ImportedModule ToImported(const ir::IRModule& module, const std::vector<ImageRow>& images,
                               const std::vector<KernelRow>& kernels) {
  sdk::ImportedModule made{module, {}, {}};
  for (const auto& [target, format, data] : images) made.images.push_back({target, format, std::string(data)});
  for (const auto& [function, entry, image, multiples, shared, cluster, cooperative, rows] : kernels) {
    std::vector<ir::ImportedParameter> parameters;
    for (const auto& [argument, map, tensor] : rows) parameters.push_back({argument, map, tensor});
    made.kernels.push_back({function, entry, image, multiples, shared, cluster, cooperative, std::move(parameters)});
  }
  return made;
}

py::int_ BuildImported(const ir::IRModule& module, const std::vector<ImageRow>& images,
                       const std::vector<KernelRow>& kernels, py::handle target) {
  const sdk::ImportedModule imported = ToImported(module, images, kernels);
  const sdk::Target chosen = ToTarget(target);
  sdk::Generated made;
  {
    const py::gil_scoped_release unlocked;
    made = sdk::BuildImported(imported, chosen);
  }
  return py::int_(reinterpret_cast<uintptr_t>(made.table));
}

void ExportImported(const ir::IRModule& module, const std::vector<ImageRow>& images,
                    const std::vector<KernelRow>& kernels, py::handle target, const std::string& path) {
  const sdk::ImportedModule imported = ToImported(module, images, kernels);
  const sdk::Target chosen = ToTarget(target);
  const py::gil_scoped_release unlocked;
  sdk::ExportImported(imported, chosen, path);
}

}  // namespace

void BindImported(py::module_& module) {
  module.def("header_of_contract", &ir::HeaderOfContract, py::arg("function"), py::arg("contract"),
             "The header of an IR function that has this contract.");
  module.def("build_imported", &BuildImported, py::arg("module"), py::arg("images"), py::arg("kernels"),
             py::arg("target"));
  module.def("export_imported", &ExportImported, py::arg("module"), py::arg("images"), py::arg("kernels"),
             py::arg("target"), py::arg("path"));
}

}  // namespace kernpack::compiler
