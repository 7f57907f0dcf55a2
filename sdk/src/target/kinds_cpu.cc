// llvm and c: two generators, one device.
#include <kernpack/sdk/target_kind.h>

#include "target/kinds.h"

namespace kernpack::sdk {
namespace {

TargetKindBuilder& AddProcessor(TargetKindBuilder& builder) {
  return builder.set_default_keys({"cpu"})
      .add_attr_option<std::string>("mtriple", {.doc = "LLVM's triple of the machine, x86_64-linux-gnu"})
      .add_attr_option<std::string>("mcpu", {.doc = "processor, as LLVM calls it: x86-64-v3, znver4, cortex-a72"})
      .add_attr_option<std::vector<std::string>>("mattr",
                                                 {.doc = "processor features beyond or below mcpu's: +aes,-fma"})
      .add_attr_option<int64_t>("num-cores", {.doc = "cores to divide work among", .validate = AtLeast(1)})
      .add_attr_option<int64_t>("vector-width", {.doc = "bits of a vector register", .validate = AtLeast(8)});
}

}  // namespace

void RegisterCpuKinds() {
  TargetKindBuilder llvm("llvm", KP_DEVICE_CPU);
  AddProcessor(llvm).Register();
  TargetKindBuilder c("c", KP_DEVICE_CPU);
  AddProcessor(c).Register();
}

}  // namespace kernpack::sdk
