// A fault that stops a kernel.
#ifndef KERNPACK_SDK_EMULATOR_EXEC_FAULT_H_
#define KERNPACK_SDK_EMULATOR_EXEC_FAULT_H_

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "program/program.h"

namespace kernpack::emulator {

struct Warp;

// Where a fault happened, for programs that read findings.
struct Place {
  std::string kernel, op, file;  // `file` is empty without line information
  std::vector<FileLine> inlined_at;
  uint32_t block[3] = {}, thread[3] = {};
  uint32_t line = 0, file_line = 0;  // of the PTX, and of `file`
};

struct Fault : std::runtime_error {
  enum class Kind : uint8_t {
    kIllegalAddress,
    kMisaligned,
    kUninitialised,
    kRace,
    kDivergentBarrier,
    kDeadlock,
    kAssert,
    kTrap,
    kTimeout,
    kInterrupted,
  };
  Fault(Kind what, const std::string& text, Place where = {})
      : std::runtime_error(text), kind(what), place(std::move(where)) {}
  Kind kind;
  Place place;
};

// Throws a Fault whose text names the kernel, block, thread, instruction and line: `lane` is the thread's.
[[noreturn]] void Fail(const Warp& warp, const Instruction& instruction, uint32_t lane, Fault::Kind kind,
                       const std::string& what);

// "thread (3, 0, 0)"
std::string ThreadText(const Warp& warp, uint32_t lane);
// The same with its block, if that isn't the one of `from`.
std::string ThreadText(const Warp& from, const Warp& warp, uint32_t lane);
// "PTX line 12 (rows.cu:7) (st.global.f32)". Of a line of a function that was inlined: "(sums.h:7, inlined at rows.cu:9)".
std::string SourceText(const Source& source);
// "block (1, 0, 0)"
std::string BlockText(const Warp& warp);

__attribute__((format(printf, 1, 2))) std::string Text(const char* format, ...);

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_EXEC_FAULT_H_
