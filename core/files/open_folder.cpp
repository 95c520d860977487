#include "core/files/open_folder.h"

#include <fcntl.h>

#include "core/files/disk_place.h"
#include "core/files/open_beneath.h"

namespace sortie::disk {

const Fd& OpenFolder::open(const std::string& folder) {
  if (folder_ && name_ == folder) return folder_;
  folder_ = open_beneath(root_, folder, O_PATH | O_DIRECTORY);
  name_ = folder;
  return folder_;
}

const Fd& OpenFolder::make(const std::string& folder, const std::filesystem::path& shown,
                           std::vector<std::string>& made) {
  if (open(folder)) return folder_;
  folder_ = make_folders(root_, folder, shown, &made);
  return folder_;
}

}  // namespace sortie::disk
