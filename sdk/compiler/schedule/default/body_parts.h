// The body of a loop in parts that may run for many iterations each, one part after the other.
#ifndef KERNPACK_SDK_COMPILER_SCHEDULE_DEFAULT_BODY_PARTS_H_
#define KERNPACK_SDK_COMPILER_SCHEDULE_DEFAULT_BODY_PARTS_H_

#include <kernpack/sdk/ir/stmt.h>

#include <optional>

#include "schedule/default/rows.h"

namespace kernpack::sdk::ir {

struct BodyPart {
  std::vector<size_t> statements;  // places in the body, in order
  bool is_vector = false;  // iterations don't depend on each other, and vectors can run them
};

// Local variables that the body reads and stores: each is read into a name once, and a value that is stored has a name.
// So a statement that uses the value of before doesn't depend on the store of the next one.
Block NameLocalValues(const Block& body);

// True for a statement that can be run for many iterations before the next one: no call, no return, nothing that the host sees.
bool CanDivide(const Stmt& s);

// The parts, in an order that keeps every dependence between statements of one iteration and of different ones. Nothing where the
// body has statements of a kind that must stay in their place, or too many. `asked`: the first statement names a condition, which all
// others wait for.
std::optional<std::vector<BodyPart>> DivideBody(const StmtNode& loop, const Block& body, bool asked,
                                                const IsIndependent& is_independent);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_SCHEDULE_DEFAULT_BODY_PARTS_H_
