#include <kernpack/host/host.h>

#include "shared/bytes.h"
#include "values/object/object.h"

namespace kernpack::host {

int NewStringArray(const std::vector<std::string>& texts, KpAny* out) {
  std::vector<KpAny> items(texts.size(), kp_none());
  int rc = 0;
  for (size_t i = 0; i < texts.size() && rc == 0; ++i) rc = kp_string_new(Bytes(texts[i]), &items[i]);
  if (rc == 0) rc = kp_array_new(items.data(), items.size(), out);
  for (KpAny& item : items) kp_any_release(&item);
  return rc;
}

}  // namespace kernpack::host
