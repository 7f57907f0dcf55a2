// A global that is made on first use and never destroyed: process exit leaks on purpose, so that no thread still running
// and no destructor of another library can meet a dead registry.
#ifndef KERNPACK_SRC_BASE_LEAKED_H_
#define KERNPACK_SRC_BASE_LEAKED_H_

namespace kernpack::host {

template <class T>
T& Leaked() {
  static T* const instance = new T();
  return *instance;
}

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_BASE_LEAKED_H_
