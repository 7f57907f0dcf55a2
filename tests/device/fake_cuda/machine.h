// The state of the fake driver. One lock guards it all; entries hold it while they run.
#ifndef KERNPACK_TESTS_DEVICE_FAKE_CUDA_MACHINE_H_
#define KERNPACK_TESTS_DEVICE_FAKE_CUDA_MACHINE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "device/cuda/driver_entries.h"
#include "device/cuda/driver_types.h"

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
  std::deque<Work> queue;
  CaptureStatus capture = kCaptureNone;
  CaptureMode capture_mode = kCaptureModeGlobal;
  std::vector<std::function<Result()>> graph;
};

struct EventOpaque {
  Context context = nullptr;
  bool timing = false;
  bool captured = false;
  Point recorded;
  double milliseconds = 0;
};

struct PoolOpaque {
  int device = 0;
  uint64_t used = 0;
  uint64_t cached = 0;
  uint64_t keep = 0;
};

enum class BlockKind { kDevice, kManaged, kHost, kPool };

struct Block {
  BlockKind kind;
  int device;
  uint64_t size;
  uint8_t* backing;
  bool usable;        // pool memory is not before its allocation ran, and after its release ran
  bool free_queued;   // a second release is an error
  Pool pool = nullptr;
};

struct KernelShape {
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t cluster[3];
  uint32_t shared;
  uint64_t threads() const { return uint64_t{grid[0]} * grid[1] * grid[2] * block[0] * block[1] * block[2]; }
};

// A kernel that the fake can run. `arguments` holds the parameters by value.
struct KernelDef {
  const char* name;
  std::vector<size_t> parameters;
  int max_threads;
  int static_shared;
  bool needs_cluster;
  Result (*run)(const KernelShape& shape, const std::vector<std::vector<uint8_t>>& arguments);
};

struct FunctionOpaque {
  const KernelDef* def = nullptr;
  ModuleHandle module = nullptr;
  int dynamic_limit = 0;
  bool large_clusters = false;
};

struct ModuleOpaque {
  Context context = nullptr;
  std::vector<std::string> names;
  std::map<std::string, std::unique_ptr<FunctionOpaque>> functions;
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

  std::map<std::string, long> settings;
  std::set<std::string> hidden;
  std::map<std::string, Fault> faults;
  std::map<std::string, long> calls;
  long child_calls = 0;

  std::vector<std::unique_ptr<ContextOpaque>> contexts;  // primary ones first, by device
  std::map<uintptr_t, Block> blocks;
  std::map<int, uint64_t> used;  // bytes of a device
  uintptr_t arena = 0;
  uintptr_t arena_next = 0;
  std::set<Event> events;
  std::set<ModuleHandle> modules;
  std::set<Pool> pools;

  static Machine& Get();
  void Reset();
  long Setting(const char* name) const { return settings.at(name); }
};

constexpr uintptr_t kArenaBytes = uintptr_t{1} << 38;

// The context on top of this thread's stack, or NULL; and the thread's capture mode.
std::vector<Context>& ContextStack();
CaptureMode& ThreadCaptureMode();

// What an entry starts with: the current context must be there and work. kSuccess, or what to return.
Result NeedContext(Context* out);
// NULL and 1 are the default stream of the current context.
Result NeedStream(Stream handle, StreamRef* out);
// A call that any capture in global mode, or one of this thread, does not survive.
Result UnsafeWhileCapturing();
// A wait for, or question about, a stream that is being captured.
Result RefuseCaptured(const StreamRef& stream);

// Queues work; a captured stream keeps it for its graph.
Result Enqueue(const StreamRef& stream, std::function<Result()> run, std::vector<Point> after = {});
// Runs a stream up to a point; returns what broke the context, if anything.
Result RunUntil(const StreamRef& stream, uint64_t sequence);
Result RunAll(Context context);

// The block that holds [address, address + size), NULL when there is none.
Block* FindBlock(DevicePtr address, uint64_t size, uintptr_t* begin = nullptr);
bool InArena(DevicePtr address);
// The host's view of device memory that is usable now, else NULL. Pageable host memory is itself.
uint8_t* Access(DevicePtr address, uint64_t size);

const std::vector<KernelDef>& Kernels();

// The driver's functions, as the backend declares them.
#define KP_FAKE_DECLARE_(name, version, parameters) Result name parameters;
KP_CUDA_ENTRIES(KP_FAKE_DECLARE_)
KP_CUDA_OPTIONAL_ENTRIES(KP_FAKE_DECLARE_)
#undef KP_FAKE_DECLARE_

}  // namespace kernpack::cuda

#endif  // KERNPACK_TESTS_DEVICE_FAKE_CUDA_MACHINE_H_
