// Programs made by chance, the same for the same seed.
#ifndef KERNPACK_TESTS_CPP_PLAN_RANDOM_PROGRAMS_H_
#define KERNPACK_TESTS_CPP_PLAN_RANDOM_PROGRAMS_H_

#include <kernpack/sdk/program/builder.h>

#include <random>

namespace kernpack::sdk::program {

// Calls of `m.*` (support.h) on the CPU, on two CUDA devices or wherever; tuples, copies, shapes, an `if`. Every program of
// it can be planned: no function insists on a device.
inline ProgramModule RandomModule(uint32_t seed, int steps = 30) {
  std::mt19937 random(seed);
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  const auto device = [&]() -> VirtualDevice {
    switch (below(8)) {
      case 0:
        return VirtualDevice::ForDeviceType(KP_DEVICE_CPU);
      case 1:
        return VirtualDevice::ForDeviceType(KP_DEVICE_CUDA);
      case 2:
        return VirtualDevice::ForDeviceType(KP_DEVICE_CUDA, 1);
      default:
        return {};
    }
  };
  const auto tensor = [] { return Type::Tensor(f32, {{"N"}}); };
  ProgramBuilder inner("inner");
  const ValueId p = inner.Param("p", tensor());
  inner.Return({inner.Call("m.negate", {inner.Call("m.negate", {p}, device())})});

  ProgramBuilder b("main");
  std::vector<ValueId> tensors;
  for (int i = 0; i < 4; ++i) tensors.push_back(b.Param("x" + std::to_string(i), tensor(), device()));
  const ValueId flag = b.Param("flag", Type::Of(TypeKind::kBool));
  const auto any = [&] { return tensors[tensors.size() - 1 - below(std::min<size_t>(tensors.size(), 8))]; };
  for (int i = 0; i < steps; ++i) {
    switch (below(10)) {
      case 0:
        tensors.push_back(b.TupleGet(b.Tuple({any(), any()}), 1));
        break;
      case 1: {
        const VirtualDevice to = VirtualDevice::ForDeviceType(below(2) ? KP_DEVICE_CPU : KP_DEVICE_CUDA);
        tensors.push_back(b.Copy(any(), to));
        break;
      }
      case 2:
        b.ShapeOf(any());
        break;
      case 3:
        tensors.push_back(below(2) ? b.If(flag, "inner", "inner", {any()})[0] : b.Invoke("inner", {any()})[0]);
        break;
      case 4: {
        const std::vector<ValueId> both = b.CallAll("m.split", {any()}, 2, device());
        tensors.insert(tensors.end(), both.begin(), both.end());
        break;
      }
      case 5:
      case 6:
        tensors.push_back(b.Call("m.negate", {any()}, device()));
        break;
      default:
        tensors.push_back(b.Call("m.add", {any(), any()}, device()));
    }
  }
  b.Return({tensors.back()}).Return({any()}, device());
  return {{b.Finish(), inner.Finish()}};
}

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_TESTS_CPP_PLAN_RANDOM_PROGRAMS_H_
