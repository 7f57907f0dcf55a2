// Loading of shared objects, as far as it differs between operating systems. Each system has a folder beside this file.
#ifndef KERNPACK_SRC_BASE_LOADER_PLATFORM_H_
#define KERNPACK_SRC_BASE_LOADER_PLATFORM_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace kernpack::platform {

// Names the file of that path in its state (device, number, size, times), unopened; empty where there is none, or where another
// content could have the same name: the file was changed a moment ago, or its file system counts whole seconds.
std::string StateOfFile(const char* path);

// A regular file, opened, and what it was at that moment.
class SourceFile {
 public:
  SourceFile() = default;
  SourceFile(const SourceFile&) = delete;
  SourceFile& operator=(const SourceFile&) = delete;
  ~SourceFile();

  // Returns 0, or -1 with FileNotFoundError or OSError raised.
  int Open(const char* path);
  // Reads all of it. Returns 0, or -1 with OSError raised: also when the file was written meanwhile.
  int Read();
  std::span<const char> bytes() const { return {data_.get(), size_}; }

  // As StateOfFile.
  const std::string& state() const { return state_; }

 private:
  const char* path_ = nullptr;
  int fd_ = -1;
  std::string state_;
  std::unique_ptr<char[]> data_;
  size_t size_ = 0;
};

// A file that was loaded before, maybe by another process.
struct Known {
  std::string digest;
  std::string verified;  // see base/loader/verify.h
  bool alone = false;  // this version of the host made a module of it alone, so that all of its table is sound
};

// Finds what Remember wrote down of a file in that state, and the path of its copy, which the dynamic linker opens; false where there
// is nothing, or it cannot be trusted.
bool Recall(const char* path, const std::string& state, Known* out, std::string* copy);
// Writes down what is known of a file in that state, of which OpenLibrary has kept a copy. Does nothing where it cannot.
void Remember(const char* path, const std::string& state, const Known& known);
// Loads a copy that Recall found. NULL where that fails; the file itself then has to be loaded.
void* OpenKept(const std::string& copy);

enum class OpenFrom {
  kSnapshot,  // a copy of the bytes: what was checked is what is loaded, whatever happens to the file
  kPath  // the file itself, because it finds its neighbours through $ORIGIN
};

// Loads the image whose bytes are `content`, with that digest, read from `path`: all symbols bound now, none offered to
// others, never unloaded, under a path string that no other content has had in this process. Calls must not overlap.
// Returns 0, or -1 with ImportError raised.
int OpenLibrary(const char* path, std::span<const char> content, const std::string& digest, OpenFrom from,
                void** handle);

// NULL when there is none.
void* LibrarySymbol(void* handle, const char* name);

// Runs `attempt` (0: good; else `*error` says why not) in a child process. Returns 0 when it succeeded there, else -1 with
// ImportError raised: what the attempt said, or how the child died and what it had written to stderr.
int TryInChild(const char* path, int (*attempt)(void* context, std::string* error), void* context);

}  // namespace kernpack::platform

#endif  // KERNPACK_SRC_BASE_LOADER_PLATFORM_H_
