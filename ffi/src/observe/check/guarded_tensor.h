// One tensor of a checked call: the kernel is lent a guarded copy of it, which is looked at when the kernel has returned.
#ifndef KERNPACK_SRC_OBSERVE_CHECK_GUARDED_TENSOR_H_
#define KERNPACK_SRC_OBSERVE_CHECK_GUARDED_TENSOR_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <kernpack/host/host.h>

#include "observe/check/block.h"
#include "observe/check/device_image.h"

namespace kernpack::host::check {

enum class Role { kInput, kMutated, kResult, kWorkspace };

using Findings = std::vector<std::string>;

// True if the float, or the part of a complex number, at that address comes from a known source.
using IsOrigin = std::function<bool(const char* at, KpDLDataType dtype)>;
// Facts about a call that are needed before a float in its results is blamed on memory that the kernel read.
struct Sources {
  std::function<bool(const IsOrigin& is_origin)> given;  // whether some argument held such a float before the call
  std::function<std::string(unsigned tag)> owner;  // next to what it was read; "": next to nothing of this call's
};

class Lent {
 public:
  // `given` lives as long as the call; `where`: its device, NULL on the CPU. Throws std::bad_alloc.
  Lent(const KpDLTensor& given, const DeviceInUse* where, Role role, unsigned tag, std::string name,
       std::string parameter);
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;
  ~Lent();

  // Fills the copy. 0, or -1 with a device's error raised. Throws std::bad_alloc.
  int Fill(Turn turn);
  // Puts the copy in place of the value that held the tensor. 0, or -1 raised.
  int Replace(KpAny* value);
  // Before anything is looked at: brings what is on a device. 0, or -1 raised.
  int Fetch() const { return image_ ? image_->Fetch(*block_) : 0; }

  // After Fetch: everything there is to say of it; `ok`: the kernel returned 0, so that its results count.
  void Look(const std::string& function, bool ok, const Sources& sources, Findings* findings);
  // Of that, writes to what surrounds it.
  void LookAround(const std::string& who, Findings* findings) const;
  // As Look, of what a repeated call gave: the results of both have to be the same.
  void Compare(const std::string& function, const Lent& again, Findings* findings) const;
  // Hands over what the kernel may have written, and gives the copy up. 0, or -1 with a device's error raised.
  int GiveBack(const std::string& function);

  bool Holds(const void* address) const { return image_ ? image_->Holds(address) : block_->Holds(address); }
  // True if the tensor had such a float before the call.
  bool Held(const IsOrigin& is_origin) const;
  unsigned tag() const { return tag_; }
  const std::string& name() const { return name_; }
  Role role() const { return role_; }
  bool has_gaps() const { return !compact_; }

 private:
  void ReleaseObject();
  bool KeepsContent() const { return role_ == Role::kInput || role_ == Role::kMutated; }
  int FetchBefore();
  int FillGaps(Pattern outside);
  void FillUnwritten(char* at, Turn turn) const;
  KpDLTensor InBlock() const;
  char* Elements(std::unique_ptr<char[]>* buffer) const;
  int MoveElements(char* elements, bool to_block) const;
  int64_t FindChanged() const;
  void LookAtInput(const std::string& who, Findings* findings) const;
  void LookAtGaps(const std::string& who, Findings* findings) const;
  void SayGaps(const std::string& who, Findings* findings) const;
  const char* OriginalBytes() const { return before_ ? before_.get() : reinterpret_cast<const char*>(begin_); }
  void LookAtFloats(const std::string& who, const char* elements, const Sources& sources, Findings* findings) const;
  void LookAtNoise(const std::string& who, const char* elements, Findings* findings) const;
  const char* ElementAt(const KpDLTensor& tensor, int64_t element) const;
  size_t ElementBytes() const { return static_cast<size_t>(given_.dtype.bits) * given_.dtype.lanes / 8; }

  const KpDLTensor& given_;
  const DeviceInUse* where_;
  Role role_;
  unsigned tag_;  // of what surrounds it
  std::string name_;  // as findings say it: xs[1]
  std::string parameter_;  // as the signature says it: xs
  std::shared_ptr<Block> block_;
  std::shared_ptr<DeviceImage> image_;  // of the block, on a device
  uint64_t
      begin_;  // address of the first byte that the tensor reaches; on a device that has handles, with data taken for 0
  uint64_t bytes_;  // from there to the last byte that it reaches
  uint64_t to_origin_;  // bytes from there to the first element
  // The content that the copy had before the call, where the tensor's own memory does not say: of a device's, and of memory with
  // gaps between its elements, which hold what surrounds the copy.
  std::unique_ptr<char[]> before_;
  KpDLTensor original_;  // the tensor before the call, in memory of the host
  int64_t numel_;
  bool compact_;
  std::vector<int64_t> dims_;  // the copy's shape and strides
  KpDLTensor tensor_;  // the copy
  KpAny object_;  // it as a TENSOR, where the kernel was to get one
};

}  // namespace kernpack::host::check

#endif  // KERNPACK_SRC_OBSERVE_CHECK_GUARDED_TENSOR_H_
