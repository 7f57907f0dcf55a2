// host/signature.h: what a contract's parameters and results are.
#include <map>
#include <mutex>
#include <vector>

#include <kernpack/signature/sequence.h>

#include "base/fork.h"
#include "base/guard.h"
#include "base/leaked.h"
#include "values/signature/signature.h"

namespace kernpack::host {
namespace {

using signature::ReadDefault;

// Items of list defaults, made once per program and parameter.
struct ListDefaults {
  ForkMutex mutex{LockRank::kNames};
  std::map<const uint32_t*, std::vector<KpAny>> items;  // by the record in the program
};

const KpAny* ListItems(signature::View p, const uint32_t* record) {
  auto& lists = Leaked<ListDefaults>();
  const std::lock_guard lock(lists.mutex);
  auto [found, fresh] = lists.items.try_emplace(record);
  if (fresh) {
    for (uint32_t i = 0; i < signature::Operand(*record); ++i)
      found->second.push_back(ReadDefault(p, record + 1 + 3 * i));
  }
  return found->second.data();
}

int RaiseIndex(const char* what, int32_t index, int32_t count) {
  return kp_raise("IndexError", "%s: expected an index below %d, got %d", what, count, index);
}

}  // namespace
}  // namespace kernpack::host

using namespace kernpack::host;

int32_t kp_sig_num_params(const uint32_t* program) { return kernpack::signature::View{program}.NumParams(); }
int32_t kp_sig_num_positional(const uint32_t* program) { return kernpack::signature::View{program}.NumPositional(); }
int32_t kp_sig_num_results(const uint32_t* program) { return kernpack::signature::View{program}.NumResults(); }
uint32_t kp_sig_props(const uint32_t* program) {
  const kernpack::signature::View view{program};
  const bool unconditional = view.NumConditions() == 0 && view.OnDeviceType() == 0;
  return view.Props() | (unconditional ? uint32_t{KP_PROP_UNCONDITIONAL} : 0u);
}

int kp_sig_param(const uint32_t* program, int32_t index, KpSigParam* out) {
  return Guard("kp_sig_param", [&] {
    const kernpack::signature::View p{program};
    if (index < 0 || index >= p.NumParams()) return RaiseIndex("kp_sig_param", index, p.NumParams());
    const uint32_t* record = p.Param(index);
    *out = KpSigParam{};
    out->name = p.ParamName(index);
    out->kind = kernpack::signature::GetKind(record);
    out->flags = kernpack::signature::GetFlags(record);
    if (kernpack::signature::IsMarkedCompact(record)) out->flags |= KP_PARAM_COMPACT;
    out->default_value = kp_none();
    out->list_default_size = -1;
    if (!record[3]) return 0;
    const uint32_t* at = program + record[3];
    if ((*at & 0xff) == kernpack::signature::kListDefault) {
      out->list_default_size = static_cast<int32_t>(kernpack::signature::Operand(*at));
      out->list_default_items = ListItems(p, at);
    } else {
      out->default_value = ReadDefault(p, at);
    }
    return 0;
  });
}

int kp_sig_result(const uint32_t* program, int32_t index, KpSigResult* out) {
  const kernpack::signature::View p{program};
  if (index < 0 || index >= p.NumResults()) return RaiseIndex("kp_sig_result", index, p.NumResults());
  out->name = p.ResultName(index);
  out->flags = kernpack::signature::GetFlags(p.Result(index));
  return 0;
}
