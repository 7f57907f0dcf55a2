// C99 with the C library.
#ifndef KERNPACK_SDK_SRC_CODEGEN_C_DIALECT_H_
#define KERNPACK_SDK_SRC_CODEGEN_C_DIALECT_H_

#include "codegen/c_family/dialect.h"

namespace kernpack::sdk::ir {

const Dialect& C99();
// What runs on the host of a device, between launches.
const Dialect& C99OfDeviceHost();

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_SRC_CODEGEN_C_DIALECT_H_
