// Arguments that pass the check and are converted for the kernel: a number for a rank-0 tensor, an int for a float.
#ifndef KERNPACK_SIGNATURE_CONVERT_H_
#define KERNPACK_SIGNATURE_CONVERT_H_

#include <kernpack/signature/scalar.h>
#include <kernpack/signature/sequence.h>

KP_NAMESPACE_BEGIN
namespace signature {

inline bool IsNumber(const KpAny& value) {
  return value.type_index == KP_TYPE_INT || value.type_index == KP_TYPE_FLOAT || value.type_index == KP_TYPE_BOOL;
}

// The converted arguments of one call; they last as long as this object.
class Converted {
 public:
  Converted() = default;
  Converted(const Converted&) = delete;
  Converted& operator=(const Converted&) = delete;
  ~Converted() {
    for (int i = 0; i < num_lists_; ++i) kp_any_release(&lists_[i]);
  }

  // Of the arguments that the check of `frame` let pass. 0, or -1 with an error raised.
  int Convert(const KpSigFrame& frame, const char* function, const Raiser& raiser, KpAny* args) {
    const View p{frame.program};
    for (int i = 0; i < p.NumParams(); ++i) {
      if (KP_LIKELY(!IsNumber(args[i])) || GetKind(p.Param(i)) != KP_PARAM_TENSOR) continue;
      if (Box(frame, Complain{p, function, raiser, frame}, i, &args[i])) return -1;
    }
    if (KP_LIKELY(ConvertFloats(p, args) == 0)) return 0;
    return Complain{p, function, raiser, frame}.Raise("MemoryError", "a list of floats");
  }

  // The half that needs nothing bound: ints given for floats. -1 when memory runs out; nothing is raised.
  int ConvertFloats(View p, KpAny* args) {
    for (int i = 0; i < p.NumParams(); ++i) {
      if (KP_LIKELY(GetKind(p.Param(i)) != KP_PARAM_FLOAT || args[i].type_index == KP_TYPE_FLOAT)) continue;
      const int made = MakeFloats(&args[i]);
      if (made < 0) return -1;
      if (made) lists_[num_lists_++] = args[i];
    }
    return 0;
  }

 private:
  KP_COLD int Box(const KpSigFrame& frame, Complain say, int i, KpAny* arg) {
    if (num_boxes_ == kMaxBoxes) {
      return say.Raise("TypeError", "expected at most %i numbers for tensors, got more: pass tensors",
                       int64_t{kMaxBoxes});
    }
    return BoxScalar(frame, i, say, &boxes_[num_boxes_++], arg);
  }

  static constexpr int kMaxBoxes = 16;

  int num_boxes_ = 0;
  int num_lists_ = 0;
  ScalarBox boxes_[kMaxBoxes];
  KpAny lists_[KP_SIG_MAX_PARAMS];
};

}  // namespace signature
KP_NAMESPACE_END

#endif  // KERNPACK_SIGNATURE_CONVERT_H_
