// Counts of a launch's instructions: how often they ran, and how many bytes they moved. Kept only if the launch asks for them.
#ifndef KERNPACK_SDK_EMULATOR_EXEC_COUNTS_H_
#define KERNPACK_SDK_EMULATOR_EXEC_COUNTS_H_

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "program/program.h"

namespace kernpack::emulator {

struct Access;

struct Runs {
  uint64_t warps = 0;
  uint64_t threads = 0;  // that took part

  void Add(const Runs& others);
};

// Global memory moves in sectors of 32 bytes. Shared memory has 32 banks of 4 bytes and serves one word of each in a pass; threads
// that access the same word share it. Accesses of 8 and of 16 bytes go by halves and quarters of a warp.
struct Moved {
  uint64_t bytes = 0;  // that threads asked for
  uint64_t units = 0;  // sectors or passes
  uint64_t least = 0;  // of them, had the threads accessed neighbouring bytes

  void Add(const Moved& others);
};

constexpr uint64_t kSectorBytes = 32;

// Sectors of global memory, each counted once.
class Sectors {
 public:
  void Add(uint64_t address, uint64_t bytes);
  void Add(const Sectors& others);
  uint64_t count() const;

 private:
  static constexpr uint64_t kPerPage = 128;
  std::unordered_map<uint64_t, std::array<uint64_t, kPerPage / 64>> pages_;
};

struct Counts {
  explicit Counts(const Program& program)
      : runs(program.code.size()), global(program.sources.size()), shared(program.sources.size()) {}

  std::vector<Runs> runs;  // of Program::code
  std::vector<Moved> global, shared;  // of Program::sources
  Sectors read, written;  // an atomic does both

  void Add(const Counts& others);  // of the same program
  // How often each of Program::sources ran, which may be several of Program::code.
  std::vector<Runs> RunsOfSources(const Program& program) const;
};

// Counts an access, if its block's launch is counted.
void CountAccess(const Warp& warp, const Instruction& instruction, const Access& access);

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_EXEC_COUNTS_H_
