/* A mangled symbol, the same since torch 1.x; who asks for it tries it on a sample before kpy_torch_hook_found. */
#include "private_torch/results.h"

#include "torch/guard_torch.h"

KpyTorchWrap kpy_torch_find_wrap(void) {
  if (!kpy_torch_hook_allowed(KPY_TORCH_RESULTS)) return NULL;
  return (KpyTorchWrap)kpy_torch_symbol("_Z16THPVariable_WrapRKN2at10TensorBaseE");
}
