// A driver from before cuGetProcAddress_v2: all it can do is say how old it is.
extern "C" __attribute__((visibility("default"))) int cuDriverGetVersion(int* version) {
  *version = 11080;
  return 0;
}
