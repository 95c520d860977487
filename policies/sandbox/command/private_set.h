#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/fd.h"
#include "core/process/launcher.h"
#include "policies/sandbox/command/command_start.h"
#include "policies/sandbox/layers/terminal.h"
#include "policies/sandbox/profile.h"
#include "policies/sandbox/view/private_folders.h"
#include "policies/sandbox/view/view.h"

namespace sortie {

/// The namespaces that the keeper is in, to come back to.
struct KeeperNamespaces {
  Fd mounts;
  Fd ipc;
};

/// What commands that have other rights than the run's ordinary ones, or are to find nothing of
/// theirs, have in place of what those share: HOME, /tmp, /var/tmp, /dev/shm, the toolchains'
/// layers, terminals, and System V and POSIX IPC. Without namespaces: a HOME of their own, with the
/// folder for temporary files in it, which the others' Landlock rules do not name.
class PrivateSet {
 public:
  enum class Network { of_run, own };

  /// What all sets are made from; outlives them.
  struct Source {
    const SandboxProfile& profile;
    const View& view;
    const KeeperNamespaces& keeper;
  };

  /// Empty. @param number  tells its folder from those of other sets
  /// @throws Error  and the calling process is where it was
  PrivateSet(const Source& source, Network network, int number);

  /// For a command with these layers. @throws Error
  CommandPlaces places_for(const CommandLayers& layers, bool read_only);
  /// Its terminals are no other set's. @throws NoTerminal
  Terminal new_terminal() const;
  /// Where HOME is a folder of the set's: what names the run's names that.
  void adapt(std::map<std::string, std::string>& environment) const;

  /// What its folders keep in memory, in bytes.
  std::uint64_t kept_bytes() const;
  /// What its System V segments hold, in bytes.
  std::uint64_t segment_bytes() const;

 private:
  void make_namespaces(Network network);
  void make_home(int number);

  Source source_;
  std::filesystem::path home_;  ///< "" where the view's path leads to the set's own
  Fd mounts_;
  Fd ipc_;
  Fd network_;
  std::optional<PrivateFolders> folders_;
  std::map<std::pair<const CommandLayers*, bool>, std::unique_ptr<LandlockRules>> rules_;
};

/// The private sets of a run, by the names that commands give.
class PrivateSets {
 public:
  /// @throws Error
  PrivateSets(const SandboxProfile& profile, const View& view);
  PrivateSets(const PrivateSets&) = delete;
  PrivateSets& operator=(const PrivateSets&) = delete;

  /// The command's own, made for it where there is none; nothing for an ordinary command.
  /// Shared by those that run in it and, under its name, by this.
  /// @throws Error
  std::shared_ptr<PrivateSet> of(const Command& command);
  /// No command will give the name again: the set goes with the last one that runs in it.
  void drop(const std::string& name);

  /// What all of them together keep in memory, in bytes.
  std::uint64_t kept_bytes() const;
  std::uint64_t segment_bytes() const;

 private:
  std::string name_for(const Command& command) const;
  std::shared_ptr<PrivateSet> make(const Command& command);

  KeeperNamespaces keeper_;
  PrivateSet::Source source_;
  std::map<std::string, std::shared_ptr<PrivateSet>> named_;
  std::vector<std::weak_ptr<PrivateSet>> all_;
  int count_ = 0;
};

}  // namespace sortie
