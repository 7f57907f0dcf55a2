// Vectors from and to memory. A bool is a byte there, 0 or not; in a vector it is 0 or -1.
#include "codegen/c_family/helpers.h"

namespace kernpack::sdk::ir {
namespace {

std::string LaneFrom(Type t, const std::string& cell) { return IsBool(t) ? "-(" + cell + " != 0)" : cell; }
std::string LaneTo(Type t, const std::string& lane) { return IsBool(t) ? lane + " != 0" : lane; }

// "kp_load_f32x8", with what tells it from others: gathered, masked, the address space.
std::string GetName(const char* word, Type t, const Helpers::Place& place, const std::string& space) {
  std::string name = std::string("kp_") + word;
  if (!place.index.empty()) name += "_at";
  if (!place.mask.empty()) name += "_if";
  if (!space.empty())
    name += "_" + space.substr(space.find_first_not_of('_'), space.find(' ') - space.find_first_not_of('_'));
  return name + "_" + TypeName(t);
}

}  // namespace

std::string Helpers::FromMemory(Type t, const std::string& cell) { return IsBool(t) ? "(" + cell + " != 0)" : cell; }
std::string Helpers::ToMemory(Type t, const std::string& value) {
  return IsBool(t) ? "(uint8_t)(" + Bare(value) + " ? 1 : 0)" : value;
}

std::string Helpers::Load(Type t, const Place& place, const std::string& otherwise) {
  const bool masked = !place.mask.empty(), gathers = !place.index.empty();
  const Type index = WithLanes(kI64, t.lanes), mask = WithLanes(kBool, t.lanes);
  const std::string name = GetName("load", t, place, dialect_.Space(place.scope)), v = CType(t);
  if (First(name)) {
    for (const Type needed : {t, gathers ? index : t, masked ? mask : t}) Need(needed);
    const std::string head = dialect_.Inline() + v + " " + name + "(const " + dialect_.Space(place.scope) + CMemory(t) +
                             "* p" + (gathers ? ", " + CType(index) + " x" : "") +
                             (masked ? ", " + CType(mask) + " m, " + v + " o" : "") + ") {\n  " + v + " r" +
                             (masked ? " = o" : "") + ";\n";
    const std::string loop = "  for (int i = 0; i < " + std::to_string(t.lanes) + "; ++i) " +
                             (masked ? "if (LANE(m, i)) " : "") +
                             "LANE(r, i) = " + LaneFrom(t, gathers ? "p[LANE(x, i)]" : "p[i]") + ";\n";
    const bool whole = !masked && !gathers && !IsBool(t);
    structs_ += head + loop + "  return r;\n}\n";
    gnu_ += head + (whole ? "  memcpy(&r, p, sizeof r);\n" : loop) + "  return r;\n}\n";
  }
  std::vector<std::string> args{place.at};
  if (gathers) args.push_back(place.index);
  if (masked) args.insert(args.end(), {place.mask, otherwise});
  return FormatCall(name, args);
}

std::string Helpers::Store(Type t, const Place& place, const std::string& value) {
  const bool masked = !place.mask.empty(), scatters = !place.index.empty();
  const Type index = WithLanes(kI64, t.lanes), mask = WithLanes(kBool, t.lanes);
  const std::string name = GetName("store", t, place, dialect_.Space(place.scope));
  if (First(name)) {
    for (const Type needed : {t, scatters ? index : t, masked ? mask : t}) Need(needed);
    const std::string head = dialect_.Inline() + "void " + name + "(" + dialect_.Space(place.scope) + CMemory(t) +
                             "* p" + (scatters ? ", " + CType(index) + " x" : "") + ", " + CType(t) + " a" +
                             (masked ? ", " + CType(mask) + " m" : "") + ") {\n";
    const std::string loop = "  for (int i = 0; i < " + std::to_string(t.lanes) + "; ++i) " +
                             (masked ? "if (LANE(m, i)) " : "") + (scatters ? "p[LANE(x, i)]" : "p[i]") + " = " +
                             LaneTo(t, "LANE(a, i)") + ";\n";
    const bool whole = !masked && !scatters && !IsBool(t);
    structs_ += head + loop + "}\n";
    gnu_ += head + (whole ? "  memcpy(p, &a, sizeof a);\n" : loop) + "}\n";
  }
  std::vector<std::string> args{place.at};
  if (scatters) args.push_back(place.index);
  args.push_back(value);
  if (masked) args.push_back(place.mask);
  return FormatCall(name, args);
}

}  // namespace kernpack::sdk::ir
