#include "policies/sandbox/view/private_folders.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/files/files.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

/// One of the private folders; it hides the private file system, which is mounted there.
constexpr const char* kShared = "/dev/shm";

/// A line of /proc/self/mountinfo (proc(5)).
struct Mounted {
  int id = 0;
  int parent = 0;
  dev_t device = 0;
  fs::path root;   ///< of its file system
  fs::path place;  ///< where it is mounted
  std::string type;
};

/// Decodes blanks, newlines and backslashes, which are escaped as three octal digits.
std::string unescaped(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 3 >= text.size()) {
      plain += text[i];
      continue;
    }
    plain += static_cast<char>(std::strtol(text.substr(i + 1, 3).c_str(), nullptr, 8));
    i += 3;
  }
  return plain;
}

std::vector<Mounted> read_mounts() {
  std::vector<Mounted> mounts;
  std::istringstream lines(read_file("/proc/self/mountinfo"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    Mounted mount;
    unsigned major = 0;
    unsigned minor = 0;
    char colon = 0;
    std::string root;
    std::string place;
    words >> mount.id >> mount.parent >> major >> colon >> minor >> root >> place;
    if (!words) throw Error("read /proc/self/mountinfo: '" + line + "'", ExitCode::environment);
    for (std::string word; words >> word && word != "-";) {
    }
    words >> mount.type;
    mount.device = makedev(major, minor);
    mount.root = unescaped(root);
    mount.place = unescaped(place);
    mounts.push_back(std::move(mount));
  }
  return mounts;
}

/// The mount of a set at one path of the view.
struct Piece {
  enum class Kind { folder, toolchain, kept };
  Kind kind = Kind::kept;
  const Mounted* mount = nullptr;
  Fd tree{};  ///< kept: it and what is mounted below; toolchain: the machine's folder
};

class SetView {
 public:
  SetView(const SandboxProfile& profile, const View& view)
      : profile_(profile), view_(view), mounts_(read_mounts()) {
    struct stat status {};
    if (::fstat(view.private_root.get(), &status) != 0)
      throw system_error("look at the private folders", ExitCode::environment);
    device_ = status.st_dev;
  }

  PrivateFolders build() {
    choose();
    // Open all before the first mount hides others; copy whole trees before a layer is unmounted
    // from the machine's folder, which removes the mounts on it.
    for (Piece& piece : pieces_)
      if (piece.kind == Piece::Kind::kept)
        piece.tree = copy_tree(piece.mount->place, Access::read_write);
    for (Piece& piece : pieces_)
      if (piece.kind == Piece::Kind::toolchain) piece.tree = lift_layer(piece.mount->place);
    PrivateFolders own(profile_, kShared);
    ToolchainLayers layers(profile_, own, view_.user);
    for (const Piece& piece : pieces_) put(piece, own, layers);
    mount_terminals("/dev/pts");
    check(own);
    return own;
  }

 private:
  /// Whether a mount shows "home", "tmp" …, or a folder of HOME that is a mount only so that it
  /// can't be renamed. The masks' sources are in other folders.
  bool is_private(const Mounted& mount) const {
    if (mount.device != device_) return false;
    const fs::path folder = mount.root.relative_path();
    return !folder.empty() && (*folder.begin() == "home" || *folder.begin() == "tmp" ||
                               *folder.begin() == "var-tmp" || *folder.begin() == "shm");
  }

  bool is_toolchain(const Mounted& mount) const {
    return mount.type == "overlay" && std::find(view_.toolchains.begin(), view_.toolchains.end(),
                                                mount.place) != view_.toolchains.end();
  }

  void choose() {
    std::set<int> replaced;
    std::set<int> below_layers;  // the machine's own folder, which the layer lies on
    std::set<fs::path> covered;  // toolchains that are hidden as a whole
    for (const Mounted& mount : mounts_) {
      if (!is_private(mount) && !is_toolchain(mount)) continue;
      replaced.insert(mount.id);
      if (is_toolchain(mount)) below_layers.insert(mount.parent);
    }
    for (const Mounted& mount : mounts_) {
      if (replaced.count(mount.id) != 0 || replaced.count(mount.parent) == 0 ||
          below_layers.count(mount.id) != 0)
        continue;
      pieces_.push_back({Piece::Kind::kept, &mount});
      covered.insert(mount.place);
    }
    for (const Mounted& mount : mounts_) {
      if (is_private(mount)) pieces_.push_back({Piece::Kind::folder, &mount});
      if (is_toolchain(mount) && covered.count(mount.place) == 0)
        pieces_.push_back({Piece::Kind::toolchain, &mount});
    }
    const auto depth = [](const Piece& piece) {
      return std::distance(piece.mount->place.begin(), piece.mount->place.end());
    };
    // Folders before what is mounted in them, and on them.
    std::stable_sort(pieces_.begin(), pieces_.end(), [&](const Piece& a, const Piece& b) {
      if (depth(a) != depth(b)) return depth(a) < depth(b);
      return a.kind != Piece::Kind::kept && b.kind == Piece::Kind::kept;
    });
  }

  static Fd lift_layer(const fs::path& place) {
    if (::umount2(place.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) != 0)
      throw system_error("umount " + place.string(), ExitCode::environment);
    return open_folder(place);
  }

  static void make_target(const Piece& piece) {
    const fs::path& target = piece.mount->place;
    struct stat status {};
    const bool is_file = piece.kind == Piece::Kind::kept &&
                         ::fstat(piece.tree.get(), &status) == 0 && !S_ISDIR(status.st_mode);
    if (!is_file) return make_folders(target);
    make_folders(target.parent_path());
    const Fd file(
        ::open(target.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644));
    if (!file && ::access(target.c_str(), F_OK) != 0)
      throw system_error("make " + target.string(), ExitCode::environment);
  }

  void put(const Piece& piece, const PrivateFolders& own, ToolchainLayers& layers) const {
    const fs::path& target = piece.mount->place;
    make_target(piece);
    switch (piece.kind) {
      case Piece::Kind::kept:
        return attach_tree(piece.tree, target);
      case Piece::Kind::folder:
        make_folders(own.path() / piece.mount->root.relative_path());
        return own.attach(piece.mount->root.relative_path(), target);
      case Piece::Kind::toolchain:
        if (const std::string cause = layers.mount(piece.tree, target, target); !cause.empty())
          throw Error("mount a layer over " + target.string() + ": " + cause,
                      ExitCode::environment);
    }
  }

  /// Checks the mounts: a command could have moved a folder meanwhile.
  void check(const PrivateFolders& own) const {
    struct stat root {};
    struct stat status {};
    if (::fstat(own.root().get(), &root) != 0)
      throw system_error("look at the private folders", ExitCode::environment);
    for (const Piece& piece : pieces_) {
      if (piece.kind != Piece::Kind::folder) continue;
      const bool is_own =
          ::stat(piece.mount->place.c_str(), &status) == 0 && status.st_dev == root.st_dev;
      if (!is_own && !is_covered(piece.mount->place))
        throw Error(piece.mount->place.string() + " is not the set's own", ExitCode::environment);
    }
  }

  bool is_covered(const fs::path& place) const {
    return std::any_of(pieces_.begin(), pieces_.end(), [&](const Piece& piece) {
      return piece.kind == Piece::Kind::kept && piece.mount->place == place;
    });
  }

  const SandboxProfile& profile_;
  const View& view_;
  std::vector<Mounted> mounts_;
  dev_t device_ = 0;
  std::vector<Piece> pieces_;
};

}  // namespace

PrivateFolders renew_private_folders(const SandboxProfile& profile, const View& view) {
  return SetView(profile, view).build();
}

}  // namespace sortie
