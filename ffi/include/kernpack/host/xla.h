/* Handlers for XLA's typed FFI (custom call API version 4; XLA FFI 0.1 and later). C99; no XLA header is needed.
 *
 * One pair serves every function of every loaded module: register `instantiate` and one `execute` as the stages of a
 * custom call target, under a name of your choice, then emit calls whose attributes name the function:
 *
 *   kp.fn      "<module>@<digest>/<function>" or "<module>@v<major>/<function>", as kp_function_find takes it
 *   kp.none    optional: the optional parameters that are None, separated by commas
 *   <name>     each other static parameter (docs/jax.md lists the encodings)
 *
 * Operands are the tensor parameters in order. Results are the parameters written in place (aliased to their operands),
 * then the signature's results, then the workspace (u8) where the signature has one. Errors reach XLA as
 * "[<kind>] <function>: <parameter>: ...". Any thread; no lock is taken while a program runs.
 * `call_frame` is an XLA_FFI_CallFrame*; the value returned is an XLA_FFI_Error*, NULL on success. */
#ifndef KERNPACK_HOST_XLA_H_
#define KERNPACK_HOST_XLA_H_

#include <kernpack/host/host.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Once per call site, when a program is compiled: finds the function and decodes the attributes. */
KP_HOST_API void* kp_xla_ffi_instantiate(void* call_frame);
/* Each execution on platform "cpu"; parallel_for runs on XLA's thread pool. */
KP_HOST_API void* kp_xla_ffi_execute_cpu(void* call_frame);
/* Each execution on platform "CUDA", on XLA's stream and device. */
KP_HOST_API void* kp_xla_ffi_execute_cuda(void* call_frame);

#ifdef __cplusplus
}
#endif

#endif /* KERNPACK_HOST_XLA_H_ */
