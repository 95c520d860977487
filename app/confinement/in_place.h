#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/confinement/confinement.h"
#include "app/confinement/protected_links.h"
#include "app/confinement/protected_paths.h"
#include "policies/environment/environment.h"

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
  /// Sees to the protected paths that changed while a command ran, where no mount guards them: all
  /// of them without namespaces; with them, names that were not there at the start. They become as
  /// they were, as far as that is safe. The user may have changed them as well: nothing is erased,
  /// it is moved into a folder of the tree. What links lead elsewhere than at the start is left.
  /// @return  what changed and where it is now, in words; "" where nothing did
  /// @throws Error  ExitCode::integrity
  std::string settle_changed();

 private:
  std::vector<std::filesystem::path> look_for_links(const Policy& policy);
  void keep_protected();
  void keep_made();
  void tell_reach();
  LinkLeads leads_of_links();

  std::filesystem::path workspace_;
  std::filesystem::path private_folder_;
  std::string no_namespaces_;
  std::vector<std::string> notes_;
  KeptAside aside_;
  std::unique_ptr<Confinement> confinement_;
  std::unique_ptr<ProtectedPaths> protected_paths_;  ///< without namespaces
  LinkLeads leads_at_start_;
};

}  // namespace sortie
