// The code of one instruction set.
#include "ops/rows.h"
#include "ops/table.h"

namespace kernpack::emulator {
namespace KP_ISA {

extern const Table kIntegerTable;
extern const Table kFloatTable;
extern const Table kCompareTable;
extern const Table kConvertTable;
extern const RowCode kRowCode;

}  // namespace KP_ISA

#define KP_JOIN_(a, b) a##b
#define KP_JOIN(a, b) KP_JOIN_(a, b)
HostCode KP_JOIN(Code, KP_ISA)() {
  static constexpr uint32_t kCount = 4;
  static const Table tables[kCount + 1] = {
      KP_ISA::kIntegerTable, KP_ISA::kFloatTable, KP_ISA::kCompareTable, KP_ISA::kConvertTable, {nullptr, 0}};
  return {tables, &KP_ISA::kRowCode};
}

}  // namespace kernpack::emulator
