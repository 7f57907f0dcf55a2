#include "codegen/frame_code.h"

#include <frames.h>
#include <kernpack/error.h>

namespace kernpack::sdk {
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
        {}};

#if defined(__aarch64__)
constexpr char kThisMachine[] = "aarch64-linux";
#else
constexpr char kThisMachine[] = "x86_64-linux";
#endif

std::string GetArchitecture(const std::string& triple) {
  const std::string name = triple.substr(0, triple.find('-'));
  return name == "arm64" ? "aarch64" : name == "amd64" ? "x86_64" : name;
}

}  // namespace

FrameCode FindFrame(const std::string& given) {
  const std::string triple = given.empty() ? kThisMachine : given;
  const std::string architecture = GetArchitecture(triple);
  for (const Row* row = kRows; row->architecture; ++row) {
    if (triple.find("-linux") != std::string::npos && row->architecture == architecture) return row->code;
  }
  return {};
}

FrameCode FrameFor(const std::string& triple) {
  const FrameCode found = FindFrame(triple);
  if (!found.in_library.empty()) return found;
  std::string known;
  for (const Row* row = kRows; row->architecture; ++row) {
    known += (known.empty() ? "" : ", ") + std::string(row->architecture) + "-linux";
  }
  KP_THROW(NotImplementedError) << "export: modules for '" << triple
                                << "': this build of the SDK holds what modules share for " << known
                                << " only; another architecture's is there when the SDK is built where "
                                << GetArchitecture(triple) << "-linux-gnu-g++ is installed";
}

}  // namespace kernpack::sdk
