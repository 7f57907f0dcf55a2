// Error objects of this module's making, for hosts that take an error as an object.
#ifndef KERNPACK_FOREIGN_ERROR_OBJECT_H_
#define KERNPACK_FOREIGN_ERROR_OBJECT_H_

#include <kernpack/object.h>

KP_NAMESPACE_BEGIN
namespace detail {

KP_COLD inline void delete_error(void* object, int flags) {
  KpErrorObject* e = static_cast<KpErrorObject*>(object);
  if (flags & KP_DELETE_STRONG) {
    kp_release(e->cause);
    kp_release(e->extra_context);
    ::operator delete(const_cast<char*>(e->backtrace.data));
    e->cause = e->extra_context = nullptr;
    e->backtrace = {nullptr, 0};
  }
  if (flags & KP_DELETE_WEAK) ::operator delete(object);
}

// KpErrorObject::update_backtrace. Keeps the old text when memory runs out.
KP_COLD inline void update_backtrace(void* object, const KpBytes* text, int32_t mode) {
  KpErrorObject* e = static_cast<KpErrorObject*>(object);
  const size_t kept = mode == 1 ? e->backtrace.size : 0;
  char* data = static_cast<char*>(::operator new(kept + text->size + 1, std::nothrow));
  if (!data) return;
  if (kept) __builtin_memcpy(data, e->backtrace.data, kept);
  if (text->size) __builtin_memcpy(data + kept, text->data, text->size);
  data[kept + text->size] = 0;
  ::operator delete(const_cast<char*>(e->backtrace.data));
  e->backtrace = {data, kept + text->size};
}

KP_COLD inline KpBytes copy_terminated(char* to, KpBytes text) {
  if (text.size) __builtin_memcpy(to, text.data, text.size);
  to[text.size] = 0;
  return {to, text.size};
}

// NULL when memory runs out.
KP_COLD inline KpErrorObject* new_error(KpBytes kind, KpBytes message, KpBytes backtrace) {
  const size_t texts = kind.size + message.size + 2;
  KpErrorObject* e = new_object<KpErrorObject>(std::nothrow, KP_TYPE_ERROR, texts, &delete_error);
  if (!e) return nullptr;
  char* text = reinterpret_cast<char*>(e + 1);
  e->kind = copy_terminated(text, kind);
  e->message = copy_terminated(text + kind.size + 1, message);
  e->update_backtrace = &update_backtrace;
  update_backtrace(e, &backtrace, 0);
  return e;
}

}  // namespace detail
KP_NAMESPACE_END

#endif  // KERNPACK_FOREIGN_ERROR_OBJECT_H_
