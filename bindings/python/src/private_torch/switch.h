/* What the call core reads inside torch, and torch doesn't promise. All of it is in this folder; every hook has a public way behind it,
 * is left alone on versions of torch it wasn't tested with, and under KERNPACK_PRIVATE=0 (docs/private.md). */
#ifndef KERNPACK_PYTHON_PRIVATE_TORCH_SWITCH_H_
#define KERNPACK_PYTHON_PRIVATE_TORCH_SWITCH_H_

#include "base.h"

typedef enum KpyTorchHook {
  KPY_TORCH_FIELDS, /* fields of tensors (fields.h); else: torch's public functions are asked of each tensor */
  KPY_TORCH_WATCHERS, /* what watches the thread (watchers.h); else: every typed call goes through torch's dispatcher */
  KPY_TORCH_VERSIONS, /* the version counter of tensors; else: torch.autograd.graph.increment_version */
  KPY_TORCH_RESULTS, /* Python objects of new tensors; else: DLPack's exchange table makes them */
  KPY_TORCH_HOOKS
} KpyTorchHook;

/* One byte per hook: found in this torch, agreeing with what torch's functions say, and in use. */
KPY_HIDDEN extern uint8_t kpy_torch_hook_on[KPY_TORCH_HOOKS];

/* Whether to look for the hook: its versions of torch, and KERNPACK_PRIVATE. */
KPY_HIDDEN int kpy_torch_hook_allowed(KpyTorchHook hook);
/* It was looked for: whether it may be used from now on. */
KPY_HIDDEN void kpy_torch_hook_found(KpyTorchHook hook, int found);

#endif /* KERNPACK_PYTHON_PRIVATE_TORCH_SWITCH_H_ */
