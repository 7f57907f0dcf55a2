// Errors on their way through a run.
#ifndef KERNPACK_SDK_PROGRAMS_EXECUTE_RAISE_H_
#define KERNPACK_SDK_PROGRAMS_EXECUTE_RAISE_H_

#include <kernpack/error.h>
#include <kernpack/signature/complain.h>

#include <string>

namespace kernpack::sdk::program {

// For signature::Check and its like: raises in the host.
signature::Raiser HostRaiser();
// Throws what a function that returned -1 left raised; InternalError when it left nothing.
[[noreturn]] void ThrowRaisedBy(const char* function);
// The same error with "<where>: " before its text.
[[noreturn]] void Rethrow(const std::string& where, const Error& error);

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAMS_EXECUTE_RAISE_H_
