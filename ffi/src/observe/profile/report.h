// A profile as text: a table for people, JSON, and the trace that Perfetto and chrome://tracing open.
#ifndef KERNPACK_SRC_OBSERVE_PROFILE_REPORT_H_
#define KERNPACK_SRC_OBSERVE_PROFILE_REPORT_H_

#include <string>

#include "observe/profile/recorder.h"

namespace kernpack::host::profile {

std::string Table(const KpProfile& profile);
std::string Json(const KpProfile& profile);
std::string Trace(const KpProfile& profile);

}  // namespace kernpack::host::profile

#endif  // KERNPACK_SRC_OBSERVE_PROFILE_REPORT_H_
