// A folder for files that another program reads.
#ifndef KERNPACK_SDK_COMPILER_SYSTEM_SCRATCH_FOLDER_H_
#define KERNPACK_SDK_COMPILER_SYSTEM_SCRATCH_FOLDER_H_

#include <string>
#include <string_view>

namespace kernpack::sdk {

// Lives as long as the object. Errors: OSError.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }
  // `name` may begin with folders, which are made. Gives the file's path.
  std::string Write(const std::string& name, std::string_view bytes) const;

 private:
  std::string path_;
};

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_COMPILER_SYSTEM_SCRATCH_FOLDER_H_
