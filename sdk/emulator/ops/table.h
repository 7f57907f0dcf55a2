// The semantics of instructions: rows of a mnemonic, the types of its operands, and the code that runs it on 32 lanes. A family
// of instructions has one table; the decoder knows rows only.
#ifndef KERNPACK_SDK_EMULATOR_OPS_TABLE_H_
#define KERNPACK_SDK_EMULATOR_OPS_TABLE_H_

#include <cstdint>

#include "program/program.h"

namespace kernpack::emulator {

// How an operand is held: what the decoder makes a slot for.
enum class Held : uint8_t { kNone, kWord, kLong, kFloat, kDouble, kPredicate };

struct Row {
  const char* name;  // opcode and types, without the modifiers that `flags` allows
  Handler run;
  uint32_t flags;  // modifiers that it takes
  Held operands[5];  // destination first
};

struct Table {
  const Row* rows;
  uint32_t count;
};

// Tables that are compiled for several instruction sets; the list of tables ends with an empty one.
struct HostCode {
  const Table* tables;
  const RowCode* rows;
};
HostCode CodeBase();
HostCode CodeV3();
HostCode CodeV4();

// Which of them modules use that are loaded from now on: 1 base, 2 x86-64-v3, 3 x86-64-v4, and never one beyond the processor's;
// 0, as at the start, the best it has.
void UseHostLevel(int level);
// The one that they use now.
int HostLevel();
// Its code for rows.
const RowCode* HostRows();
// The row of a mnemonic, NULL when there is none.
const Row* FindRow(const char* name);
// The name of each row in turn, for tests that try them all; NULL beyond the last.
const char* RowName(uint32_t index);

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_OPS_TABLE_H_
