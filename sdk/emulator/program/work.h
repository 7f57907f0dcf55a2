// The arithmetic that an instruction does, by its mnemonic.
#ifndef KERNPACK_SDK_EMULATOR_PROGRAM_WORK_H_
#define KERNPACK_SDK_EMULATOR_PROGRAM_WORK_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace kernpack::emulator {

// `unit` is "f16", "bf16", "f32" or "f64" for additions and multiplications, a fused one being two; "special" for what the special
// function units do (ex2, rcp, sqrt, division); "matrix_bf16" and so on for mma, by the type of A. Empty: no arithmetic on floats.
struct ArithmeticWork {
  std::string unit;
  uint32_t of_thread = 0;
  uint32_t of_warp = 0;  // mma: of its 32 threads together
};

ArithmeticWork GetWork(std::string_view op);

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_PROGRAM_WORK_H_
