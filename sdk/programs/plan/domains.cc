#include "plan/domains.h"

#include <algorithm>

#include "target/host.h"

namespace kernpack::sdk::program {
namespace {

std::string GetNames(const std::vector<int32_t>& types) {
  std::string out;
  for (const int32_t type : types) out += (out.empty() ? "" : " or ") + DeviceTypeName(type);
  return out;
}

bool Contains(const std::vector<int32_t>& types, int32_t type) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

bool Disagree(std::string left, const Origin& left_origin, std::string right, const Origin& right_origin,
              Conflict* conflict) {
  *conflict = {std::move(left), std::move(right), left_origin, right_origin};
  return false;
}

// The types both allow, most wanted of `a` first.
std::vector<int32_t> Both(const std::vector<int32_t>& a, const std::vector<int32_t>& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  std::vector<int32_t> both;
  std::copy_if(a.begin(), a.end(), std::back_inserter(both), [&b](int32_t type) { return Contains(b, type); });
  return both;
}

bool TypeAllowed(const DeviceFacts& of, const DeviceFacts& by, Conflict* conflict) {
  if (!of.device.device_type() || by.types.empty() || Contains(by.types, *of.device.device_type())) return true;
  return Disagree(DeviceTypeName(*of.device.device_type()), of.type_origin, GetNames(by.types), by.types_origin,
                  conflict);
}

bool JoinDevices(DeviceFacts* a, const DeviceFacts& b, Conflict* conflict) {
  const VirtualDevice &left = a->device, &right = b.device;
  if (right.IsFullyUnconstrained()) return true;
  std::optional<VirtualDevice> joined = VirtualDevice::Join(left, right);
  if (!joined) {
    if (left.device_type() && right.device_type() && *left.device_type() != *right.device_type()) {
      return Disagree(DeviceTypeName(*left.device_type()), a->type_origin, DeviceTypeName(*right.device_type()),
                      b.type_origin, conflict);
    }
    if (left.virtual_device_id() && right.virtual_device_id() &&
        *left.virtual_device_id() != *right.virtual_device_id()) {
      return Disagree("virtual id " + std::to_string(*left.virtual_device_id()), a->id_origin,
                      "virtual id " + std::to_string(*right.virtual_device_id()), b.id_origin, conflict);
    }
    return Disagree("target " + left.target()->str(), a->target_origin, "target " + right.target()->str(),
                    b.target_origin, conflict);
  }
  if (!left.device_type()) a->type_origin = b.type_origin;
  if (!left.virtual_device_id()) a->id_origin = b.id_origin;
  if (!left.target()) a->target_origin = b.target_origin;
  a->device = std::move(*joined);
  return true;
}

}  // namespace

bool JoinFacts(DeviceFacts* facts, const DeviceFacts& more, Conflict* conflict) {
  if (!TypeAllowed(*facts, more, conflict) || !TypeAllowed(more, *facts, conflict)) return false;
  std::vector<int32_t> types = Both(facts->types, more.types);
  if (types.empty() && !(facts->types.empty() && more.types.empty())) {
    return Disagree(GetNames(facts->types), facts->types_origin, GetNames(more.types), more.types_origin, conflict);
  }
  if (!JoinDevices(facts, more, conflict)) return false;
  if (facts->types.empty() || types.size() < facts->types.size()) facts->types_origin = more.types_origin;
  facts->types = std::move(types);
  return true;
}

bool JoinFacts(ScopeFacts* facts, const ScopeFacts& more, Conflict* conflict) {
  if (!more.scope) return true;
  if (facts->scope && *facts->scope != *more.scope) {
    return Disagree("memory scope '" + *facts->scope + "'", facts->origin, "memory scope '" + *more.scope + "'",
                    more.origin, conflict);
  }
  *facts = more;
  return true;
}

}  // namespace kernpack::sdk::program
