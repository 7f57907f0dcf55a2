/* Functions that libstdc++.a of a new system takes from its C library, and that an older C library lacks. Only for links by zig. */
#include <sys/random.h>

/* 2.32. 0 is always right: "there may be threads". */
__attribute__((visibility("hidden"))) char __libc_single_threaded = 0;

/* 2.36 */
__attribute__((visibility("hidden"))) unsigned arc4random(void);
unsigned arc4random(void) {
  unsigned value = 0;
  while (getrandom(&value, sizeof value, 0) != sizeof value) {
  }
  return value;
}
