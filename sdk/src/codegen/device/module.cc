#include "codegen/device/module.h"

#include <kernpack/error.h>
#include <kernpack/sdk/codegen/signature.h>
#include <kernpack/sdk/ir/pass.h>

#include <cstdio>

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

// As kp_digest() of kHostHelpers computes it: FNV-1a.
std::string DigestOf(const std::string& data) {
  uint64_t digest = 0xcbf29ce484222325u;
  for (const char c : data) digest = (digest ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  char text[20];
  std::snprintf(text, sizeof text, "0x%016llx", static_cast<unsigned long long>(digest));
  return text;
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
  std::string codes, checks, entries, exports;
  for (size_t i = 0; i < images.size(); ++i) {
    const std::string at = std::to_string(i);
    const std::string digest = DigestOf(images[i].data);  // also the name that loaded code is kept under
    codes += "\nconstexpr char kp_data" + at + "[] =" + Literal(images[i].data) +
             ";\nconstexpr kp::DeviceCode kp_image" + at + "{" + CString(digest) + ", " + CString(images[i].format) +
             ", {kp_data" + at + ", sizeof kp_data" + at + " - 1}};\n";
    checks += "  kp_check_image(kp_image" + at + ", " + digest + ", " + CString(images[i].target) + ");\n";
  }
  for (size_t f = 0; f < writers_.size(); ++f) {
    const FuncNode& function = *module_.functions[f];
    if (function.is_private) continue;
    const std::string signature = function.signature.empty() ? DeriveSignature(function) : function.signature;
    for (size_t i = 0; i < images.size(); ++i) {
      const std::string entry = functions_.Fresh(function.name + "_entry");
      entries += writers_[f]->Entry(entry, "kp_image" + std::to_string(i));
      exports += "KP_EXPORT_FOR(" + CString(images[i].target) + ", " + function.name + ", " + entry + ", " +
                 CString(signature) + ");\n";
    }
    if (!function.gradient.empty()) exports += "KP_GRAD(" + function.name + ", " + function.gradient + ");\n";
  }
  if (exports.empty()) {
    KP_THROW(ValueError) << "module '" << module_.name << "' has no function that is not private";
  }
  return "// Module " + module_.name + ", generated from Kernpack's IR.\n" + kHostPrelude + "\nnamespace {\n" + codes +
         kHostHelpers + "void kp_check_images() {\n" + checks + "}\n\n" + helpers_.Text() + bodies_ + entries +
         "\n}  // namespace\n\nKP_MODULE(" + CString(module_.name) +
         ", \"1.0.0\");\nKP_MODULE_INIT(kp_check_images);\n" + exports;
}

}  // namespace kernpack::sdk::ir
