// silu(gate) * up of one row, and its gradient: plain pointers, compiled once per CPU level.
#pragma once

#include "../rows/types.h"

namespace kk {

template <class Level, class T>
void Swiglu(const T* gate, const T* up, T* out, int64_t count);
template <class Level, class T>
void SwigluBackward(const T* d_out, const T* gate, const T* up, T* d_gate, T* d_up, int64_t count);

}  // namespace kk
