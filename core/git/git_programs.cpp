#include "core/git/git_programs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <string_view>

#include "core/base/fd.h"
#include "core/files/file_name.h"
#include "core/files/files.h"
#include "core/git/config/git_config_files.h"
#include "core/git/git_repository.h"

namespace fs = std::filesystem;

namespace sortie {
namespace {

constexpr std::uint64_t kMostModules = 4 << 20;
constexpr std::size_t kMostOverrides = 4000;  // they have to fit in an environment

/// Shows the two versions as git would without the repository's program.
constexpr const char* kPlainDiff = "f() { diff -u -- \"$2\" \"$5\" || true; }; f";

/// Overridden even if the configuration lacks them: without the gpg keys, git would run a program
/// from PATH; the others disable features that a command did not ask for.
constexpr std::pair<const char*, const char*> kAlways[] = {
    {"gpg.program", "false"},        {"gpg.openpgp.program", "false"},
    {"gpg.ssh.program", "false"},    {"gpg.x509.program", "false"},
    {"log.showsignature", "false"},  {"submodule.recurse", "false"},
    {"diff.submodule", "short"},     {"status.submodulesummary", "false"},
    {"protocol.ext.allow", "never"},
};

/// A key that names a program, as `section.*.name` or `section.name`, and a value that runs none.
struct ProgramKey {
  std::string_view section;
  std::string_view name;  ///< "" is any
  const char* value;
};

constexpr ProgramKey kProgramKeys[] = {
    {"filter", "clean", ""},
    {"filter", "smudge", ""},
    {"filter", "process", ""},
    {"filter", "required", "false"},
    {"diff", "textconv", "cat"},
    {"diff", "cachetextconv", "false"},
    {"diff", "command", kPlainDiff},
    {"diff", "external", kPlainDiff},
    {"diff", "submodule", "short"},
    {"merge", "driver", "false"},
    {"core", "fsmonitor", "false"},
    {"core", "sshcommand", "false"},
    {"core", "askpass", "false"},
    {"core", "editor", "false"},
    {"core", "gitproxy", "false"},
    {"core", "alternaterefscommand", "false"},
    {"gpg", "program", "false"},
    {"gpg", "defaultkeycommand", "false"},
    {"log", "showsignature", "false"},
    {"credential", "helper", ""},
    {"interactive", "difffilter", "cat"},
    {"sequence", "editor", "false"},
    {"pager", "", "false"},
    {"trailer", "command", ""},
    {"trailer", "cmd", ""},
    {"tar", "command", "false"},
    {"remote", "uploadpack", "false"},
    {"remote", "receivepack", "false"},
    {"remote", "vcs", "false"},
    {"remote", "promisor", "false"},
    {"protocol", "allow", "never"},
    {"uploadpack", "packobjectshook", "cat"},
    {"status", "submodulesummary", "false"},
    {"submodule", "ignore", "all"},
    {"submodule", "recurse", "false"},
    {"submodule", "update", "none"},
    {"difftool", "cmd", "false"},
    {"mergetool", "cmd", "false"},
    {"browser", "cmd", "false"},
    {"man", "cmd", "false"},
};

/// A key split into its parts; libgit2 returns section and name in lower case.
struct KeyParts {
  std::string_view section;
  std::string_view name;
};

KeyParts parts_of(std::string_view key) {
  return {key.substr(0, key.find('.')), key.substr(key.rfind('.') + 1)};
}

class Overrides {
 public:
  explicit Overrides(GitPrograms& found) : found_(found) {}

  void key(const std::string& name) {
    const KeyParts parts = parts_of(name);
    for (const ProgramKey& one : kProgramKeys) {
      if (one.section != parts.section) continue;
      if (one.name.empty() || one.name == parts.name) add(name, one.value);
    }
  }

  void add(const std::string& name, const char* value) {
    if (!seen_.insert(name).second) return;
    if (seen_.size() > kMostOverrides)
      throw Error("git configuration: names too many programs", ExitCode::environment);
    found_.overrides.emplace_back(name, value);
  }

 private:
  GitPrograms& found_;
  std::set<std::string> seen_;
};

/// One file and its includes as libgit2 reads them; all are known to be regular files.
template <typename Use>
void each_key(const fs::path& file, Use use) {
  const std::string step = "git configuration " + path_text(file);
  GitConfig config;
  check_git(git_config_open_ondisk(GitOut(config), file.c_str()), step, ExitCode::environment);
  git_config_iterator* iterator = nullptr;
  check_git(git_config_iterator_new(&iterator, config.get()), step, ExitCode::environment);
  const GitHandle<git_config_iterator, git_config_iterator_free> held(iterator);
  git_config_entry* entry = nullptr;
  while (git_config_next(&entry, iterator) == 0) use(entry->name);
}

/// Whether the index may list the name. Versions 2 and 3 contain names verbatim
/// (gitformat-index(5)), so their bytes are searched: parsing an index of 80,000 files would take a
/// hundred times as long, at each start. All of them: git does not check that names are in order.
bool may_be_listed(git_repository& repository, std::string_view name) {
  using namespace std::string_view_literals;
  constexpr std::size_t kPiece = 256 << 10;  // stays in the processor's cache
  const fs::path path = fs::path(git_repository_path(&repository)) / "index";
  const Fd file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return true;
  std::string piece(kPiece, '\0');
  std::size_t kept = 0;  // the end of the piece before, which may begin the name
  for (off_t at = 0;;) {
    const ssize_t count = ::pread(file.get(), piece.data() + kept, kPiece - kept, at);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return true;
    if (count == 0) return at == 0;
    const std::string_view bytes(piece.data(), kept + static_cast<std::size_t>(count));
    if (at == 0 && !bytes.starts_with("DIRC\0\0\0\2"sv) && !bytes.starts_with("DIRC\0\0\0\3"sv))
      return true;
    if (bytes.find(name) != bytes.npos) return true;
    at += count;
    kept = std::min(bytes.size(), name.size() - 1);
    std::memmove(piece.data(), bytes.data() + bytes.size() - kept, kept);
  }
}

/// A file as git finds it if the working tree has none: in the index, else in HEAD.
std::string committed_text(git_repository& repository, const char* name) {
  git_oid id{};
  GitIndex index;
  if (may_be_listed(repository, name) && git_repository_index(GitOut(index), &repository) == 0) {
    if (const git_index_entry* entry = git_index_get_bypath(index.get(), name, 0)) id = entry->id;
  }
  GitObject object;
  const std::string spec = std::string("HEAD:") + name;
  if (git_oid_is_zero(&id) && git_revparse_single(GitOut(object), &repository, spec.c_str()) == 0)
    id = *git_object_id(object.get());
  GitBlob blob;
  if (git_oid_is_zero(&id) || git_blob_lookup(GitOut(blob), &repository, &id) < 0) return "";
  return blob_text(blob);
}

std::string text_of_gitmodules(const FoundRepository& repository) {
  const fs::path path = repository.toplevel / ".gitmodules";
  std::error_code error;
  const fs::file_status status = fs::symlink_status(path, error);
  if (!fs::exists(status)) return committed_text(*repository.handle, ".gitmodules");
  // git follows no link here.
  if (!fs::is_regular_file(status)) return "";
  return read_file(path, kMostModules);
}

void override_submodules(const FoundRepository& repository, Overrides& overrides) {
  const auto settings = parse_git_config(text_of_gitmodules(repository));
  if (!settings) return;  // git refuses it too
  for (const GitSetting& setting : *settings) {
    if (parts_of(setting.key).section != "submodule") continue;
    overrides.add(setting.key.substr(0, setting.key.rfind('.')) + ".ignore", "all");
  }
}

}  // namespace

GitPrograms read_git_programs(const fs::path& folder) {
  GitPrograms found;
  const auto looked_at = look_at_repository(folder);
  const FoundRepository& repository = *looked_at;
  if (!repository.handle) return found;
  const GitConfigFiles config = read_git_config(repository.place);
  found.included = config.included;
  // Writing it could make git descend into a submodule.
  found.included.push_back(repository.toplevel / ".gitmodules");
  Overrides overrides(found);
  for (const auto& [key, value] : kAlways) overrides.add(key, value);
  for (const GitSetting& setting : config.settings) overrides.key(setting.key);
  for (const fs::path& file : config.files)
    each_key(file, [&](const std::string& key) { overrides.key(key); });
  override_submodules(repository, overrides);
  return found;
}

}  // namespace sortie
