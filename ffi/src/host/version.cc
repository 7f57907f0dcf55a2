#include <kernpack/host/host.h>

const char* kp_version(void) { return KERNPACK_VERSION; }
