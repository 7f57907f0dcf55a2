#include "codegen/device/module.h"

#include <kernpack/error.h>
#include <kernpack/sdk/codegen/signature.h>
#include <kernpack/sdk/ir/pass.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "codegen/device/host_prelude.h"
#include "codegen/device/launches.h"

namespace kernpack::sdk::ir {
namespace {

// Adjacent literals of at most a few thousand characters: what every compiler takes.
std::string Literal(const std::string& data) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string text = "\n    \"";
  for (size_t i = 0; i < data.size(); ++i) {
    const char c = data[i];
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      text += i + 1 < data.size() ? "\\n\"\n    \"" : "\\n";
    } else if (c == '"' || c == '\\') {
      text += {'\\', c};
    } else if (byte >= 0x20 && byte < 0x7f && c != '?') {
      text += c;
    } else {
      text += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
      text += i % 32 == 31 ? "\"\n    \"" : "\"\"";  // a digit behind it would be taken for one of its own
    }
  }
  return text + "\"";
}

// Loaded code is kept under its name, which says what it is.
std::string NameOf(const DeviceImage& image) {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx",
                static_cast<unsigned long long>(XXH3_64bits(image.data.data(), image.data.size())));
  return digits;
}

}  // namespace

DeviceModule::DeviceModule(const IRModule& module, const KernelDialect& dialect)
    : module_(Lower(module)),
      functions_([](std::string_view name) { return HostCxx().IsReserved(name); }),
      helpers_(HostCxx()) {
  DeviceProgram gathered(dialect);
  for (PrimFunc& f : module_.functions) {
    f = WithLaunches(*f);
    functions_.Define(f.get(), f->name);
  }
  for (const PrimFunc& f : module_.functions) {
    writers_.push_back(std::make_unique<HostFunction>(module_, *f, &helpers_, &functions_, &gathered));
    bodies_ += writers_.back()->Write();
  }
  program_ = gathered.Text();
}

std::string DeviceModule::HostSource(const std::vector<DeviceImage>& images) {
  std::string codes, entries, exports;
  for (size_t i = 0; i < images.size(); ++i) {
    const std::string at = std::to_string(i);
    codes += "\nconstexpr char kData" + at + "[] =" + Literal(images[i].data) + ";\nconstexpr kp::DeviceCode kImage" +
             at + "{" + CString(NameOf(images[i])) + ", " + CString(images[i].format) + ", {kData" + at +
             ", sizeof kData" + at + " - 1}};\n";
  }
  for (size_t f = 0; f < writers_.size(); ++f) {
    const FuncNode& function = *module_.functions[f];
    if (function.is_private) continue;
    const std::string signature = function.signature.empty() ? DeriveSignature(function) : function.signature;
    for (size_t i = 0; i < images.size(); ++i) {
      const std::string entry = functions_.Fresh(function.name + "_entry");
      entries += writers_[f]->Entry(entry, "kImage" + std::to_string(i));
      exports += "KP_EXPORT_FOR(" + CString(images[i].target) + ", " + function.name + ", " + entry + ", " +
                 CString(signature) + ");\n";
    }
    if (!function.gradient.empty()) exports += "KP_GRAD(" + function.name + ", " + function.gradient + ");\n";
  }
  if (exports.empty()) {
    KP_THROW(ValueError) << "module '" << module_.name << "' has no function that is not private";
  }
  return "// Module " + module_.name + ", generated from Kernpack's IR.\n" + kHostPrelude + "\nnamespace {\n" + codes +
         kHostHelpers + helpers_.Text() + bodies_ + entries + "\n}  // namespace\n\nKP_MODULE(" +
         CString(module_.name) + ", \"1.0.0\");\n" + exports;
}

}  // namespace kernpack::sdk::ir
