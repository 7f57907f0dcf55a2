// The values of a check. In a call of values everything is known; before a program runs, some extents are symbols and some
// arguments have a type only. sdk/programs/program/symbolic_extents.h has these functions for symbols, so that one check serves both.
#ifndef KERNPACK_SIGNATURE_EXTENTS_H_
#define KERNPACK_SIGNATURE_EXTENTS_H_

#include <kernpack/config.h>
#include <kernpack/text.h>

KP_NAMESPACE_BEGIN
namespace signature {

struct KnownExtents {
  // True if two extents may be equal; the check then treats them as equal.
  bool Meet(int64_t a, int64_t b) const { return a == b; }
  // True if an extent may broadcast to `to`: it equals `to` or is 1.
  bool MayBroadcast(int64_t extent, int64_t to) const { return extent == 1 || extent == to; }
  // True if the tensor's size, which GetLayout found invalid, may still be valid.
  bool MayBeSane(const KpDLTensor&) const { return false; }
  // True if it is a number, which is stored to *extent.
  bool Read(int64_t*) const { return true; }
  // True if this is known of an argument: its type, its value, the dims of a tensor, the dtype of a tensor.
  bool HasType(const KpAny&) const { return true; }
  bool HasValue(const KpAny&) const { return true; }
  bool HasDims(const KpDLTensor&) const { return true; }
  bool HasDType(KpDLDataType) const { return true; }
  // The number of elements of an argument, where it is known. A number stands for a rank-0 tensor.
  bool Numel(const KpAny& a, int64_t* out) const {
    const KpDLTensor* t = kp_any_tensor(&a);
    *out = 1;
    for (int32_t i = 0; t && i < t->ndim; ++i) *out *= t->shape[i];  // GetLayout found it sane
    return true;
  }
  // True if an extent that is still unknown is left to the run; *extent stands for it then.
  bool Defer(int64_t*) const { return false; }

  void Print(Text& text, int64_t extent) const { text << extent; }
  // Lines below an error that draw the tensors. Modules have none: their code would be in each of them.
  template <class Complaint, class Sizes>
  void Draw(Text&, const Complaint&, const Sizes&) const {}
  void AdviseToConvert(Text&) const {}
};

}  // namespace signature
KP_NAMESPACE_END

#endif  // KERNPACK_SIGNATURE_EXTENTS_H_
