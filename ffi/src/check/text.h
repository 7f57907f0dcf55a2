// Values in words, for findings and for the line that a call is announced with.
#ifndef KERNPACK_SRC_CHECK_TEXT_H_
#define KERNPACK_SRC_CHECK_TEXT_H_

#include <string>

#include <kernpack/host/host.h>

namespace kernpack::host::check {

std::string TensorText(const KpDLTensor& tensor);                      // f32[4, 8]
std::string ValueText(const KpAny& value);                             // 1e-05, 'mean', None, [f32[4], f32[4]]
std::string IndexText(const KpDLTensor& tensor, int64_t element);  // [3, 7]: of the row-major number of an element
std::string ElementText(KpDLDataType dtype, const void* at);  // 1.5; "" for dtypes without a plain number
std::string CallText(const KpLoadedFunction& function, const KpAny* args,
                     int32_t num_args);  // my.op(f32[4, 8], eps=1e-05)

}  // namespace kernpack::host::check

#endif  // KERNPACK_SRC_CHECK_TEXT_H_
