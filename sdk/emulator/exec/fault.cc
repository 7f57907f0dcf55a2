#include "exec/fault.h"

#include <cstdarg>
#include <cstdio>

#include "exec/block.h"

namespace kernpack::emulator {

std::string Text(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char buffer[4096];
  const int length = std::vsnprintf(buffer, sizeof buffer, format, arguments);
  va_end(arguments);
  return std::string(buffer, length < 0 ? 0 : std::min<size_t>(static_cast<size_t>(length), sizeof buffer - 1));
}

std::string ThreadText(const Warp& warp, uint32_t lane) {
  const uint32_t* block = warp.block->launch->block;
  const uint32_t thread = warp.in_block * kLanes + lane;
  return Text("thread (%u, %u, %u)", thread % block[0], thread / block[0] % block[1], thread / block[0] / block[1]);
}

namespace {

// " (sums.h:7, inlined at rows.cu:9)"
std::string FileText(const Source& source) {
  if (source.file_line == 0) return "";
  std::string out = " (" + source.file + ":" + std::to_string(source.file_line);
  constexpr size_t kMost = 4;
  const size_t count = source.inlined_at == nullptr ? 0 : source.inlined_at->size();
  for (size_t n = 0; n < count; ++n) {
    if (count > kMost && n == kMost / 2) {
      out += ", ...";
      n = count - kMost / 2;
    }
    const FileLine& at = (*source.inlined_at)[n];
    out += ", inlined at " + at.file + ":" + std::to_string(at.line);
  }
  return out + ")";
}

}  // namespace

std::string SourceText(const Source& source) {
  return "PTX line " + std::to_string(source.line) + FileText(source) + " (" + source.op + ")";
}

std::string BlockText(const Warp& warp) {
  uint32_t at[3];
  warp.block->At(warp.rank, at);
  return Text("block (%u, %u, %u)", at[0], at[1], at[2]);
}

std::string ThreadText(const Warp& from, const Warp& warp, uint32_t lane) {
  return ThreadText(warp, lane) + (from.rank == warp.rank ? "" : " of " + BlockText(warp));
}

void Fail(const Warp& warp, const Instruction& instruction, uint32_t lane, Fault::Kind kind, const std::string& what) {
  const Block& block = *warp.block;
  const Source& source = block.program->sources[instruction.statement];
  std::string text = "kernel " + block.program->name + ", " + BlockText(warp) + ", ";
  text += ThreadText(warp, lane) + Text(", PTX line %u", source.line) + FileText(source);
  Place place{block.program->name, source.op, source.file, {}, {}, {}, source.line, source.file_line};
  if (source.inlined_at != nullptr) place.inlined_at = *source.inlined_at;
  block.At(warp.rank, place.block);
  const uint32_t* size = block.launch->block;
  const uint32_t thread = warp.in_block * kLanes + lane;
  place.thread[0] = thread % size[0], place.thread[1] = thread / size[0] % size[1];
  place.thread[2] = thread / size[0] / size[1];
  throw Fault(kind, text + ": " + source.op + " " + what, std::move(place));
}

}  // namespace kernpack::emulator
