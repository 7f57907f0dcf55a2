// What differs between operating systems when a shared object is loaded; a folder beside this file for each system.
#ifndef KERNPACK_SRC_LOADER_PLATFORM_H_
#define KERNPACK_SRC_LOADER_PLATFORM_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace kernpack::platform {

struct FileContent {
  std::unique_ptr<char[]> data;
  size_t size = 0;
  std::span<const char> bytes() const { return {data.get(), size}; }
};

// Reads a whole regular file through one descriptor. Returns 0, or -1 with FileNotFoundError or OSError raised.
int ReadRegularFile(const char* path, FileContent* out);

enum class OpenFrom {
  kSnapshot,  // a sealed copy of the bytes: what was checked is what is loaded, whatever happens to the file
  kPath       // the file itself, because it finds its neighbours through $ORIGIN
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

#endif  // KERNPACK_SRC_LOADER_PLATFORM_H_
