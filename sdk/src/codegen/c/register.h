#ifndef KERNPACK_SDK_SRC_CODEGEN_C_REGISTER_H_
#define KERNPACK_SDK_SRC_CODEGEN_C_REGISTER_H_

namespace kernpack::sdk {

// Makes the generator of kind `c` known.
void RegisterC();

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_SRC_CODEGEN_C_REGISTER_H_
