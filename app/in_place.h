#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/confinement.h"
#include "app/protected_paths.h"
#include "policies/environment.h"

namespace sortie {

/// A confinement over a folder as it is, without a task: `sortie sandbox`.
/// Forks: make it while the process has a single thread.
class InPlace {
 public:
  /// @throws Error  ExitCode::environment
  InPlace(const Policy& policy, const std::filesystem::path& workspace, const Environment& own);
  InPlace(const InPlace&) = delete;
  InPlace& operator=(const InPlace&) = delete;
  ~InPlace();

  Confinement& confinement() { return *confinement_; }
  /// What of the folder is not as safe from the command as the policy says, or read-only for it.
  const std::vector<std::string>& notes() const { return notes_; }
  /// Puts back the protected paths that a command changed where no mount guards them: all of them
  /// without namespaces; with them, names that were not there at the start. @return these paths
  std::vector<std::string> restore_changed();

 private:
  std::vector<std::filesystem::path> look_for_links(const Policy& policy);
  void keep_protected();

  std::filesystem::path workspace_;
  std::filesystem::path private_folder_;
  std::string no_namespaces_;
  std::vector<std::string> notes_;
  std::unique_ptr<Confinement> confinement_;
  std::unique_ptr<ProtectedPaths> protected_paths_;  ///< without namespaces
};

}  // namespace sortie
