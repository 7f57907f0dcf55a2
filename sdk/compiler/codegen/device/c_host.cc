#include "codegen/device/host_half.h"

#include <optional>

#include "codegen/c/aliases.h"
#include "codegen/languages.h"
#include "codegen/c/module_text.h"
#include "codegen/compile_source.h"
#include "codegen/device/c_host_function.h"
#include "codegen/frame_code.h"

namespace kernpack::sdk {
namespace ir {
namespace {

// Behind kCHead.
constexpr char kFrame[] = R"(#include "codegen/frame/launch.h"

// The beginning of the frame's KpInstance.
struct KpInstance {
  const KpHost* host;
};
)";

// Before: KP_GENERATED_NAME, kp_codes.
constexpr char kInstances[] = R"(
static int kp_create(const KpHost* host, KpInstance** out) {
  return kp_frame_create_with_code(host, KP_GENERATED_NAME, kp_codes, sizeof kp_codes / sizeof *kp_codes, out);
}

static void kp_destroy(KpInstance* instance) { kp_frame_destroy(instance); }
)";

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

// The device's code.
std::string Codes(const CompiledDevice& code) {
  std::string data, rows;
  for (size_t i = 0; i < code.images.size(); ++i) {
    const DeviceImage& image = code.images[i];
    const std::string name = "kp_data" + std::to_string(i);
    data += "\nstatic const char " + name + "[] =" + Literal(image.data) + ";\n";
    rows += "    {" + CString(image.target) + ", " + CString(image.format) + ", " + CString(image.name()) + ", " +
            name + ", sizeof " + name + " - 1, UINT64_C(" + std::to_string(image.digest()) + "), " +
            std::to_string(code.device_type) + ", 0},\n";
  }
  return data + "\nstatic const KpFrameCode kp_codes[] = {\n" + rows + "};\n";
}

std::string WriteHost(const CompiledDevice& code) {
  std::vector<CVariant> variants;
  for (const DeviceImage& image : code.images) {
    variants.push_back({image.target, "&kp_codes[" + std::to_string(variants.size()) + "]"});
  }
  return WriteModule({code.module.module(), C99OfDeviceHost(), variants, kFrame + Codes(code) + kInstances,
                      [&](const FuncNode& f, Helpers* helpers, Names* functions) {
                        return CHostFunction(code.module, f, helpers, functions).Write();
                      }});
}

SourceFile GenerateSource(const CompiledDevice& code, const Target& target) {
  const std::optional<Target> host = target.host();
  const FrameCode frame = FrameFor(host ? host->GetAttr<std::string>("mtriple", "") : "");
  return {code.kind,
          WithAliases(WriteHost(code), code.module.module()),
          /*computes=*/false,
          frame.in_library,
          {std::begin(kAliasLinkOptions), std::end(kAliasLinkOptions)}};
}

}  // namespace
}  // namespace ir

const HostHalf& CHost() {
  static const HostHalf host{[](const ir::CompiledDevice& code, const Target& target) {
                               return Generated{
                                   LoadSource(ir::GenerateSource(code, target), target, code.module.module().name), {}};
                             },
                             [](const ir::CompiledDevice& code, const Target& target, const std::string& path) {
                               ExportSource(ir::GenerateSource(code, target), target, path);
                             }};
  return host;
}

}  // namespace kernpack::sdk
