// The second half of a checked call: the tensors that its maker lends it for results and workspace. The first half is check.h.
#ifndef KERNPACK_SIGNATURE_LEND_H_
#define KERNPACK_SIGNATURE_LEND_H_

#include <kernpack/signature/result.h>

KP_NAMESPACE_BEGIN
namespace signature {

// A workspace as kernels see it: u8[bytes]. What value() gives is valid as long as this object.
class WorkspaceView {
 public:
  WorkspaceView() = default;
  WorkspaceView(const WorkspaceView&) = delete;
  WorkspaceView& operator=(const WorkspaceView&) = delete;

  void Set(KpDLDevice device, uint64_t bytes, void* data) {
    bytes_ = static_cast<int64_t>(bytes);
    tensor_ = KpDLTensor{data, device, 1, KpDLDataType{KP_DTYPE_UINT, 8, 1}, &bytes_, &stride_, 0};
  }
  const KpDLTensor& tensor() const { return tensor_; }
  KpAny value() {
    KpAny out = kp_none();
    out.type_index = KP_TYPE_DLTENSOR_PTR;
    out.v.v_tensor = &tensor_;
    return out;
  }

 private:
  int64_t bytes_ = 0;
  int64_t stride_ = 1;
  KpDLTensor tensor_;
};

// `memory` is where the tensors come from. Both functions get what the contract asks for, compact, with data NULL, and fill *out
// with a TENSOR or DLTENSOR_PTR that lives until the call ends. 0, or -1 with an error raised.
//   int Result(int index, const KpDLTensor& prototype, KpAny* out);
//   int Workspace(const KpDLTensor& prototype, KpAny* out);     prototype: u8[bytes]; bytes may be 0
//
// `frame`: what the check bound. `lent`: what follows the parameters in the calling convention, one value per result and then the
// workspace; results that the caller gave stand there, NONE asks for memory.
template <class Memory>
int Lend(const KpSigFrame& frame, const char* function, const Raiser& raiser, Memory&& memory, KpAny* lent) {
  const View p{frame.program};
  const int results = p.NumResults();
  for (int i = 0; i < results; ++i) {
    if (lent[i].type_index != KP_TYPE_NONE) continue;
    int64_t extents[2 * KP_MAX_NDIM];
    KpDLTensor prototype;
    if (ResultPrototype(frame, function, i, raiser, extents, &prototype)) return -1;
    // NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): ResultPrototype has filled it
    prototype.strides = extents + prototype.ndim;
    kp_row_major_strides(prototype.ndim, prototype.shape, prototype.strides);
    if (memory.Result(i, prototype, &lent[i])) return -1;
  }
  if (!p.HasWorkspace()) return 0;
  uint64_t bytes = 0;
  if (WorkspaceBytes(frame, function, raiser, &bytes)) return -1;
  WorkspaceView wanted;
  wanted.Set(CallDevice(frame), bytes, nullptr);
  lent[results] = kp_none();
  return memory.Workspace(wanted.tensor(), &lent[results]);
}

}  // namespace signature
KP_NAMESPACE_END

#endif  // KERNPACK_SIGNATURE_LEND_H_
