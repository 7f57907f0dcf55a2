#include "exec/fault.h"

#include <cstdarg>
#include <cstdio>

#include "exec/block.h"

namespace kernpack::emulator {

std::string Text(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char buffer[1024];
  const int length = std::vsnprintf(buffer, sizeof buffer, format, arguments);
  va_end(arguments);
  return std::string(buffer, length < 0 ? 0 : std::min<size_t>(static_cast<size_t>(length), sizeof buffer - 1));
}

std::string ThreadText(const Warp& warp, uint32_t lane) {
  const uint32_t* block = warp.block->launch->block;
  const uint32_t thread = warp.in_block * kLanes + lane;
  return Text("thread (%u, %u, %u)", thread % block[0], thread / block[0] % block[1], thread / block[0] / block[1]);
}

std::string SourceText(const Source& source) {
  std::string out = Text("PTX line %u", source.line);
  if (source.file_line != 0) out += Text(" (%s:%u)", source.file.c_str(), source.file_line);
  return out + " (" + source.op + ")";
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
  text += ThreadText(warp, lane) + Text(", PTX line %u", source.line);
  if (source.file_line != 0) text += Text(" (%s:%u)", source.file.c_str(), source.file_line);
  Place place{block.program->name, source.op, source.file, {}, {}, source.line, source.file_line};
  block.At(warp.rank, place.block);
  const uint32_t* size = block.launch->block;
  const uint32_t thread = warp.in_block * kLanes + lane;
  place.thread[0] = thread % size[0], place.thread[1] = thread / size[0] % size[1];
  place.thread[2] = thread / size[0] / size[1];
  throw Fault(kind, text + ": " + source.op + " " + what, std::move(place));
}

}  // namespace kernpack::emulator
