// The host of a program that links libkernpack.
#include <kernpack/host/host.h>

#include "target/host.h"

namespace kernpack::sdk {

const KpHost* Host() { return kp_host(); }

}  // namespace kernpack::sdk
