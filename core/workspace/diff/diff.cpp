#include "core/workspace/diff/diff.h"

namespace sortie {

const char* name_of(LeftOut::Why why) noexcept {
  switch (why) {
    case LeftOut::Why::lfs:
      return "lfs";
    case LeftOut::Why::submodule:
      return "submodule";
    case LeftOut::Why::unreadable:
      return "unreadable";
    case LeftOut::Why::bad_name:
      return "bad-name";
    case LeftOut::Why::too_much:
      return "too-much";
    case LeftOut::Why::git_folder:
      return "git-folder";
  }
  return "";
}

}  // namespace sortie
