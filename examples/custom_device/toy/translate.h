// From the text form of Kernpack's IR to the toy's language. The toy runs functions of one loop that stores one element:
//
//     func axpy(x: f32[N], y: f32[N], a: f32) -> (out: f32[N]) {
//       parallel i in 0..N {
//         out[i] = a * x[i] + y[i]
//       }
//     }
//
// becomes "kernel axpy: a2 a0 * a1 + -> a3".
#ifndef TOY_TRANSLATE_H_
#define TOY_TRANSLATE_H_

#include <string>
#include <string_view>
#include <vector>

namespace toy {

struct Function {
  std::string name;
  std::string signature;  // "(x: f32[N], y: f32[N], a: float) -> (out: f32[N])"
  std::string kernel;  // a line of a program
};

struct Translated {
  std::string module;  // its name
  std::vector<Function> functions;
};

// Throws Error for what the toy cannot run.
Translated Translate(std::string_view text);

}  // namespace toy

#endif  // TOY_TRANSLATE_H_
