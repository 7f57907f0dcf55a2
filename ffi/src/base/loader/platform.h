// Loading of shared objects, as far as it differs between operating systems. Each system has a folder beside this file.
#ifndef KERNPACK_SRC_BASE_LOADER_PLATFORM_H_
#define KERNPACK_SRC_BASE_LOADER_PLATFORM_H_

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace kernpack::platform {

struct FileState {
  // Names the file in its state: device, number, size, times. Empty where there is no such file.
  std::string text;
  // Every later change of the content must change the state. False where the file was changed a moment ago, or its file system counts
  // whole seconds.
  bool settled = false;
  // Nobody but this user and root can write the file, or put another one in its place.
  bool guarded = false;
};

// FileState::text of the numbers that tell a state.
template <size_t kCount>
std::string JoinState(const uint64_t (&parts)[kCount]) {
  char text[kCount * 17];
  char* end = text;
  for (const uint64_t part : parts) {
    if (end != text) *end++ = '-';
    end = std::to_chars(end, std::end(text), part, 16).ptr;
  }
  return {text, end};
}

// Of an unopened file.
FileState StateOfFile(const char* path);
// True if the file at the path is that of the state, with the content that it had. Renaming a file, or linking to it, changes its
// state, but not its content.
bool HasContentOf(const char* path, const FileState& state);

// A regular file, opened, and its state at that moment.
class SourceFile {
 public:
  SourceFile() = default;
  SourceFile(const SourceFile&) = delete;
  SourceFile& operator=(const SourceFile&) = delete;
  ~SourceFile();

  // `seen`: what StateOfFile said of the path a moment ago, if it was asked. Returns 0, or -1 with FileNotFoundError or OSError raised.
  int Open(const char* path, const FileState& seen = {});
  // Reads all of it. Returns 0, or -1 with OSError raised: also when the file was written since it was opened.
  int Read();
  // Maps all of it. For guarded files: who reads `bytes` of a file that was truncated meanwhile dies of SIGBUS. Errors as of Read.
  int Map();
  // Computes its digest (base/loader/digest.h) without keeping the content. Errors as of Read.
  int Hash(std::string* digest);
  std::span<const char> bytes() const { return {data_.get(), size_}; }

  const FileState& state() const { return state_; }
  // When it was opened.
  size_t size() const { return size_; }

 private:
  // Calls `use` with each piece of the content, read into `room`.
  template <class Use>
  int ReadThrough(std::span<char> room, const Use& use);

  struct Free {
    size_t mapped;  // 0: it was allocated
    void operator()(char* data) const;
  };

  const char* path_ = nullptr;
  int fd_ = -1;
  FileState state_;
  int64_t written_ = 0;  // when it was opened: its mtime in nanoseconds
  std::unique_ptr<char[], Free> data_{nullptr, Free{0}};
  size_t size_ = 0;
};

// A file that was loaded before, maybe by another process.
struct Known {
  std::string digest;
  std::string verified;  // see base/loader/verify.h
  bool alone = false;  // this version of the host made a module of it alone, so that all of its table is sound
  bool in_place = false;  // it was mapped where it lies; else there is a copy
  bool needs = false;  // libraries of other wheels have to be opened first (base/loader/needs.h)
};

// Finds what Remember wrote down of a file in that state, and the path that the dynamic linker opens: of the file or of its copy. False
// where there is nothing, or it cannot be trusted.
bool Recall(const char* path, const FileState& state, Known* out, std::string* opened);
// Writes down what is known of a file in that state: one that was mapped in place, or of which OpenLibrary has kept a copy. Does nothing
// where it cannot.
void Remember(const char* path, const FileState& state, const Known& known);
// Loads what Recall found. NULL where that fails; the file itself then has to be loaded.
void* OpenKnown(const std::string& opened, const FileState& state, const Known& known);

// Of `kernpack verify --warm`: writes down the digest of a guarded file and of what it is verified as, in a way that outlives the
// copying of file systems, as into an image of a container: under its path, size, and the second of its mtime. Returns 0, or -1 with
// OSError raised.
int Warm(const char* path, const Known& known);
// The digest that was written down so; false where there is none.
bool Warmed(const char* path, std::string* digest);

enum class OpenFrom {
  kSnapshot,  // a copy of the bytes: what was checked is what is loaded, whatever happens to the file
  kPath,  // the file itself, because it finds its neighbours through $ORIGIN
  kInPlace  // the file itself, because it is guarded
};

// Loads the image whose bytes are `content`, with that digest, read from `path` in that state: all symbols bound now, none offered to
// others, never unloaded, under a path string that no other content has had in this process. Calls must not overlap. A file that can't
// be mapped in place is copied; *from then says so. Returns 0, or -1 with ImportError raised.
int OpenLibrary(const char* path, std::span<const char> content, const FileState& state, const std::string& digest,
                OpenFrom* from, void** handle);

// Where the segments of a library are.
struct Mapping {
  struct Range {
    uintptr_t begin, end;  // link-time addresses
    bool executable;
  };
  uintptr_t base = 0;  // added to a link-time address
  std::vector<Range> ranges;  // readable
};
// False where the system doesn't tell.
bool FindMapping(void* handle, Mapping* out);

// NULL when there is none.
void* LibrarySymbol(void* handle, const char* name);

// Runs `attempt` (0: good; else `*error` says why not) in a child process. Returns 0 when it succeeded there, else -1 with
// ImportError raised: what the attempt said, or how the child died and what it had written to stderr.
int TryInChild(const char* path, int (*attempt)(void* context, std::string* error), void* context);

}  // namespace kernpack::platform

#endif  // KERNPACK_SRC_BASE_LOADER_PLATFORM_H_
