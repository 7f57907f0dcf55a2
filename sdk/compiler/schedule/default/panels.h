// Copies of a product's operands in panels, in the order in which its tiles read them.
#ifndef KERNPACK_SDK_COMPILER_SCHEDULE_DEFAULT_PANELS_H_
#define KERNPACK_SDK_COMPILER_SCHEDULE_DEFAULT_PANELS_H_

#include <kernpack/sdk/schedule/stage.h>

#include <functional>
#include <unordered_map>

namespace kernpack::sdk::ir {

// Names that no other axis of the stage, or no other stage or parameter, has.
std::string UnusedAxisName(const Stage& stage, std::string name);
std::string UnusedStageName(const StageProgram& program, const std::vector<Stage>& more, std::string name);

// Of both operands: rows of the left one, columns of the right one.
struct Panels {
  int64_t rows, columns;
};

// An operand whose indices are axes: dimension `cut` is divided into panels of `factor`, and `inner` axes stand for `sum`.
struct PanelShape {
  Expr load;
  StageAxis cut;
  int64_t factor;
  Var sum;
};

// Reads the operand at this element of the sum, and `filler` where `mask` (may be empty) is false or the panel has ended.
using PanelRead = std::function<Expr(const Expr& at, const Expr& mask, const Expr& filler)>;

// A stage [panel, other dimensions..., inner..., lane] of the values that `value` makes of what it reads.
Stage PackPanels(const std::string& name, const PanelShape& shape, const std::vector<StageAxis>& inner,
                 const std::function<Expr(const PanelRead&)>& value);
// The element of that stage that the operand is read for. `values`: of the axes; `inner`: of the inner ones.
Expr LoadPanel(const Stage& pack, const PanelShape& shape, const std::vector<Expr>& inner,
               const std::unordered_map<const VarNode*, Expr>& values);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_SCHEDULE_DEFAULT_PANELS_H_
