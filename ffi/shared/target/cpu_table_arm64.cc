// Processors and their features, as LLVM 19 names and describes them (tests compare with an installed clang-19). Only what
// user code can run on; what needs the system's leave, such as keys of memory protection, is left out.
#include "shared/target/cpu_table.h"

namespace kernpack::host {
namespace {

constexpr CpuRow kArmFeatures[] = {
    {"fp-armv8", ""},
    {"neon", "fp-armv8"},
    {"crc", ""},
    {"lse", ""},
    {"rdm", "neon"},
    {"rcpc", ""},
    {"dotprod", "neon"},
    {"fullfp16", "fp-armv8"},
    {"fp16fml", "fullfp16"},
    {"aes", "neon"},
    {"sha2", "neon"},
    {"sha3", "sha2"},
    {"sm4", "neon"},
    {"jsconv", "fp-armv8"},
    {"complxnum", "neon"},
    {"fptoint", "fp-armv8"},
    {"flagm", ""},
    {"dit", ""},
    {"sb", ""},
    {"ssbs", ""},
    {"rand", ""},
    {"pauth", ""},
    {"bti", ""},
    {"mte", ""},
    {"ccdp", ""},
    {"bf16", ""},
    {"i8mm", ""},
    {"cssc", ""},
    {"sve", "fullfp16"},
    {"sve2", "sve"},
    {"sve2-bitperm", "sve2"},
    {"sme", "bf16"},
    {"sme2", "sme"},
    {"sme-f64f64", "sme"},
    {"sme-i16i64", "sme"},
};
constexpr CpuRow kArmModels[] = {
    {"generic", "neon"},
    {"cortex-a53", "generic crc aes sha2"},
    {"cortex-a55", "cortex-a53 lse rdm rcpc dotprod fullfp16"},
    {"cortex-a57", "cortex-a53"},
    {"cortex-a72", "cortex-a53"},
    {"cortex-a73", "cortex-a53"},
    {"cortex-a75", "cortex-a55"},
    {"cortex-a76", "cortex-a55 ssbs"},
    {"cortex-a77", "cortex-a76"},
    {"cortex-a78", "cortex-a76"},
    {"cortex-a510",
     "generic crc lse rdm rcpc dotprod fp16fml jsconv complxnum flagm dit sb ssbs pauth bti mte bf16 i8mm "
     "sve2-bitperm"},
    {"cortex-a710", "cortex-a510"},
    {"cortex-a715", "cortex-a510"},
    {"cortex-a720", "cortex-a510"},
    {"cortex-x1", "cortex-a76"},
    {"cortex-x2", "cortex-a510"},
    {"cortex-x3", "cortex-a510"},
    {"cortex-x4", "cortex-a510"},
    {"neoverse-e1", "cortex-a76"},
    {"neoverse-n1", "cortex-a76"},
    {"neoverse-n2", "cortex-a510"},
    {"neoverse-n3", "cortex-a510 rand"},
    {"neoverse-v1", "cortex-a76 fp16fml sha3 sm4 jsconv complxnum flagm dit rand pauth ccdp bf16 i8mm sve"},
    {"neoverse-v2", "neoverse-n3"},
    {"neoverse-v3", "neoverse-n3"},
    {"a64fx", "cortex-a53 lse rdm complxnum sve"},
    {"ampere1", "cortex-a76 fp16fml sha3 jsconv complxnum flagm dit sb rand pauth bti bf16 i8mm"},
    {"ampere1a", "ampere1 sm4 mte"},
    {"ampere1b", "ampere1a cssc"},
    {"apple-m1", "cortex-a76 fp16fml sha3 jsconv complxnum fptoint flagm dit sb pauth ccdp"},
    {"apple-m2", "cortex-a76 fp16fml sha3 jsconv complxnum flagm dit sb pauth bti bf16 i8mm"},
    {"apple-m3", "apple-m2"},
    {"apple-m4", "apple-m2 sme2 sme-f64f64 sme-i16i64"},
    {"oryon-1", "cortex-a53 lse rdm rcpc dotprod sha3 sm4 jsconv complxnum flagm dit sb ssbs rand pauth bti bf16 i8mm"},
};
constexpr auto kArmTable = MakeCpuTable(kArmFeatures, kArmModels);

}  // namespace

constinit const CpuArch kArm64Cpu = kArmTable.View("aarch64");

}  // namespace kernpack::host
