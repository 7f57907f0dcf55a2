/* Kernel functions as PyTorch operators. C99; no torch header is needed, and libtorch is never linked: its stable C
 * functions (torch 2.10 and later) are looked up in the libtorch that the process has loaded.
 *
 * A function with a signature becomes, in the namespace "kernpack_<module>" (dots become underscores; a module whose name
 * begins with kernpack_ has its own name; where the namespace is taken by other content, "_<first 8 digits of the digest>"
 * is added):
 *
 *   <fn>        tensors in, fresh tensors out; aux results included; a parameter written in place is Tensor(m!)
 *   <fn>.out    the results are keyword arguments that are written to; returns nothing. Only if there are results
 *
 * Each has CPU and CUDA kernels that check the call as every other host does and raise the same errors, as C++ exceptions
 * that torch understands (std::invalid_argument for ValueError, else std::runtime_error; both texts begin with the kind,
 * except for ValueError). On CUDA the stream and the device are torch's current ones, read at each call. */
#ifndef KERNPACK_HOST_TORCH_H_
#define KERNPACK_HOST_TORCH_H_

#include <kernpack/host/host.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Registers all functions of the module that have a signature; *out is the namespace (STR). A second call returns the same namespace and
 * has no other effect. ImportError if no libtorch is loaded or it is older than 2.10. */
KP_HOST_API int kp_torch_register(const KpLoadedModule* module, KpAny* out);

#ifdef __cplusplus
}
#endif

#endif /* KERNPACK_HOST_TORCH_H_ */
