// The end of every C file that is written for a user: the module's table, of what stands before it.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_C_MODULE_TABLE_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_C_MODULE_TABLE_H_

namespace kernpack::sdk {

// Before: KP_GENERATED_NAME, KP_GENERATED_VERSION, KP_GENERATED_SDK, kp_functions, kp_create, kp_destroy.
inline constexpr char kModuleTable[] = R"(
static const KpModule kp_module = {
    .struct_size = sizeof(KpModule),
    .abi_version = KP_ABI_VERSION,
    .min_host_abi = (uint32_t)KP_ABI_MAJOR << 16,
    .name = KP_GENERATED_NAME,
    .version = KP_GENERATED_VERSION,
    .sdk_version = KP_GENERATED_SDK,
    .functions = kp_functions,
    .functions_end = kp_functions + sizeof kp_functions / sizeof *kp_functions,
    .create = kp_create,
    .destroy = kp_destroy,
};

KP_EXPORT_SYMBOL const KpModule* kp_module_v1(void);
const KpModule* kp_module_v1(void) { return &kp_module; }
)";

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_C_MODULE_TABLE_H_
