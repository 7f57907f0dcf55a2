// activation(gate) * up of one row, and its gradient: plain pointers, compiled once per CPU level.
#pragma once

#include "activations/row_activations.h"
#include "common/cpu/types.h"

namespace kk {

#define KK_ENUMERATOR(op, Name, text) , k##Name
enum class Gate { kGelu, kGeluTanh KK_ROW_ACTIVATIONS(KK_ENUMERATOR) };
#undef KK_ENUMERATOR

// Without `up` (null) it is activation(gate) alone, and d_up is not written.
template <class Level, class T>
void Gated(Gate kind, const T* gate, const T* up, T* out, int64_t count);
template <class Level, class T>
void GatedBackward(Gate kind, const T* d_out, const T* gate, const T* up, T* d_gate, T* d_up, int64_t count);

}  // namespace kk
