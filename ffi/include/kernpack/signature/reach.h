// Which of many tensors share memory, one of them written: the search behind lists that are written in place.
#ifndef KERNPACK_SIGNATURE_REACH_H_
#define KERNPACK_SIGNATURE_REACH_H_

#include <kernpack/signature/memory.h>

#include <stdlib.h>

KP_NAMESPACE_BEGIN
namespace signature {

// The bytes that a tensor of the call reaches.
struct Reach {
  Range range;
  const KpDLTensor* tensor;
  int64_t item;  // its place in a list parameter; -1: no list
  int32_t who;   // the parameter, or number of parameters + the result
  bool written;
};

// Orders memories first: a device, and on devices whose data is a handle a buffer.
inline int CompareMemories(const KpDLTensor& a, const KpDLTensor& b) {
  if (a.device.device_type != b.device.device_type) return a.device.device_type < b.device.device_type ? -1 : 1;
  if (a.device.device_id != b.device.device_id) return a.device.device_id < b.device.device_id ? -1 : 1;
  if (a.data == b.data || !DataIsHandle(a.device.device_type)) return 0;
  return reinterpret_cast<uintptr_t>(a.data) < reinterpret_cast<uintptr_t>(b.data) ? -1 : 1;
}

inline int CompareReaches(const void* left, const void* right) {
  const Reach& a = *static_cast<const Reach*>(left);
  const Reach& b = *static_cast<const Reach*>(right);
  const int memories = CompareMemories(*a.tensor, *b.tensor);
  if (memories) return memories;
  return a.range.begin < b.range.begin ? -1 : a.range.begin > b.range.begin;
}

// Sorts `reaches`, none of which is empty. True if two overlap and the one in *written is written to.
inline bool FindOverlap(Reach* reaches, size_t count, const Reach** written, const Reach** other) {
  qsort(reaches, count, sizeof(Reach), &CompareReaches);
  const Reach* far = nullptr;          // of those before, what reaches farthest
  const Reach* far_written = nullptr;  // of those that are written
  for (size_t i = 0; i < count; ++i) {
    const Reach& now = reaches[i];
    if (far && CompareMemories(*far->tensor, *now.tensor)) far = far_written = nullptr;
    const Reach* before = now.written ? far : far_written;
    if (before && now.range.begin < before->range.end) {
      *written = now.written ? &now : before;
      *other = now.written ? before : &now;
      return true;
    }
    if (!far || now.range.end > far->range.end) far = &now;
    if (now.written && (!far_written || now.range.end > far_written->range.end)) far_written = &now;
  }
  return false;
}

}  // namespace signature
KP_NAMESPACE_END

#endif  // KERNPACK_SIGNATURE_REACH_H_
