// Scratch memory that a kernel asks its host for during a checked call, and what it puts into storage.
#ifndef KERNPACK_SRC_OBSERVE_CHECK_SCRATCH_H_
#define KERNPACK_SRC_OBSERVE_CHECK_SCRATCH_H_

#include <list>
#include <memory>
#include <mutex>
#include <thread>

#include "observe/check/block.h"
#include "observe/check/guarded_tensor.h"
#include "devices/storage/key.h"

namespace kernpack::host::check {

class CheckedCall;

// The workspaces of one call, on all of its threads. Each call gets memory of its own, so that what another one left isn't taken
// for its own; zeroed ones keep what they hold, as is promised.
class Scratch {
 public:
  // *served: 0 where the memory has to come from elsewhere.
  int Get(CheckedCall* call, const KeyView& key, uint64_t bytes, uint32_t flags, void** out_data, bool* served);
  bool OnFirstThread() const { return first_ == std::this_thread::get_id(); }
  // Brings those on devices, whose work is done. 0, or -1 raised.
  int Fetch() const;
  void Look(const std::string& function, Findings* findings) const;
  // Zeroed ones of this thread, and on the call's own thread those of devices, go back to where they are kept.
  void GiveBack();
  // When nobody uses them any more.
  void Keep(const std::string& function) const;
  // The name of the one that the address is in, or "".
  std::string FindOwner(const void* address);
  std::string OwnerOfTag(unsigned tag);  // the same, of what surrounds it

 private:
  struct One {
    StoredKey key;
    std::shared_ptr<Block> block;
    std::shared_ptr<DeviceImage> image;  // NULL: on the CPU
    const DeviceInUse* where;
    uint32_t flags;
    std::thread::id thread;
    unsigned tag;  // of what surrounds it

    bool on_cpu() const { return !image; }
    void* data() const;
  };
  static std::string GetName(const One& one) { return "workspace '" + std::string(one.key.view().key) + "'"; }
  bool Find(const KeyView& key, uint64_t bytes, void** out_data);
  bool FindHeld(const KeyView& key, uint64_t bytes, void** out_data) const;
  static int Fill(One* one, Turn turn);
  std::mutex mutex_;  // parallel_for's threads ask too
  const std::thread::id first_ = std::this_thread::get_id();
  std::list<One> all_;
};

// Serves a workspace if a checked call is in progress on this thread: *served says whether.
int GetChecked(const KeyView& key, uint64_t bytes, uint32_t flags, void** out_data, bool* served);
// Before `value` is stored: 0, or -1 with a CheckError raised. Nothing outside a checked call.
int LookAtStored(const KeyView& key, const KpAny& value);

}  // namespace kernpack::host::check

#endif  // KERNPACK_SRC_OBSERVE_CHECK_SCRATCH_H_
