#include "schedule/arguments.h"

#include <kernpack/error.h>

#include <charconv>

namespace kernpack::sdk::ir {
namespace {

constexpr const char* kLaunchIndices[] = {"block.x", "block.y", "block.z", "thread.x", "thread.y", "thread.z"};

}  // namespace

void CheckCount(const std::string& primitive, const Args& args, size_t least, size_t most, const char* wanted) {
  if (args.size() >= least && args.size() <= most) return;
  KP_THROW(ValueError) << primitive << ": expected (" << wanted << "), got " << args.size() << " arguments";
}

int64_t ParseInteger(const std::string& what, const std::string& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    KP_THROW(ValueError) << what << ": expected an integer, got '" << text << '\'';
  return value;
}

Tail ParseTail(const std::string& place, const Args& args, size_t at) {
  if (args.size() <= at || args[at] == "peeled") return Tail::kPeeled;
  if (args[at] == "masked") return Tail::kMasked;
  KP_THROW(ValueError) << place << "expected the tail to be peeled or masked, got '" << args[at] << '\'';
}

int ParseLaunchIndex(const std::string& place, const std::string& text) {
  for (int i = 0; i < 6; ++i) {
    if (text == kLaunchIndices[i]) return i;
  }
  KP_THROW(ValueError) << place << "expected block.x, block.y, block.z, thread.x, thread.y or thread.z, got '" << text
                       << '\'';
}

const char* LaunchIndexName(int index) { return kLaunchIndices[index]; }

std::string MarkName(const Mark& mark) {
  if (mark.index >= 0) return std::string("bound to ") + LaunchIndexName(mark.index);
  switch (mark.kind) {
    case ForKind::kParallel:
      return "parallel";
    case ForKind::kVectorized:
      return "vectorized";
    case ForKind::kUnrolled:
      return "unrolled";
    default:
      return "serial";
  }
}

}  // namespace kernpack::sdk::ir
