/* What else torch does in this thread while a kernel is called: modes, transforms, traces, profiles. Each must see the call. */
#ifndef KERNPACK_PYTHON_TORCH_STATE_H_
#define KERNPACK_PYTHON_TORCH_STATE_H_

#include "base.h"

typedef struct KpyTorchState {
  int known; /* the thread's word below may be read */
  int found; /* and says what torch's own functions say */
} KpyTorchState;

KPY_HIDDEN extern KpyTorchState kpy_torch_state;

/* Looks torch's questions up, once. 0, or -1 with an error: this torch lacks one of them. `binding` is torch._C. */
KPY_HIDDEN int kpy_torch_state_init(PyObject* binding);

/* Dispatch keys that something has added to this thread's for now: modes, torch.func, torch.jit.trace, export. 0: none. All bits
 * are set, with a Python error, where torch could not be asked. */
KPY_HIDDEN uint64_t kpy_torch_added_keys(void);
/* Of those, the ones of torch.func, which concern only the tensors that it wraps. */
KPY_HIDDEN uint64_t kpy_torch_transform_keys(void);
/* How many dispatch modes are active, and how many function modes; -1 on error. */
KPY_HIDDEN int64_t kpy_torch_dispatch_modes(void);
KPY_HIDDEN int64_t kpy_torch_function_modes(void);
/* Whether torch.profiler records. */
KPY_HIDDEN int kpy_torch_profiled(void);

#endif /* KERNPACK_PYTHON_TORCH_STATE_H_ */
