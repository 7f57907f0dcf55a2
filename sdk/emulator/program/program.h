// A kernel as it is run: instructions whose operands are offsets into a warp's registers.
//
// A register is a slot of 32 lanes: 32 words of 4 bytes, or of 8 for 64-bit types; a predicate is one word with a bit per lane.
// Immediates and special registers have slots as well, filled before the kernel begins.
#ifndef KERNPACK_SDK_EMULATOR_PROGRAM_PROGRAM_H_
#define KERNPACK_SDK_EMULATOR_PROGRAM_PROGRAM_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ops/rows.h"
#include "ptx/syntax.h"

namespace kernpack::emulator {

struct Warp;
struct Instruction;
using Handler = void (*)(Warp& warp, const Instruction& instruction, uint32_t mask);

constexpr uint32_t kNoOperand = ~0U;

enum class Flow : uint8_t {
  kPlain,  // run, then on to the next
  kCollective,  // the same, once all lanes of the member mask are here
  kBranch,
  kBranchIndexed,
  kExit,
  kBarrier,
  kArrive,
  kWarpSync,
  kClusterArrive,
  kClusterWait,
  kGroupWait,  // wgmma.wait_group
};

// The modifiers that change the work of a handler.
enum Flags : uint32_t {
  kFtz = 1,
  kSat = 2,
  kRoundZero = 4,
  kRoundDown = 8,
  kRoundUp = 16,
  kRounding = kRoundZero | kRoundDown | kRoundUp,
  kToInteger = 32,  // .rni and its like
  kPropagateNan = 64,
  kRelu = 128,
  kAnd = 256,
  kOr = 512,
  kXor = 1024,
  kNegateC = 2048,  // the third source is a negated predicate
  kClamp = 4096,
  kCarryOut = 8192,
  kRoundAway = 16384,
  kAtomic = 32768,
  kRelaxed = 262144,  // orders nothing
  kCluster = 131072,  // an address of any block of the cluster
  kGroupRegisters = 524288,  // names registers of wgmma
  kStrong = 1U << 20,  // volatile, relaxed, acquire or release
  kRelease = 1U << 21,
  kBlockScope = 1U << 22,  // .cta or .cluster
  kExpected = 1U << 23,  // a plain load of a value that an atom.cas expects, and so reads once more
  kApprox = 65536,  // of the approximations whose results differ from the nearest ones by more than a few bits
};

// Variants of instructions of the tables that are looked at apart, and of calls of functions that the driver has.
constexpr uint8_t kSelects = 251, kCompares = 252, kBuiltIn = 253;

struct Instruction {
  Handler run = nullptr;
  Flow flow = Flow::kPlain;
  bool guard_negated = false;
  Space space = Space::kGeneric;
  uint8_t bytes = 0;  // of an element of memory
  uint8_t count = 1;  // elements of a vector
  bool is_signed = false;
  bool wide = false;  // registers of 8 bytes a lane
  uint8_t variant = 0;  // what else tells handlers of a family apart
  uint32_t guard = kNoOperand;
  uint32_t flags = 0;
  uint32_t target = 0;  // of a branch
  uint32_t op[8] = {kNoOperand, kNoOperand, kNoOperand, kNoOperand, kNoOperand, kNoOperand, kNoOperand, kNoOperand};
  uint32_t extra = 0;  // where further operands begin in Program::extra
  int64_t displacement = 0;
  uint32_t statement = 0;  // index into Program::sources
};

struct FileLine {
  std::string file;
  uint32_t line = 0;
};

struct Source {
  uint32_t line = 0;
  std::string op;
  std::string file;
  uint32_t file_line = 0;
  std::shared_ptr<const std::vector<FileLine>>
      inlined_at;  // of the function of that line, the caller first; NULL: nowhere
};

struct Constant {
  uint32_t slot;
  uint32_t lane_bytes;  // 4 or 8; 0 for a predicate
  uint64_t bits;
};

enum class Special : uint8_t {
  kTidX,
  kTidY,
  kTidZ,
  kNtidX,
  kNtidY,
  kNtidZ,
  kCtaidX,
  kCtaidY,
  kCtaidZ,
  kNctaidX,
  kNctaidY,
  kNctaidZ,
  kLaneId,
  kWarpId,
  kNwarpId,
  kSmId,
  kNsmId,
  kGridId,
  kLanemaskEq,
  kLanemaskLe,
  kLanemaskLt,
  kLanemaskGe,
  kLanemaskGt,
  kDynamicShared,
  kTotalShared,
  kClusterNctaidX,
  kClusterNctaidY,
  kClusterNctaidZ,
  kClusterNctarank,
  kClusterCtaidX,
  kClusterCtaidY,
  kClusterCtaidZ,
  kClusterCtarank,
  kClusterIdX,
  kClusterIdY,
  kClusterIdZ,
  kNclusterIdX,
  kNclusterIdY,
  kNclusterIdZ,
  kWorkspaceHigh,
  kWorkspaceLow,
  kClock,
  kClock64,
  kGlobalTimer,
};

struct SpecialSlot {
  uint32_t slot;
  Special special;
};

struct Program {
  std::string name;
  const RowCode* rows = nullptr;
  std::vector<Instruction> code;
  std::vector<uint32_t> extra;
  std::vector<Source> sources;
  // Of each source that isn't wgmma itself, the registers of wgmma that it names: first those that it writes. Empty for kernels without.
  struct Named {
    uint32_t begin = 0, written = 0, count = 0;
  };
  bool has_groups = false;  // it has wgmma
  bool has_tensor_memory = false;  // it has tcgen05
  bool has_strong = false;  // its threads may order each other by fences and strong accesses
  std::vector<Named> named;
  std::vector<uint32_t> named_slots;
  std::vector<Constant> constants;
  std::vector<SpecialSlot> specials;
  uint32_t register_bytes = 0;  // of a warp
  uint32_t shared_bytes = 0;  // static ones
  uint32_t local_bytes = 0;  // of a thread
  uint32_t parameter_bytes = 0;
  struct Parameter {
    uint32_t offset;
    uint32_t bytes;
  };
  std::vector<Parameter> parameters;
  uint32_t max_threads = 1024;
  uint32_t required_threads[3] = {0, 0, 0};
  bool needs_cluster = false;
  uint32_t cluster[3] = {0, 0, 0};  // that every launch has; 0: as it says
};

// The address of a variable of the module; false when there is none of that name.
using FindVariable = std::function<bool(const std::string& name, uint64_t* address)>;

// Throws PtxError: what is not emulated is said here, with its line.
// With `refusals`, those of single instructions are noted there instead, and the program can't be run.
Program Decode(const Module& module, const Function& entry, const FindVariable& find,
               std::vector<PtxError>* refusals = nullptr);

// Generic addresses of the windows in which shared, local and parameter memory are seen.
constexpr uint64_t kSharedWindow = uint64_t{1} << 56;
constexpr uint64_t kLocalWindow = uint64_t{2} << 56;
constexpr uint64_t kParamWindow = uint64_t{3} << 56;
// Shared memory of the cluster's block n begins at (n + 1) times this, of the thread's own block at 0 as well.
constexpr uint64_t kRankUnit = uint64_t{1} << 24;
constexpr uint64_t kWindowMask = uint64_t{0xff} << 56;

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_PROGRAM_PROGRAM_H_
