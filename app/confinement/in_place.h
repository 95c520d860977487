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
  /// Where the folder is less protected than the policy says, and files that are read-only.
  const std::vector<std::string>& notes() const { return notes_; }
  /// Restores protected paths that changed while a command ran and that no mount guards: all of them
  /// without namespaces; with namespaces, names that did not exist at the start. The user may have
  /// changed them as well, so nothing is erased: it is moved into a folder of the tree. Links that
  /// lead elsewhere than at the start are left.
  /// @return  what changed and where it is now, in words; or ""
  /// @throws Error  ExitCode::integrity
  std::string restore_changed();

 private:
  std::vector<std::filesystem::path> linked_files_to_protect(const Policy& policy);
  void keep_protected();
  void keep_made();
  void note_reach();
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
