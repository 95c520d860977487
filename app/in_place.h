#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "app/confinement.h"
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
  /// Protected names that stand there now and did not before: in the user's own tree no mount
  /// point can be made to keep them away.
  std::vector<std::string> new_protected_names() const;

 private:
  std::vector<std::string> protected_names() const;

  const Policy& policy_;
  std::filesystem::path workspace_;
  std::filesystem::path private_folder_;
  std::vector<std::string> names_before_;
  std::unique_ptr<Confinement> confinement_;
};

}  // namespace sortie
