/* The call core's uses of torch's private parts are in this folder. Each hook has a public alternative. It is used where its check holds in
 * this process, whatever the version of torch, and not under KERNPACK_PRIVATE=0 (docs/private.md). */
#ifndef KERNPACK_PYTHON_PRIVATE_TORCH_SWITCH_H_
#define KERNPACK_PYTHON_PRIVATE_TORCH_SWITCH_H_

#include "python/base.h"

typedef enum KpyTorchHook {
  KPY_TORCH_FIELDS, /* fields of tensors (fields.h); else: torch's public functions are asked of each tensor */
  KPY_TORCH_WATCHERS, /* what watches the thread (watchers.h); else: every typed call goes through torch's dispatcher */
  KPY_TORCH_VERSIONS, /* the version counter of tensors; else: torch.autograd.graph.increment_version */
  KPY_TORCH_RESULTS, /* Python objects of new tensors; else: DLPack's exchange table makes them */
  KPY_TORCH_HOOKS
} KpyTorchHook;

/* One byte per hook: found in this torch, agreeing with what torch's functions say, and in use. */
KPY_HIDDEN extern uint8_t kpy_torch_hook_on[KPY_TORCH_HOOKS];

/* True if the hook may be used; false with KERNPACK_PRIVATE=0. */
KPY_HIDDEN int kpy_torch_hook_allowed(KpyTorchHook hook);
/* It was looked for: whether it may be used from now on. */
KPY_HIDDEN void kpy_torch_hook_found(KpyTorchHook hook, int found);
/* Runs the check of a hook: in a fresh thread (kpy_in_fresh_thread), but in this one while torch is being imported: a thread of its own
 * would wait for the import, and the import for it. */
KPY_HIDDEN void kpy_torch_run_check(void (*check)(void* argument), void* argument);

#endif /* KERNPACK_PYTHON_PRIVATE_TORCH_SWITCH_H_ */
