/* A call under a signature, as the files that carry it out see it. */
#ifndef KERNPACK_PYTHON_CALL_CALL_TYPED_H_
#define KERNPACK_PYTHON_CALL_CALL_TYPED_H_

#include "frame.h"

/* Everything one typed call works on. */
typedef struct KpyTypedCall {
  KpyCall call;
  KpyLocal* local;
  KpDLDevice device; /* where it runs; device_type 0: the CPU */
  uint32_t allocated; /* bit i: call.results[i] is ours */
  KpAny values[KPY_MAX_VALUES]; /* parameters, results, workspace */
  PyObject* destinations[KP_SIG_MAX_RESULTS]; /* given in out=, borrowed; NULL: ours to allocate */
  KpDLTensor prototypes[KP_SIG_MAX_RESULTS]; /* of what is ours to allocate; extents in the call's memory */
  KpSigFrame frame; /* what the check bound; not filled where the memo settled the call */
} KpyTypedCall;

static inline const KpyFamily* kpy_receiver(const KpyTypedCall* t) {
  return t->call.family != NULL ? t->call.family : kpy_own_family();
}

/* call_results.c. Functions returning int: 0, or -1 with a Python exception set. */
KPY_HIDDEN int kpy_plan_results(KpyFunction* f, KpyTypedCall* t); /* prototypes and the workspace, from the frame */
KPY_HIDDEN int kpy_allocate_results(KpyFunction* f, KpyTypedCall* t, int given_out); /* as planned */
/* Returns the results to the caller: None, one result, or a tuple. */
KPY_HIDDEN PyObject* kpy_finish_results(KpyFunction* f, KpyTypedCall* t, int32_t count);
KPY_HIDDEN PyObject* kpy_host_results(KpyFunction* f, KpyTypedCall* t, const KpAny* result); /* of kp_call */
KPY_HIDDEN void kpy_discard_results(KpyFunction* f, KpyTypedCall* t);

/* memo.c: calls tend to repeat. The last one that passed its check is kept, and a call whose arguments look the same in
 * everything that the check reads passes too, without being checked again. */
/* *out stays NULL for functions that it does not suit. 0 or -1. */
KPY_HIDDEN int kpy_memo_init(const KpyFunction* f, KpyMemo** out);
/* 1: as last time; device and prototypes are set. */
KPY_HIDDEN int kpy_memo_recall(const KpyFunction* f, KpyTypedCall* t);
/* After a check and a plan, before anything that may run Python. */
KPY_HIDDEN void kpy_memo_note(const KpyFunction* f, const KpyTypedCall* t);

#endif /* KERNPACK_PYTHON_CALL_CALL_TYPED_H_ */
