// Which of many tensors share memory, one of them written: the search behind lists that are written in place.
#ifndef KERNPACK_SIGNATURE_REACH_H_
#define KERNPACK_SIGNATURE_REACH_H_

#include <kernpack/signature/overlap.h>

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
  uint64_t farthest;  // the last byte of any tensor before it or itself, in the same memory
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

// Sorts `reaches`, none of which is empty. Else than kNone: two overlap, or may do so, and the one in *written is written to.
inline Sharing FindOverlap(Reach* reaches, size_t count, const Reach** written, const Reach** other) {
  qsort(reaches, count, sizeof(Reach), &CompareReaches);
  for (size_t i = 0; i < count; ++i) {
    Reach& now = reaches[i];
    now.farthest = now.range.end;
    if (i == 0 || CompareMemories(*reaches[i - 1].tensor, *now.tensor)) continue;
    // Those before begin before it: from the last on, until none reaches up to it.
    for (size_t j = i; j > 0; --j) {
      const Reach& before = reaches[j - 1];
      if (before.farthest <= now.range.begin || CompareMemories(*before.tensor, *now.tensor)) break;
      if (!now.written && !before.written) continue;
      *written = now.written ? &now : &before;
      *other = now.written ? &before : &now;
      const Sharing found = Overlap(*now.tensor, now.range, *before.tensor);
      if (found != Sharing::kNone) return found;
    }
    if (reaches[i - 1].farthest > now.farthest) now.farthest = reaches[i - 1].farthest;
  }
  return Sharing::kNone;
}

}  // namespace signature
KP_NAMESPACE_END

#endif  // KERNPACK_SIGNATURE_REACH_H_
