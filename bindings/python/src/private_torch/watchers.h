/* Modes, transforms, traces and profiles of torch that are active in this thread while a kernel is called. Each must see the call. No public
 * function of torch reports them, so without this hook every typed call goes through torch's dispatcher, which knows. */
#ifndef KERNPACK_PYTHON_PRIVATE_TORCH_WATCHERS_H_
#define KERNPACK_PYTHON_PRIVATE_TORCH_WATCHERS_H_

#include "private_torch/switch.h"

typedef struct KpyTorchWatchers {
  uint64_t
      keys; /* dispatch keys that something has added to this thread's: modes, torch.func, torch.jit.trace, export */
  int64_t function_modes;
  int profiled; /* torch.profiler records */
} KpyTorchWatchers;

/* Turns the hook on where it agrees with what torch's own functions say. */
KPY_HIDDEN void kpy_torch_watchers_init(void);
/* 0: nobody watches. *out is set where the hook is on. */
KPY_HIDDEN int kpy_torch_watchers(KpyTorchWatchers* out);
/* Of the keys, those of torch.func, which concern only the tensors that it wraps; and those of dispatch modes. */
KPY_HIDDEN uint64_t kpy_torch_transform_keys(void);
KPY_HIDDEN uint64_t kpy_torch_mode_keys(void);

#endif /* KERNPACK_PYTHON_PRIVATE_TORCH_WATCHERS_H_ */
