// host/signature.h: checking a call and what it needs allocated.
#include <kernpack/signature/check.h>
#include <kernpack/signature/lend.h>

#include "shared/drawn_extents.h"
#include "values/signature/signature.h"

using namespace kernpack;
using kernpack::host::DrawnExtents;
using kernpack::host::kHostRaiser;

int kp_sig_check(const uint32_t* program, const char* function, const KpAny* args, const KpAny* results, uint32_t flags,
                 KpSigFrame* frame) {
  return signature::Check(program, function, args, results, flags, kHostRaiser, frame, DrawnExtents());
}

int kp_sig_lend(const KpSigFrame* frame, const char* function, const KpSigMemory* memory, KpAny* lent) {
  struct Asks {
    const KpSigMemory& of;
    int Result(int index, const KpDLTensor& prototype, KpAny* out) const {
      return of.result(of.self, index, &prototype, out);
    }
    int Workspace(const KpDLTensor& prototype, KpAny* out) const { return of.workspace(of.self, &prototype, out); }
  };
  return signature::Lend(*frame, function, kHostRaiser, Asks{*memory}, lent);
}
