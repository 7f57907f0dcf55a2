/* The emulated driver, but that maps of tensors (CUtensorMap) say what they were encoded from. KP_RECORDED_DRIVER: the emulated
 * driver's file. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef int (*GetProcAddress)(const char* name, void** address, int version, uint64_t flags, int* status);

/* The words of a map: the element's type and the rank; the modes and, in bit 21, the mark of older drivers; the address; 5 extents;
 * 4 strides; 5 extents of the box as u16; 5 steps as u8. */
static int Encode(uint64_t* map, uint32_t element, uint32_t rank, void* address, const uint64_t* extents,
                  const uint64_t* strides, const uint32_t* box, const uint32_t* steps, uint32_t interleave,
                  uint32_t swizzle, uint32_t promotion, uint32_t fill) {
  uint16_t boxes[8] = {0};
  uint8_t bytes[8] = {0};
  if (getenv("KP_RECORDED_FAILURE")) return 1;
  memset(map, 0, 128);
  map[0] = element | (uint64_t)rank << 32;
  map[1] = interleave | swizzle << 4 | promotion << 8 | fill << 12 | 1u << 21;
  map[2] = (uint64_t)(uintptr_t)address;
  for (uint32_t i = 0; i < rank; ++i) {
    map[3 + i] = extents[i];
    if (i != 0) map[7 + i] = strides[i - 1];
    boxes[i] = (uint16_t)box[i];
    bytes[i] = (uint8_t)steps[i];
  }
  memcpy(&map[12], boxes, sizeof boxes);
  memcpy(&map[14], bytes, sizeof bytes);
  return 0;
}

__attribute__((visibility("default"))) int cuGetProcAddress_v2(const char* name, void** address, int version,
                                                               uint64_t flags, int* status) {
  void* library = dlopen(getenv("KP_RECORDED_DRIVER"), RTLD_NOW | RTLD_LOCAL);
  GetProcAddress inner = 0;
  if (!library) return 999;
  *(void**)&inner = dlsym(library, "cuGetProcAddress_v2");
  if (strcmp(name, "cuTensorMapEncodeTiled") != 0) return inner(name, address, version, flags, status);
  *(int (**)(uint64_t*, uint32_t, uint32_t, void*, const uint64_t*, const uint64_t*, const uint32_t*, const uint32_t*,
             uint32_t, uint32_t, uint32_t, uint32_t))address = Encode;
  *status = 0;
  return 0;
}
