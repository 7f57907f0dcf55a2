// Any text through the IR's parser: what reads must print and read back as the same.
#include <kernpack/error.h>
#include <kernpack/sdk/ir/equal.h>
#include <kernpack/sdk/ir/text.h>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace kernpack::sdk::ir;
  IRModule m;
  try {
    m = Parse({reinterpret_cast<const char*>(data), size});
  } catch (const kernpack::Error&) {
    return 0;
  }
  if (!Equal(Parse(Print(m)), m)) __builtin_trap();
  return 0;
}
