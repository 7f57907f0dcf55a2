// RISC-V's extensions, by their names in the ratified specifications; zvl<n>b: vector registers of at least n bits.
#include "target/known_cpus.h"

#include "shared/target/cpu_table.h"

namespace kernpack::host {
namespace {

constexpr CpuRow kRiscvFeatures[] = {
    {"m", ""},
    {"a", ""},
    {"f", ""},
    {"d", "f"},
    {"c", ""},
    {"zba", ""},
    {"zbb", ""},
    {"zbs", ""},
    {"zfh", "f"},
    {"zvl32b", ""},
    {"zvl64b", "zvl32b"},
    {"zvl128b", "zvl64b"},
    {"zvl256b", "zvl128b"},
    {"zvl512b", "zvl256b"},
    {"zvl1024b", "zvl512b"},
    {"zve32x", "zvl32b"},
    {"zve32f", "zve32x f"},
    {"zve64x", "zve32x zvl64b"},
    {"zve64f", "zve64x zve32f"},
    {"zve64d", "zve64f d"},
    {"v", "zve64d zvl128b"},
    {"zvfh", "zve32f zfh"},
};
constexpr CpuRow kRiscvModels[] = {
    {"generic-rv64", ""},
    {"sifive-u74", "m a d c"},
    {"sifive-x280", "sifive-u74 v zvl512b zvfh zba zbb"},
};
constexpr auto kRiscvTable = MakeCpuTable(kRiscvFeatures, kRiscvModels);

}  // namespace

constinit const CpuArch kRiscv64Cpu = kRiscvTable.View("riscv64");

}  // namespace kernpack::host
