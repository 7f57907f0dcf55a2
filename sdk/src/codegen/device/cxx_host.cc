#include "codegen/device/cxx_host.h"

#include <kernpack/error.h>
#include <kernpack/sdk/codegen/signature.h>

#include <memory>

#include "codegen/compile_source.h"
#include "codegen/device/cxx_host_function.h"
#include "codegen/device/cxx_host_prelude.h"

namespace kernpack::sdk {
namespace ir {
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

class HostFile {
 public:
  explicit HostFile(const CompiledDevice& code)
      : module_(code.module),
        images_(code.images),
        functions_([](std::string_view name) { return HostCxx().IsReserved(name); }),
        helpers_(HostCxx()) {}

  std::string Write() {
    const IRModule& module = module_.module();
    for (const PrimFunc& f : module.functions) functions_.Define(f.get(), f->name);
    for (const DeviceImage& image : images_) AddImage(image);
    for (const PrimFunc& f : module.functions) AddFunction(*f);
    const bool asserts = module_.has_asserts();
    return "// Module " + module.name + ", generated from Kernpack's IR.\n" +
           "#define KP_ERRORS_ARE_COMPLETE // texts are those of every other kind\n" +
           (asserts ? "#include <cstring>\n" : "") + kHostPrelude + "\nnamespace {\n" + codes_ + kHostHelpers +
           (asserts ? kHostAsserts : "") + "void kp_check_images() {\n" + checks_ + "}\n\n" + helpers_.Text() +
           bodies_ + entries_ + "\n}  // namespace\n\nKP_MODULE(" + CString(module.name) +
           ", \"1.0.0\");\nKP_MODULE_INIT(kp_check_images);\n" + exports_;
  }

 private:
  const DeviceModule& module_;
  const std::vector<DeviceImage>& images_;
  Names functions_;
  Helpers helpers_;
  std::vector<std::string> names_;  // of the images' constants
  std::string codes_, checks_, bodies_, entries_, exports_;

  void AddImage(const DeviceImage& image) {
    const std::string at = std::to_string(names_.size());
    names_.push_back("kp_image" + at);
    codes_ += "\nconstexpr char kp_data" + at + "[] =" + Literal(image.data) + ";\nconstexpr kp::DeviceCode " +
              names_.back() + "{" + CString(image.name()) + ", " + CString(image.format) + ", {kp_data" + at +
              ", sizeof kp_data" + at + " - 1}};\n";
    checks_ += "  kp_check_image(" + names_.back() + ", " + image.name() + ", " + CString(image.target) + ");\n";
  }

  void AddFunction(const FuncNode& f) {
    HostFunction writer(module_, f, &helpers_, functions_);
    bodies_ += writer.Write();
    if (f.is_private) return;
    const std::string signature = SignatureOf(f);
    for (size_t i = 0; i < images_.size(); ++i) {
      const std::string entry = functions_.Fresh(f.name + "_entry");
      entries_ += writer.Entry(entry, names_[i]);
      exports_ += "KP_EXPORT_FOR(" + CString(images_[i].target) + ", " + f.name + ", " + entry + ", " +
                  CString(signature) + ");\n";
    }
    if (!f.gradient.empty()) exports_ += "KP_GRAD(" + f.name + ", " + f.gradient + ");\n";
  }
};

}  // namespace
}  // namespace ir

const HostHalf& CxxHost() {
  static const auto source = [](const ir::CompiledDevice& code) {
    return SourceFile{code.kind, SourceFile::kCxx17, ir::HostFile(code).Write()};
  };
  static const HostHalf host{[](const ir::CompiledDevice& code, const Target& target) {
                               return Generated{LoadSource(source(code), target, code.module.module().name), {}};
                             },
                             [](const ir::CompiledDevice& code, const Target& target, const std::string& path) {
                               ExportSource(source(code), target, path);
                             }};
  return host;
}

}  // namespace kernpack::sdk
