#include "core/workspace/apply/tree_conversion.h"

#include <memory>
#include <string>

#include "core/git/stored_bytes.h"

namespace sortie {

TreeConversion conversion_of(const FoundRepository& repository) {
  if (!repository.handle) return {};
  const auto bytes = std::make_shared<WorkTreeBytes>(*repository.handle, repository.toplevel);
  return {
      .to_git = [bytes](const std::string& path,
                        const std::string& content) { return bytes->to_git(path, content); },
      .to_tree = [bytes](const std::string& path,
                         const std::string& content) { return bytes->to_tree(path, content); },
      .is_stored = [bytes](const std::string& path,
                           const std::string& content) { return bytes->is_stored(path, content); }};
}

}  // namespace sortie
