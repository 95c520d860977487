#include "core/workspace/start_record.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/files/file_name.h"
#include "core/files/files.h"
#include "core/git/config/rule_files.h"
#include "core/git/git_repository.h"
#include "core/git/submodules.h"
#include "core/workspace/file_stamp.h"
#include "core/workspace/workspace_options.h"

namespace fs = std::filesystem;

namespace sortie {
namespace {

Error record_error(const fs::path& file) {
  return system_error(path_text(file), ExitCode::environment);
}

/// The start time by the clock of file stamps, stored for a resumed run.
std::int64_t stamp_start(const fs::path& file) {
  const Fd open(::open(file.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  struct stat status {};
  if (!open || ::fstat(open.get(), &status) != 0) throw record_error(file);
  return stamp_of(status).ctime;
}

void make_folders(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw Error(path_text(folder) + ": " + error.message(), ExitCode::environment);
}

void send_bytes(const Fd& source, const Fd& copy, off_t size, const fs::path& to) {
  if (::ioctl(copy.get(), FICLONE, source.get()) == 0) return;
  for (off_t left = size; left > 0;) {
    const ssize_t count = ::sendfile(copy.get(), source.get(), nullptr, static_cast<size_t>(left));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw record_error(to);
    if (count == 0) return;
    left -= count;
  }
}

/// git replaces its index by a new file, so an opened one does not change. The copy has its time:
/// files as old as the index may be newer than what it says of them.
void copy_index(const fs::path& from, const fs::path& to) {
  const Fd source(::open(from.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status {};
  if (!source || ::fstat(source.get(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  const Fd copy(::open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!copy) throw record_error(to);
  send_bytes(source, copy, status.st_size, to);
  const timespec times[2] = {status.st_atim, status.st_mtim};
  if (::futimens(copy.get(), times) != 0) throw record_error(to);
}

/// Quoted as a value of git's configuration.
std::string quoted(const std::string& text) {
  std::string value = "\"";
  for (const char c : text) {
    if (c == '\\' || c == '"') value += '\\';
    value += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return value + '"';
}

/// Only those settings of the repository that affect how rules are read.
std::string settings_of(const FoundRepository& found) {
  std::string text = "[core]\n\trepositoryformatversion = 0\n";
  if (!found.handle) return text;
  if (switch_of(*found.handle, "core.ignorecase").value_or(false)) text += "\tignorecase = true\n";
  for (const char* name : {"autocrlf", "eol"})  // how line ends are read and written
    if (const auto value = setting_of(*found.handle, (std::string("core.") + name).c_str()))
      text += std::string("\t") + name + " = " + quoted(*value) + '\n';
  if (const auto file = setting_of(*found.handle, "core.attributesfile").value_or("");
      !file.empty() && file.front() != '~')
    text += "\tattributesfile = " + quoted((found.toplevel / file).string()) + '\n';
  return text;
}

std::string lines_of(const std::vector<fs::path>& paths) {
  std::string text;
  for (const fs::path& path : paths) text += path.native() + '\0';
  return text;
}

/// The references to the user's repository: its toplevel and object folders.
constexpr const char* kPlaces = "places";

/// In the state folder: the records of submodules.
constexpr const char* kSubmodules = "submodules";

/// Exists if the repository's settings convert line ends.
constexpr const char* kConverts = "converts";

/// The reverse of lines_of().
std::vector<fs::path> paths_in(const std::string& text) {
  std::vector<fs::path> paths;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\0', at);
    paths.push_back(text.substr(at, end - at));
    at = std::min(end, text.size()) + 1;
  }
  return paths;
}

void take_places(const fs::path& file, StartRecord& record) {
  const std::vector<fs::path> paths = paths_in(read_file(file, 1 << 20));
  if (paths.empty()) return;
  record.toplevel = paths.front();
  record.has_repository = paths.size() > 1;
  record.objects.assign(paths.begin() + 1, paths.end());
}

/// In a record that is not complete yet, so that nobody takes half a file for a whole one.
void write_part(const fs::path& file, std::string_view content) {
  const Fd open(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!open || !write_all(open.get(), content)) throw record_error(file);
}

void keep_rules(const fs::path& from, const fs::path& to) {
  if (const auto rules = read_rule_file(from)) write_part(to, readable_rules(*rules));
}

/// Its places come last: a record without them is made anew.
void make_record(const WorkspaceOptions& options, const StartRecord& record) {
  const auto looked_at = look_at_repository(options.root);
  const FoundRepository& found = *looked_at;
  const fs::path git = record.folder / ".git";
  for (const char* name : {"objects", "refs", "info"}) make_folders(git / name);
  const std::string head = found.handle ? head_commit(*found.handle) : "";
  write_part(git / "HEAD", (head.empty() ? "ref: refs/heads/main" : head) + "\n");
  write_part(git / "config", settings_of(found));
  std::vector<fs::path> places = {found.handle ? found.toplevel : options.root};
  if (found.handle) {
    (void)head_tree(*found.handle);
    copy_index(found.place.git_dir / "index", git / "index");
    write_part(git / "info/exclude", readable_rules(exclude_rules(found)));
    keep_rules(found.place.common_dir / "info/attributes", git / "info/attributes");
    if (setting_of(*found.handle, "core.autocrlf").value_or("false") != "false" ||
        setting_of(*found.handle, "core.eol"))
      write_part(git / kConverts, "");
    places.push_back(found.place.common_dir / "objects");
    places.insert(places.end(), found.place.alternates.begin(), found.place.alternates.end());
  }
  // The rules for the whole workspace; others are copied when a path needs them.
  fs::path below;
  const fs::path way = options.root.lexically_relative(places.front());
  for (auto part = way.begin();; ++part) {
    if (part != way.end() && *part == ".") continue;
    for (const char* name : {".gitignore", ".gitattributes"})
      keep_rules(places.front() / below / name, record.folder / below / name);
    if (part == way.end()) break;
    below /= *part;
    make_folders(record.folder / below);
  }
  write_record(git / kPlaces, lines_of(places));
}

}  // namespace

void write_record(const fs::path& file, std::string_view content) {
  const fs::path draft = file.native() + ".new";
  {
    const Fd open(
        ::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!open || !write_all(open.get(), content)) throw record_error(file);
  }
  if (::rename(draft.c_str(), file.c_str()) != 0) throw record_error(file);
}

std::vector<SubmoduleStart> keep_submodules(const WorkspaceOptions& options) {
  if (options.submodules.empty()) return {};
  const fs::path folder = options.state / kSubmodules;
  const fs::path names = folder / "names";
  std::error_code error;
  const bool resumed = fs::exists(names, error);
  std::vector<fs::path> paths;
  if (resumed)
    paths = paths_in(read_file(names, 1 << 20));
  else
    for (const Submodule& one : listed_submodules(options.root, options.submodules))
      paths.emplace_back(one.path);
  std::vector<SubmoduleStart> modules;
  for (const fs::path& path : paths) {
    WorkspaceOptions own;
    own.root = options.root / path;
    // A path may be longer than a name of a file.
    own.state = folder / sha256_hex(path.native()).substr(0, 32);
    modules.push_back({path.native(), keep_start(own)});
  }
  if (!resumed) {
    make_folders(folder);
    write_record(names, lines_of(paths));
  }
  return modules;
}

void write_rules(const fs::path& file, std::string_view rules) {
  write_record(file, readable_rules(rules));
}

StartRecord keep_start(const WorkspaceOptions& options) {
  make_folders(options.state);
  StartRecord record;
  record.folder = options.state / "start";
  record.toplevel = options.root;
  record.began = stamp_start(options.state / "began");
  const fs::path places = record.folder / ".git" / kPlaces;
  std::error_code error;
  if (!fs::exists(places, error)) make_record(options, record);
  take_places(places, record);
  record.converts = fs::exists(record.folder / ".git" / kConverts, error);
  return record;
}

}  // namespace sortie
