// Checks that this host can use a module's table: versions, sizes, reserved fields, names.
#ifndef KERNPACK_SRC_MODULES_CHECK_H_
#define KERNPACK_SRC_MODULES_CHECK_H_

#include <vector>

#include "modules/loaded_module.h"

namespace kernpack::host {

// `where` names the module in messages: its file, or "<embedded>". Each returns 0, or -1 with ImportError raised.
// Reads nothing beyond the frozen first fields until versions and size are known to agree.
int CheckModule(const KpModule* module, const char* where);
// One entry of a table, by itself. Its contract is compiled when the function is first asked for.
int CheckEntry(const Entry& entry);
// The entries of one function together: one signature, each target once, a baseline where one is for the CPU. 0, or -1 with
// ValueError raised.
int CheckVariants(const std::vector<Entry>& entries);

// Checks the attributes that an author added to a function (nullable): "key=value" lines, each key once. 0, or -1 with ValueError raised.
int CheckAttributes(const char* text, const char* name);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_MODULES_CHECK_H_
