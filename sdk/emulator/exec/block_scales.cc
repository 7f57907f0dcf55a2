#include "exec/block_scales.h"

#include "exec/fault.h"
#include "exec/matrix_elements.h"
#include "exec/taint.h"

namespace kernpack::emulator {
namespace {

enum ScaleOperand : uint8_t { kCountOfScales, kTypeOfScales, kScalesOfA, kScalesOfB = 5 };

const uint32_t* WordsAt(const Warp& warp, uint32_t slot) {
  return reinterpret_cast<const uint32_t*>(warp.registers + slot);
}

// The lane of a quad that has the scales of a row of A or a column of B. A's rows 8 to 15 are in the lane behind that of rows 0 to 7, so
// that thread-id chooses one of two pairs; of B it chooses one of four lanes (PTX ISA 9.0, 9.7.14.3).
uint32_t LaneOfScales(bool of_a, uint32_t line, uint32_t thread) {
  return of_a ? line % 8 * 4 + thread * 2 + line / 8 : line * 4 + thread;
}

struct Selector {
  uint32_t byte, thread;
};
Selector GetSelector(const Warp& warp, const Instruction& i, const uint32_t* operands, bool of_a) {
  const uint32_t* const own = operands + (of_a ? kScalesOfA : kScalesOfB);
  uint32_t found[2];
  for (uint32_t n = 0; n < 2; ++n) {
    const uint32_t* const words = WordsAt(warp, own[1 + n]);
    const char* const what = n == 0 ? "byte-id" : "thread-id";
    if (!warp.taint.empty()) NeedUntainted(warp, i, own[1 + n], ~0U, "takes a selector of scales from");
    for (uint32_t l = 1; l < kLanes; ++l) {
      if (words[l] == words[0]) continue;
      Fail(warp, i, l, Fault::Kind::kIllegalAddress,
           Text("has the %s %u of %s's scales, and thread 0 of the warp has %u: all threads have to give the same",
                what, words[l], of_a ? "A" : "B", words[0]));
    }
    found[n] = words[0];
  }
  const uint32_t count = operands[kCountOfScales], threads = of_a ? 2 : 4;
  if (found[0] > 3 || found[0] % count != 0) {
    Fail(warp, i, 0, Fault::Kind::kIllegalAddress,
         Text("has the byte-id %u of %s's scales; expected %s", found[0], of_a ? "A" : "B",
              count == 1   ? "0 to 3"
              : count == 2 ? "0 or 2 with .scale_vec::2X"
                           : "0 with .scale_vec::4X"));
  }
  if (found[1] >= threads) {
    Fail(warp, i, 0, Fault::Kind::kIllegalAddress,
         Text("has the thread-id %u of %s's scales; expected %s", found[1], of_a ? "A" : "B",
              of_a ? "0 or 1" : "0 to 3"));
  }
  return {found[0], found[1]};
}

}  // namespace

double ReadScale(ScaleType type, uint8_t bits) {
  return type == ScaleType::kUe8m0 ? Plain::ReadUe8m0(bits) : Plain::ReadUe4m3(bits);
}

void ScaleTile(const Warp& warp, const Instruction& i, const uint32_t* operands, Tile* tile) {
  const uint32_t count = operands[kCountOfScales], each = tile->depth / count;
  const auto type = static_cast<ScaleType>(operands[kTypeOfScales]);
  for (const bool of_a : {true, false}) {
    const Selector selector = GetSelector(warp, i, operands, of_a);
    const uint32_t* const words = WordsAt(warp, operands[of_a ? kScalesOfA : kScalesOfB]);
    for (uint32_t line = 0; line < (of_a ? kMostRows : kColumns); ++line) {
      const uint32_t word = words[LaneOfScales(of_a, line, selector.thread)] >> (8 * selector.byte);
      for (uint32_t k = 0; k < tile->depth; ++k)
        (of_a ? tile->of_a[line][k] : tile->of_b[k][line]) *=
            ReadScale(type, static_cast<uint8_t>(word >> (8 * (k / each))));
    }
  }
}

void AddUnknownScales(const Warp& warp, const uint32_t* operands, uint32_t* rows, uint32_t* columns) {
  for (const bool of_a : {true, false}) {
    const uint32_t* const own = operands + (of_a ? kScalesOfA : kScalesOfB);
    const uint32_t tainted = Tainted(warp, own[0]), thread = WordsAt(warp, own[2])[0];
    for (uint32_t line = 0; line < (of_a ? kMostRows : kColumns); ++line)
      (of_a ? *rows : *columns) |= (tainted >> LaneOfScales(of_a, line, thread) & 1) << line;
  }
}

}  // namespace kernpack::emulator
