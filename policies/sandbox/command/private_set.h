#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
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
#include "policies/sandbox/view/set_tree.h"
#include "policies/sandbox/view/view.h"

namespace sortie {

/// The keeper's own namespaces, to return to.
struct KeeperNamespaces {
  Fd mounts;
  Fd ipc;
};

/// Separate copies of what ordinary commands share, for commands with other rights or that must not
/// see data of ordinary ones: HOME, /tmp, /var/tmp, /dev/shm, the toolchains' layers, terminals,
/// and System V and POSIX IPC. Without namespaces: a HOME of their own, with the folder for
/// temporary files in it, which the others' Landlock rules don't allow.
class PrivateSet {
 public:
  enum class Network { of_run, own };

  /// The parts that all sets are made from; outlives them.
  struct Source {
    const SandboxProfile& profile;
    const View& view;
    const KeeperNamespaces& keeper;
  };

  /// Makes an empty set.
  /// @param number  distinguishes its folder from those of other sets
  /// @param tree    with namespaces: a tree of its own; null: the run's
  /// @throws Error  the calling process is in its own namespaces then
  PrivateSet(const Source& source, Network network, int number,
             const SetTreeMounts* tree = nullptr);

  /// For a command with these layers. @throws Error
  CommandPlaces places_for(const CommandLayers& layers, bool read_only);
  /// Opens a terminal in the set's own devpts. @throws NoTerminal
  Terminal new_terminal() const;
  /// Replaces the run's HOME in the variables by the set's, if that is another folder.
  void adapt(std::map<std::string, std::string>& environment) const;

  /// Calls a function in the set's own mounts; without namespaces there are none. @throws Error
  void in_view(const std::function<void()>& act) const;

  /// The root of its own tree, without masks.
  Fd take_tree_root() { return std::move(tree_root_); }

  /// Bytes that its folders keep in memory.
  std::uint64_t kept_bytes() const;
  /// Bytes in its System V segments.
  std::uint64_t segment_bytes() const;

 private:
  void make_namespaces(Network network, const SetTreeMounts* tree);
  void make_home(int number);

  Source source_;
  std::filesystem::path home_;  ///< "" if the view's path is the set's own
  Fd mounts_;
  Fd ipc_;
  Fd network_;
  Fd tree_root_;
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

  /// The command's set, made if there is none; nothing for an ordinary command. Shared by the
  /// commands in it and, under its name, by this object.
  /// @throws Error
  std::shared_ptr<PrivateSet> of(const Command& command);
  /// Makes a set with a tree of its own, under the name that it has.
  /// @return  the tree's root, without masks
  /// @throws Error
  Fd make_with_tree(const SetTree& tree);
  /// Forgets a name: the set is removed after the last command in it.
  void drop(const std::string& name);

  /// Calls a function in the mounts of each set. @throws Error
  void in_each_view(const std::function<void()>& act) const;

  /// Bytes that all sets keep in memory.
  std::uint64_t kept_bytes() const;
  std::uint64_t segment_bytes() const;

 private:
  std::string name_for(const Command& command) const;
  std::shared_ptr<PrivateSet> make(const Command& command);
  std::shared_ptr<PrivateSet> keep(std::shared_ptr<PrivateSet> set);

  KeeperNamespaces keeper_;
  PrivateSet::Source source_;
  std::map<std::string, std::shared_ptr<PrivateSet>> named_;
  std::vector<std::weak_ptr<PrivateSet>> all_;
  int count_ = 0;
};

}  // namespace sortie
