// Compiled expressions back to text that Python evaluates: //, %, min, max, ceildiv.
#ifndef KERNPACK_SRC_VALUES_SIGNATURE_RENDER_H_
#define KERNPACK_SRC_VALUES_SIGNATURE_RENDER_H_

#include <string>

#include <kernpack/signature/program.h>

namespace kernpack::host {

// The expression at *code; moves *code behind its end.
std::string RenderExpression(signature::View p, const uint32_t** code);
// "_", "*S", or an expression.
std::string RenderDim(signature::View p, uint32_t dim);
// "0 < k <= N".
std::string RenderCondition(signature::View p, const uint32_t* record);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_VALUES_SIGNATURE_RENDER_H_
