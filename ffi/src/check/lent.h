// One tensor of a checked call: the kernel is lent a guarded copy of it, which is looked at when the kernel has returned.
#ifndef KERNPACK_SRC_CHECK_LENT_H_
#define KERNPACK_SRC_CHECK_LENT_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <kernpack/host/host.h>

#include "check/block.h"

namespace kernpack::host::check {

enum class Role { kInput, kMutated, kResult, kWorkspace };

using Findings = std::vector<std::string>;

class Lent {
 public:
  // `given` lives as long as the call. Throws std::bad_alloc.
  Lent(const KpDLTensor& given, Role role, Turn turn, std::string name, std::string parameter);
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;
  ~Lent();

  // Puts the copy in place of the value that held the tensor. 0, or -1 raised.
  int Replace(KpAny* value);

  // Whether some argument held a float with that mark before the call: then results may.
  using Given = std::function<bool(Mark mark)>;
  // Everything there is to say of it; `ok`: the kernel returned 0, so that its results count.
  void Look(const std::string& function, bool ok, const Given& given, Findings* findings);
  // As Look, of what a repeated call gave: the results of both have to be the same.
  void Compare(const std::string& function, const Lent& again, Findings* findings) const;
  // Hands over what the kernel may have written, and gives the copy up.
  void GiveBack(const std::string& function);

  bool Holds(const void* address) const { return block_->Holds(address); }
  // Whether the tensor, before the call, held a float with that mark.
  bool HeldMark(Mark mark) const;
  const std::string& name() const { return name_; }
  Role role() const { return role_; }

 private:
  void ReleaseObject();
  int64_t FindChanged() const;
  void LookAtFloats(const std::string& who, const Given& given, Findings* findings) const;
  void LookAtNoise(const std::string& who, Findings* findings) const;
  const char* ElementAt(const KpDLTensor& tensor, int64_t element) const;
  size_t ElementBytes() const { return static_cast<size_t>(given_.dtype.bits) * given_.dtype.lanes / 8; }

  const KpDLTensor& given_;
  Role role_;
  std::string name_;  // as findings say it: xs[1]
  std::string parameter_;  // as the signature says it: xs
  std::shared_ptr<Block> block_;
  char* original_;  // the first byte that the tensor reaches
  int64_t numel_;
  bool compact_;
  std::vector<int64_t> dims_;  // the copy's shape and strides
  KpDLTensor tensor_;  // the copy
  KpAny object_;  // it as a TENSOR, where the kernel was to get one
};

}  // namespace kernpack::host::check

#endif  // KERNPACK_SRC_CHECK_LENT_H_
