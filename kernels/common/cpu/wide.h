// Rows whose squares leave the range of the type they are summed in: done again, one number at a time, in one that has the
// range. Compiled once, for any CPU. Allocates.
#pragma once

#include "rows.h"

namespace kk {

struct LayerNormFormula;
struct RmsNormFormula;
struct L2NormalizeFormula;

// Row `row` of the tensors; weight and bias may be null where the formula has none.
template <class Formula, class T>
void WideForwardRow(const NormArgs<T>& args, int64_t row);
template <class Formula, class T>
void WideBackwardRow(const NormBackwardArgs<T>& args, int64_t row);

}  // namespace kk
