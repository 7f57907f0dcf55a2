/* Reading and running a compiled contract, for bindings. C99. The same code runs inside every __tvm_ffi_ alias
 * (kernpack/signature/check.h), so that all hosts check alike. These functions allocate only to raise an error.
 * `program` is what KpFunctionInfo.program and kp_signature_program hold. */
#ifndef KERNPACK_HOST_SIGNATURE_H_
#define KERNPACK_HOST_SIGNATURE_H_

#include <kernpack/host/host.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { KP_SIG_MAX_PARAMS = 64, KP_SIG_MAX_RESULTS = 16, KP_SIG_MAX_DIMS = 32, KP_SIG_MAX_DTYPES = 8, KP_MAX_NDIM = 64 };

enum KpParamKind {
  KP_PARAM_TENSOR = 0,
  KP_PARAM_INT = 1,
  KP_PARAM_FLOAT = 2,
  KP_PARAM_BOOL = 3,
  KP_PARAM_DTYPE = 4,
  KP_PARAM_DEVICE = 5,
  KP_PARAM_STR = 6
};
enum KpParamFlags {
  KP_PARAM_OPTIONAL = 1,
  KP_PARAM_LIST = 2,
  KP_PARAM_KEYWORD_ONLY = 4,
  KP_PARAM_MUTATED = 8,
  KP_PARAM_HAS_DEFAULT = 16,
  KP_PARAM_STRIDED = 32,
  KP_PARAM_ON_CPU = 64,
  KP_PARAM_SCALAR_OK = 128, /* rank 0: a number is accepted */
  KP_PARAM_COMPACT = 256 /* with STRIDED: any strides are accepted, and the function's code makes a compact copy */
};
enum KpResultFlags { KP_RESULT_SUM = 1, KP_RESULT_AUX = 2 };
enum KpSigProps {
  KP_PROP_QUICK = 1,
  KP_PROP_GRAPH_SAFE = 2,
  KP_PROP_DETERMINISTIC = 4,
  KP_PROP_WORKSPACE = 8,
  KP_PROP_UNCONDITIONAL = 16, /* no `where` except dtype sets, and no `on`; derived, never in a program */
  KP_PROP_INVARIANT = 32, /* has invariant() */
  KP_PROP_INVARIANT_BATCH = 64 /* invariant(batch): each item of "..." */
};

typedef struct KpSigParam {
  const char* name; /* NUL-terminated, lives as long as the program */
  uint32_t kind;    /* KpParamKind */
  uint32_t flags;   /* KpParamFlags */
  KpAny default_value; /* borrowed: NONE, INT, FLOAT, BOOL, DTYPE or RAW_STR; NONE for a list */
  int32_t list_default_size; /* -1: the default isn't a list */
  const KpAny* list_default_items; /* length list_default_size */
} KpSigParam;

typedef struct KpSigResult {
  const char* name;
  uint32_t flags; /* KpResultFlags */
} KpSigResult;

/* The values that a check bound. It may live on the caller's stack, needs no initialisation, and is valid as long as the arguments. */
typedef struct KpSigFrame {
  KpDLDevice device; /* the call's device; device_type 0 if no tensor fixed it (then the CPU) */
  int32_t batch_ndim; /* number of "..." dims; -1: none */
  const int64_t* batch_shape;
  uint64_t bound; /* bit i: dims[i] is bound */
  int64_t dims[KP_SIG_MAX_DIMS];
  KpDLDataType dtypes[KP_SIG_MAX_DTYPES];
  const KpAny* args;
  const uint32_t* program;
  const int64_t* star_shape[8]; /* "*Var" dims tuples */
  int32_t star_ndim[8];
} KpSigFrame;

enum KpSigCheckFlags { KP_SIG_ABSTRACT = 1 /* shapes and dtypes only: data may be NULL (tracing) */ };

/* The number of parameters, including keyword-only ones. */
KP_HOST_API int32_t kp_sig_num_params(const uint32_t* program);
/* The number of parameters before the `*`. */
KP_HOST_API int32_t kp_sig_num_positional(const uint32_t* program);
KP_HOST_API int32_t kp_sig_num_results(const uint32_t* program); /* without the workspace */
KP_HOST_API uint32_t kp_sig_props(const uint32_t* program); /* KpSigProps */
/* A parameter by its index. IndexError if out of range. */
KP_HOST_API int kp_sig_param(const uint32_t* program, int32_t index, KpSigParam* out);
/* A result by its index. IndexError if out of range. */
KP_HOST_API int kp_sig_result(const uint32_t* program, int32_t index, KpSigResult* out);

/* Checks a call. `args`: num_params values in parameter order, defaults filled in, NONE only where optional; a list is an ARRAY.
 * `results`: NULL, or num_results entries, each a destination tensor or NONE. Raises TypeError or ValueError whose text starts
 * "<function>: <parameter>: expected ..., got ...". An INT is accepted for a float parameter: convert it to FLOAT before
 * calling the kernel, as kp_call does. Destinations that overlap an input or each other are refused. */
KP_HOST_API int kp_sig_check(const uint32_t* program, const char* function, const KpAny* args, const KpAny* results,
                             uint32_t flags, KpSigFrame* frame);

/* Allocates the tensors of a call. `prototype` is compact, with strides set and data NULL. Both functions set *out to a TENSOR
 * or DLTENSOR_PTR that lives until the call ends, and return 0, or -1 with an error raised. */
typedef struct KpSigMemory {
  void* self; /* passed to both */
  int (*result)(void* self, int32_t index, const KpDLTensor* prototype, KpAny* out);
  int (*workspace)(void* self, const KpDLTensor* prototype, KpAny* out); /* u8[bytes]; bytes may be 0 */
} KpSigMemory;

/* The second half of a checked call. `lent`: what follows the parameters in the calling convention, a value per result and then
 * one for the workspace if the function has one. Set destinations of the caller there before; for each NONE, and for the
 * workspace, `memory` is called. A function of `memory` that the call doesn't need may be NULL. */
KP_HOST_API int kp_sig_lend(const KpSigFrame* frame, const char* function, const KpSigMemory* memory, KpAny* lent);

#ifdef __cplusplus
}
#endif

#endif /* KERNPACK_HOST_SIGNATURE_H_ */
