// A global that is never destroyed: process exit leaks on purpose, so that no thread still running and no destructor of
// another library can meet a dead registry. Made when the library is loaded (or by an earlier global that needs it), never
// later: a fork() while another thread makes it would leave the child waiting for that thread for ever.
#ifndef KERNPACK_SRC_BASE_LEAKED_H_
#define KERNPACK_SRC_BASE_LEAKED_H_

namespace kernpack::host {

template <class T>
struct LeakedGlobal {
  static T& Get() {
    static T* const instance = new T();
    return *instance;
  }
  inline static T& at_load = Get();
};

template <class T>
T& Leaked() {
  static_cast<void>(&LeakedGlobal<T>::at_load);  // a use, without which the initialiser is not instantiated
  return LeakedGlobal<T>::Get();
}

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_BASE_LEAKED_H_
