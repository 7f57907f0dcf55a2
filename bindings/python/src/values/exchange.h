/* DLPack 1.3's C exchange table, as torch >= 2.10 and others publish it: a capsule named "dlpack_exchange_api" in the
 * type's attribute `__dlpack_c_exchange_api__`. Process-lifetime; "no sync": the consumer works on current_work_stream. */
#ifndef KERNPACK_PYTHON_VALUES_EXCHANGE_H_
#define KERNPACK_PYTHON_VALUES_EXCHANGE_H_

#include <kernpack/host/host.h>

#define KPY_EXCHANGE_CAPSULE "dlpack_exchange_api"
#define KPY_EXCHANGE_ATTRIBUTE "__dlpack_c_exchange_api__"

typedef struct KpyExchangeHeader {
  KpDLPackVersion version;
  struct KpyExchangeHeader* previous; /* an older table of the same producer; nullable */
} KpyExchangeHeader;

/* All but the stream entry: 0, or -1 with a Python exception set (allocate: reported through set_error). */
typedef struct KpyExchangeApi {
  KpyExchangeHeader header;
  int (*allocate)(KpDLTensor* prototype, KpDLManagedTensorVersioned** out, void* error_context,
                  void (*set_error)(void* error_context, const char* kind, const char* message));
  int (*managed_from_object)(void* object, KpDLManagedTensorVersioned** out);
  int (*managed_to_object)(KpDLManagedTensorVersioned* stolen, void** out_object);
  int (*view_from_object)(void* object, KpDLTensor* out); /* nullable; borrowed from the object */
  int (*current_work_stream)(int32_t device_type, int32_t device_id, void** out);
} KpyExchangeApi;

#endif /* KERNPACK_PYTHON_VALUES_EXCHANGE_H_ */
