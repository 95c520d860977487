#include "core/git/object_folders.h"

#include <git2/odb_backend.h>
#include <git2/sys/odb_backend.h>
#include <sys/stat.h>

#include <cerrno>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/git/config/rule_files.h"

namespace fs = std::filesystem;

namespace sortie {
namespace {

fs::path loose_file(const fs::path& folder, const git_oid& id) {
  const std::string hex = id_text(id);
  return folder.native() + '/' + hex.substr(0, 2) + '/' + hex.substr(2);
}

/// Whether it is a file that can be read to its end, or is not there at all.
bool may_read(const fs::path& file) {
  struct stat status {};
  if (::lstat(file.c_str(), &status) != 0) return errno == ENOENT || errno == ENOTDIR;
  if (S_ISREG(status.st_mode)) return true;
  // An object may be a link: its id already tells its content.
  return S_ISLNK(status.st_mode) && fs::is_regular_file(file) && !reading_may_block(file);
}

/// libgit2's own backend of loose objects, which gets only those that are regular files. So a
/// repository with many of them needs no look at each before it is opened.
class LooseObjects : public git_odb_backend {
 public:
  /// @param loose  taken
  LooseObjects(git_odb_backend* loose, fs::path folder)
      : git_odb_backend{}, loose_(loose), folder_(std::move(folder)) {
    version = GIT_ODB_BACKEND_VERSION;
    git_odb_backend::read = [](void** data, std::size_t* size, git_object_t* type,
                               git_odb_backend* self, const git_oid* id) {
      const auto& own = of(self);
      return own.may_read(*id) ? own.loose_->read(data, size, type, own.loose_, id) : kMissing;
    };
    git_odb_backend::read_header = [](std::size_t* size, git_object_t* type, git_odb_backend* self,
                                      const git_oid* id) {
      const auto& own = of(self);
      return own.may_read(*id) ? own.loose_->read_header(size, type, own.loose_, id) : kMissing;
    };
    git_odb_backend::read_prefix = [](git_oid* id, void** data, std::size_t* size,
                                      git_object_t* type, git_odb_backend* self,
                                      const git_oid* begin, std::size_t length) {
      const auto& own = of(self);
      const int found = own.loose_->exists_prefix(id, own.loose_, begin, length);
      if (found != 0) return found;
      const git_oid whole = *id;
      return own.may_read(whole) ? own.loose_->read(data, size, type, own.loose_, &whole)
                                 : kMissing;
    };
    git_odb_backend::exists = [](git_odb_backend* self, const git_oid* id) {
      const auto& own = of(self);
      return own.may_read(*id) ? own.loose_->exists(own.loose_, id) : 0;
    };
    git_odb_backend::exists_prefix = [](git_oid* id, git_odb_backend* self, const git_oid* begin,
                                        std::size_t length) {
      return of(self).loose_->exists_prefix(id, of(self).loose_, begin, length);
    };
    git_odb_backend::write = [](git_odb_backend* self, const git_oid* id, const void* data,
                                std::size_t size, git_object_t type) {
      return of(self).loose_->write(of(self).loose_, id, data, size, type);
    };
    git_odb_backend::freshen = [](git_odb_backend* self, const git_oid* id) {
      const auto& own = of(self);
      return own.may_read(*id) ? own.loose_->freshen(own.loose_, id) : kMissing;
    };
    git_odb_backend::free = [](git_odb_backend* self) { delete &of(self); };
  }

 private:
  static constexpr int kMissing = GIT_ENOTFOUND;

  ~LooseObjects() { loose_->free(loose_); }

  static LooseObjects& of(git_odb_backend* self) {
    auto& own = *static_cast<LooseObjects*>(self);
    own.loose_->odb = own.odb;
    return own;
  }

  bool may_read(const git_oid& id) const { return sortie::may_read(loose_file(folder_, id)); }

  git_odb_backend* loose_;
  fs::path folder_;
};

enum class Whose { own, borrowed };

void add_folder(git_odb& objects, const fs::path& folder, Whose whose, bool synced,
                const std::string& step) {
  constexpr int kLoose = 1;
  constexpr int kPacked = 2;
  const auto add = [&](git_odb_backend* backend, int priority) {
    const int result = whose == Whose::own ? git_odb_add_backend(&objects, backend, priority)
                                           : git_odb_add_alternate(&objects, backend, priority);
    if (result < 0) backend->free(backend);
    check_git(result, step, ExitCode::environment);
  };
  git_odb_backend* loose = nullptr;
  check_git(git_odb_backend_loose(&loose, folder.c_str(), -1, synced ? 1 : 0, 0, 0), step,
            ExitCode::environment);
  add(new LooseObjects(loose, folder), kLoose);
  git_odb_backend* packed = nullptr;
  check_git(git_odb_backend_pack(&packed, folder.c_str()), step, ExitCode::environment);
  add(packed, kPacked);
}

}  // namespace

GitOdb open_objects(const GitPlace& place, bool synced) {
  const std::string step = "objects of the repository";
  GitOdb objects;
  check_git(git_odb_new(GitOut(objects)), step, ExitCode::environment);
  add_folder(*objects, place.common_dir / "objects", Whose::own, synced, step);
  for (const fs::path& folder : place.alternates)
    add_folder(*objects, folder, Whose::borrowed, false, step);
  return objects;
}

fs::path blocking_object(const GitPlace& place, const git_oid& id) {
  std::vector<fs::path> folders = {place.common_dir / "objects"};
  folders.insert(folders.end(), place.alternates.begin(), place.alternates.end());
  for (const fs::path& folder : folders)
    if (const fs::path file = loose_file(folder, id); !may_read(file)) return file;
  return {};
}

void add_objects(git_odb& objects, const fs::path& folder, const std::string& step) {
  add_folder(objects, folder, Whose::borrowed, false, step);
}

}  // namespace sortie
