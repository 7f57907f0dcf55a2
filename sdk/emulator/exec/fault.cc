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
  const uint32_t thread = warp.index * kLanes + lane;
  return Text("thread (%u, %u, %u)", thread % block[0], thread / block[0] % block[1], thread / block[0] / block[1]);
}

void Fail(const Warp& warp, const Instruction& instruction, uint32_t lane, Fault::Kind kind, const std::string& what) {
  const Block& block = *warp.block;
  const Source& source = block.program->sources[instruction.statement];
  std::string text =
      Text("kernel %s, block (%u, %u, %u), ", block.program->name.c_str(), block.at[0], block.at[1], block.at[2]);
  text += ThreadText(warp, lane) + Text(", PTX line %u", source.line);
  if (source.file_line != 0) text += Text(" (%s:%u)", source.file.c_str(), source.file_line);
  throw Fault(kind, text + ": " + source.op + " " + what);
}

}  // namespace kernpack::emulator
