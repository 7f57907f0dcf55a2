// kernpack_device_conformance --backend=NAME [--plugin=PATH] [--require]: runs the suite on the first device of a backend.
// Without a device every test is skipped with the reason, and with --require the run fails.
#include <cstdio>
#include <cstring>
#include <string>

#include "support.h"

namespace {

using kernpack_conformance::Subject;
using kernpack_conformance::TakeError;
using kernpack_conformance::Text;

// The rest of "--name=value" or NULL.
const char* Value(const char* argument, const char* name) {
  const size_t length = std::strlen(name);
  return std::strncmp(argument, name, length) == 0 ? argument + length : nullptr;
}

bool Open(Subject* subject, const std::string& plugin) {
  if (!plugin.empty() && kp_backend_load(plugin.c_str()) != 0) return false;
  const KpBytes name = kp_bytes(subject->name.c_str());
  if (kp_device_from_name(name, &subject->device) != 0) return false;
  KpAny reason = kp_none();
  if (kp_device_count(subject->device.device_type, &subject->count, &reason) != 0) return false;
  subject->reason = Text(reason);
  kp_any_release(&reason);
  return subject->count == 0 || kp_device_api(subject->device.device_type, &subject->api) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  Subject& subject = kernpack_conformance::TheSubject();
  subject.name = "cpu";
  std::string plugin;
  bool required = false;
  for (int i = 1; i < argc; ++i) {
    if (const char* name = Value(argv[i], "--backend=")) {
      subject.name = name;
    } else if (const char* path = Value(argv[i], "--plugin=")) {
      plugin = path;
    } else if (std::strcmp(argv[i], "--require") == 0) {
      required = true;
    } else {
      std::fprintf(stderr, "usage: %s --backend=NAME [--plugin=PATH] [--require]\n", argv[0]);
      return 2;
    }
  }
  if (!Open(&subject, plugin)) {
    std::fprintf(stderr, "%s\n", TakeError().c_str());
    return 1;
  }
  if (subject.api == nullptr) {
    std::printf("%s is unavailable: %s\n", subject.name.c_str(), subject.reason.c_str());
    if (required) return 1;
  }
  return RUN_ALL_TESTS();
}
