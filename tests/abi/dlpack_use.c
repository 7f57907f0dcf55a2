/* kernpack/dlpack.h in C99, with any dlpack.h: a tensor of DLPack goes in, is shared, and comes out. */
#include <kernpack/dlpack.h>

static void Release(DLManagedTensor* self) { *(int*)self->manager_ctx += 1; }

int main(void) {
  float data[2] = {1, 2};
  int64_t shape[1] = {2};
  int deleted = 0;
  KpAny tensor;
  KpDLTensor view;
  DLManagedTensor theirs;
  DLManagedTensor* shared = NULL;
  DLTensor back;
  memset(&theirs, 0, sizeof(theirs));
  theirs.dl_tensor.data = data;
  theirs.dl_tensor.device.device_type = kDLCPU;
  theirs.dl_tensor.ndim = 1;
  theirs.dl_tensor.dtype.code = kDLFloat;
  theirs.dl_tensor.dtype.bits = 32;
  theirs.dl_tensor.dtype.lanes = 1;
  theirs.dl_tensor.shape = shape;
  theirs.manager_ctx = &deleted;
  theirs.deleter = Release;
  view = kp_dl_view(&theirs.dl_tensor);
  back = kp_dl_tensor(&view);
  if (memcmp(&back, &theirs.dl_tensor, sizeof(back)) != 0) return 1;
  if (kp_dl_own(&theirs, &tensor) != 0) return 2;
  if (kp_dl_share(tensor.v.v_obj, &shared) != 0) return 3;
  kp_any_release(&tensor);
  if (deleted != 0 || ((float*)shared->dl_tensor.data)[1] != 2) return 4;
  shared->deleter(shared);
  return deleted == 1 ? 0 : 5;
}
