// The list of files that were loaded before, by their state: a line for each, in one file, which a process reads once.
#ifndef KERNPACK_SRC_BASE_LOADER_LINUX_KNOWN_STATES_H_
#define KERNPACK_SRC_BASE_LOADER_LINUX_KNOWN_STATES_H_

#include <string>

namespace kernpack::platform {

// Finds what was written down last for the state, in the file at that path below the folder `root`. What this process hasn't read yet is
// read where nobody else can write below that folder. False where there is nothing.
bool FindState(const std::string& root, const std::string& path, const std::string& state, std::string* text);

// Writes it down; the file's folder exists. False where it can't be written; errno says why.
bool AddState(const std::string& path, const std::string& state, const std::string& text);

}  // namespace kernpack::platform

#endif  // KERNPACK_SRC_BASE_LOADER_LINUX_KNOWN_STATES_H_
