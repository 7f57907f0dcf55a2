// The state of the emulated driver. One lock guards it all; entries hold it while they run.
#ifndef KERNPACK_SDK_EMULATOR_DRIVER_MACHINE_H_
#define KERNPACK_SDK_EMULATOR_DRIVER_MACHINE_H_

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "backends/cuda/driver_entries.h"
#include "backends/cuda/driver_types.h"
#include "driver/entries.h"
#include "driver/launch_order.h"
#include "driver/mapped_memory.h"
#include "exec/address_space.h"
#include "program/program.h"

namespace kernpack::cuda {

struct StreamOpaque;
using StreamRef = std::shared_ptr<StreamOpaque>;

struct ContextOpaque {
  int device = 0;
  bool retained = false;
  Result broken = kSuccess;
  std::set<Context> peers;
  StreamRef legacy;                // the default stream
  std::vector<StreamRef> streams;  // destroyed ones too, until their work is done
};

// A place in a stream that something waits for.
struct Point {
  StreamRef stream;
  uint64_t sequence = 0;
};

struct Work {
  uint64_t sequence = 0;
  std::shared_ptr<const Awaited> awaited;  // by the host, when it was queued
  std::vector<Point> after;
  std::function<Result()> run;
};

struct StreamOpaque : std::enable_shared_from_this<StreamOpaque> {
  Context context = nullptr;
  bool blocking = false;
  bool destroyed = false;
  int priority = 0;
  uint64_t queued = 0;
  uint64_t done = 0;
  uint64_t asked = 0;  // what was queued when cuStreamQuery said last that the stream isn't ready
  std::deque<Work> queue;
  StreamOrder order;
  CaptureStatus capture = kCaptureNone;
  CaptureMode capture_mode = kCaptureModeGlobal;
  std::vector<std::function<Result()>> graph;
  unsigned long long capture_id = 0;
  Graph into = nullptr;  // the graph to which a capture adds its work; NULL: one of its own
  bool of_node = false;  // records the work of a node of a graph
  StreamRef origin;  // of a stream that joined another's capture; that one keeps the work
};

struct EventOpaque {
  Context context = nullptr;
  bool timing = false;
  bool interprocess = false;
  bool captured = false;
  StreamRef capturing;  // the stream whose capture it belongs to
  Point recorded;
  uint64_t asked = 0;  // as of a stream, by cuEventQuery
  double milliseconds = 0;
};

struct PoolOpaque {
  int device = 0;
  uint64_t used = 0;
  uint64_t cached = 0;
  uint64_t keep = 0;
};

enum class BlockKind { kDevice, kManaged, kHost, kPool, kModule, kMapped, kShared };

struct Block {
  BlockKind kind;
  int device;
  uint64_t size;
  uint8_t* backing;
  bool usable;        // pool memory is not before its allocation ran, and after its release ran
  bool free_queued;   // a second release is an error
  Pool pool = nullptr;
  emulator::Region region{};  // as kernels see it
  bool registered = false;    // the program's own memory
  bool variable = false;      // a module's, so that the program doesn't free it
  int file = -1;              // that holds the memory, where another process may map it
  std::pair<int, uint64_t> origin{};  // of another process's memory: which
  int openings = 0;
  std::set<int> devices{};    // of mapped memory: which may use it
};

struct FunctionOpaque {
  std::shared_ptr<const emulator::Program> program;
  ModuleHandle module = nullptr;
  int dynamic_limit = 0;
  bool large_clusters = false;
  int carveout = -1;
};

// Code that is loaded into each context when it is first used there.
struct LibraryOpaque {
  std::map<int, std::string> ptx;  // by architecture
  std::map<Context, ModuleHandle> modules;
};

struct ModuleOpaque {
  Library library = nullptr;
  Context context = nullptr;
  int ptx_arch = 0;
  std::map<std::string, std::unique_ptr<FunctionOpaque>> functions;
  std::map<std::string, DevicePtr> variables;  // each a block
};

struct Fault {
  Result result;
  int skip;
  int times;
};

struct Machine {
  std::mutex mutex;
  bool initialised = false;
  int owner = 0;  // the process that called cuInit
  bool exiting = false;
  bool dropped_in = false;  // called by the names of NVIDIA's libraries

  std::map<std::string, long> settings;
  std::set<std::string> hidden;
  std::map<std::string, Fault> faults;
  std::map<std::string, long> calls;
  long child_calls = 0;

  std::vector<std::unique_ptr<ContextOpaque>> contexts;  // primary ones first, by device
  std::map<uintptr_t, Block> blocks;
  std::map<int, uint64_t> used;  // bytes of a device
  MappedMemory mapped;
  uintptr_t arena = 0;
  uintptr_t arena_next = 0;
  std::set<Event> events;
  std::set<ModuleHandle> modules;
  std::set<Pool> pools;
  std::map<int, Pool> default_pools;  // by device
  std::set<Graph> graphs;             // those that can be launched too
  std::set<Library> libraries;
  std::vector<int> archs;                              // of the devices: 90 is sm_90; the last one's for all others
  std::deque<std::pair<uintptr_t, uint64_t>> freed;    // allocations that were, the newest last
  std::deque<std::string> texts;                       // that callers hold
  std::map<Result, std::string> reports;               // what the last kernel that failed with a result did
  std::set<Result> told;                               // results whose report a caller has
  uint64_t thread_instructions = 0;

  static Machine& Get();
  void Reset();
  long Setting(const char* name) const { return settings.at(name); }
  int Arch(int device) const { return archs[std::min<size_t>(static_cast<size_t>(device), archs.size() - 1)]; }
};

constexpr uintptr_t kArenaBytes = uintptr_t{1} << 38;

// The context on top of this thread's stack, or NULL; and the thread's capture mode.
std::vector<Context>& ContextStack();
CaptureMode& ThreadCaptureMode();

// The first call of an entry: there must be a current context that works. Returns kSuccess, or the entry's error.
Result NeedContext(Context* out);
// NULL and 1 are the default stream of the current context.
Result NeedStream(Stream handle, StreamRef* out);
// A call that any capture in global mode, or one of this thread, does not survive.
Result UnsafeWhileCapturing();
// A wait for, or question about, a stream that is being captured.
Result RefuseCaptured(const StreamRef& stream);

// Queues work; a captured stream keeps it for its graph.
Result Enqueue(const StreamRef& stream, std::function<Result()> run, std::vector<Point> after = {});
// Runs a stream up to a point, for which the host waits; returns what broke the context, if anything.
Result RunUntil(const StreamRef& stream, uint64_t sequence);
Result RunAll(Context context);

// The block that holds [address, address + size), NULL when there is none.
Block* FindBlock(DevicePtr address, uint64_t size, uintptr_t* begin = nullptr);
bool InArena(DevicePtr address);
// The host's view of device memory that is usable now, else NULL. Pageable host memory is itself.
uint8_t* Access(DevicePtr address, uint64_t size);

// Memory that begins as rubbish, at an address that the host cannot read, or at its own.
Result AddBlock(BlockKind kind, int device, uint64_t bytes, bool usable, DevicePtr* out);
void RemoveBlock(uintptr_t address);
// For messages about uses of memory that is gone.
void NoteFreed(uintptr_t address, uint64_t bytes);
// Gives back all that the program has mapped, reserved and created.
void DropMappedMemory(Machine* machine);
// Bytes of device memory that were written, or were copied from elsewhere with what was written of them.
void NoteWritten(DevicePtr to, uint64_t bytes);
void NoteCopied(DevicePtr from, DevicePtr to, uint64_t bytes);

// Makes a library's kernel, which any context may launch, the kernel of that context. Other kernels stay as they are.
Result InContext(Context context, FunctionHandle* function);

// Returns the entries to callers. NVIDIA's driver exports this function too.
extern "C" Result cuGetProcAddress_v2(const char* name, void** out, int version, unsigned long long flags,
                                      ProcAddressStatus* status);

// The driver's functions.
#define KP_EMULATOR_DECLARE_(name, version, parameters) Result name parameters;
KP_EMULATOR_ENTRIES(KP_EMULATOR_DECLARE_)
#undef KP_EMULATOR_DECLARE_

}  // namespace kernpack::cuda

#endif  // KERNPACK_SDK_EMULATOR_DRIVER_MACHINE_H_
