#include "codegen/llvm/frame_code.h"

#include <frames.h>
#include <kernpack/error.h>
#include <llvm/TargetParser/Triple.h>

namespace kernpack::sdk::ir {
namespace {

template <size_t n>
std::string_view Bytes(const char (&embedded)[n]) {
  return {embedded, n};
}

struct Row {
  const char* architecture;
  FrameCode code;
};

const Row kRows[] = {
#define KERNPACK_ROW(Architecture) \
  {#Architecture, {Bytes(device_code::frame_##Architecture##_o), Bytes(device_code::frame_##Architecture##_program_o)}},
    KERNPACK_FRAMES(KERNPACK_ROW)
#undef KERNPACK_ROW
};

}  // namespace

FrameCode FrameFor(const std::string& text) {
  const llvm::Triple triple(text);
  const std::string architecture = llvm::Triple::getArchTypeName(triple.getArch()).str();
  std::string known;
  for (const Row& row : kRows) {
    if (triple.isOSLinux() && row.architecture == architecture) return row.code;
    known += (known.empty() ? "" : ", ") + std::string(row.architecture) + "-linux";
  }
  KP_THROW(NotImplementedError) << "export: modules for '" << text
                                << "': this build of the SDK holds what modules share for " << known
                                << " only; another architecture's is there when the SDK is built where " << architecture
                                << "-linux-gnu-g++ is installed";
}

}  // namespace kernpack::sdk::ir
