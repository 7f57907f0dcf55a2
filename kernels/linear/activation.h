// The activations that a product ends with.
#pragma once

namespace kk {

enum class Activation { kNone, kRelu, kSilu, kGelu, kGeluTanh };

}  // namespace kk
