#include "core/workspace/apply/apply_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/base/patient_io.h"
#include "core/text/base64.h"
#include "core/text/text.h"
#include "core/workspace/tree.h"

namespace sortie {
namespace {

constexpr const char* kJournal = "journal";
constexpr const char* kSeal = "seal";
constexpr const char* kIgnore = ".gitignore";
constexpr const char* kForeign =
    " is there, and sortie has not made it: remove it, since changes are laid ready there";
constexpr std::uint64_t kMostJournalBytes = 256u << 20;

[[noreturn]] void fail(const std::string& step) {
  throw system_error(std::string(kApplyFolder) + ": " + step, ExitCode::environment);
}

Fd make_file(int folder, const char* name) {
  Fd file(::openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC,
                   S_IRUSR | S_IWUSR));
  if (!file) fail(name);
  return file;
}

void sync(const Fd& file, const char* what) {
  if (::fsync(file.get()) != 0) fail(what);
}

Json number(std::uint64_t value) { return Json(std::to_string(value)); }

std::uint64_t number_at(const Json& value, const char* name) {
  const std::string& text = value[name].text();
  const bool plain =
      !text.empty() && text.size() < 20 && std::all_of(text.begin(), text.end(), is_ascii_digit);
  return plain ? std::stoull(text) : 0;
}

Json path_json(const std::string& path) { return Json(base64_encoded(path)); }

/// Nothing in a journal leads out of the tree or into its repository, whoever wrote it.
std::string path_from(const Json& text) {
  std::string path = base64_decoded(text.text());
  if (const std::string problem = path_problem(path); !problem.empty())
    throw Error("a path of the journal " + problem);
  return path;
}

Json change_json(const JournalChange& change) {
  Json json = Json::object({{"path", path_json(change.path)}});
  if (change.old)
    json.set("old", Json::object({{"inode", number(change.old->inode)},
                                  {"kept", number(change.old->kept)}}));
  if (change.made)
    json.set("made", Json::object(
                         {{"inode", number(change.made->inode)}, {"sha256", change.made->sha256}}));
  Json folders = Json::array();
  for (const auto& folder : change.folders)
    folders.push_back(Json::object({{"path", path_json(folder.path)},
                                    {"mode", number(folder.mode)},
                                    {"user", number(folder.user)},
                                    {"group", number(folder.group)}}));
  json.set("folders", std::move(folders));
  Json made = Json::array();
  for (const auto& folder : change.new_folders) made.push_back(path_json(folder));
  json.set("new_folders", std::move(made));
  return json;
}

JournalChange change_from(const Json& json) {
  JournalChange change{.path = path_from(json["path"])};
  if (const Json* old = json.find("old"))
    change.old = {number_at(*old, "inode"), number_at(*old, "kept")};
  if (const Json* made = json.find("made"))
    change.made = {number_at(*made, "inode"), made->string_at("sha256")};
  for (const Json& folder : json["folders"].items())
    change.folders.push_back({path_from(folder["path"]),
                              static_cast<mode_t>(number_at(folder, "mode") & 07777),
                              static_cast<uid_t>(number_at(folder, "user")),
                              static_cast<gid_t>(number_at(folder, "group"))});
  for (const Json& folder : json["new_folders"].items())
    change.new_folders.push_back(path_from(folder));
  return change;
}

/// Whether the folder holds nothing but what make() leaves if it is cut off.
bool holds_nothing(const Fd& folder) {
  for (const NamedStatus& entry : list_folder(folder, kApplyFolder)) {
    const bool known = entry.name == kSeal || entry.name == kJournal || entry.name == kIgnore;
    const off_t most = entry.name == kIgnore ? 2 : 0;
    if (!known || !S_ISREG(entry.status.st_mode) || entry.status.st_size > most) return false;
  }
  return true;
}

}  // namespace

std::string name_in_folder(const char* kind, std::size_t change) {
  return std::string(kind) + "." + std::to_string(change);
}

/// What tells this seal from one that somebody else laid.
Json ApplyFolder::seal() const {
  struct stat status {};
  if (::fstatat(folder_.get(), kSeal, &status, AT_SYMLINK_NOFOLLOW) != 0) return {};
  // For root, commands of a run are somebody else: theirs is none.
  if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid()) return {};
  return Json::object({{"inode", number(status.st_ino)},
                       {"ctime", std::to_string(status.st_ctim.tv_sec) + "." +
                                     std::to_string(status.st_ctim.tv_nsec)}});
}

ApplyFolder ApplyFolder::make(int root, const ApplyMark& mark) {
  if (::mkdirat(root, kApplyFolder, S_IRWXU) != 0) {
    if (errno != EEXIST) fail("mkdir");
    (void)open(root);  // busy: its process is alive
    throw Error(std::string(kApplyFolder) + kForeign, ExitCode::environment);
  }
  ApplyFolder made(root);
  made.folder_ = Fd(::openat(root, kApplyFolder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!made.folder_) fail("open");
  try {
    made.file_ = make_file(made.folder_.get(), kJournal);
    if (::flock(made.file_.get(), LOCK_EX | LOCK_NB) != 0) fail("lock");
    sync(make_file(made.folder_.get(), kSeal), kSeal);
    const Fd ignore = make_file(made.folder_.get(), kIgnore);
    if (!write_all(ignore.get(), "*\n")) fail(kIgnore);
    made.append(Json::object({{"sortie_apply", 1},
                              {"seal", made.seal()},
                              {"mark", Json::object({{"result", path_json(mark.result.native())},
                                                     {"run_id", mark.run_id}})}}));
  } catch (...) {
    made.remove();
    throw;
  }
  made.state_ = State::ours;
  made.journal_.mark = mark;
  return made;
}

ApplyFolder ApplyFolder::open(int root) {
  ApplyFolder found(root);
  found.folder_ = Fd(::openat(root, kApplyFolder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!found.folder_) {
    if (errno != ENOENT) found.state_ = State::foreign;
    return found;
  }
  found.file_ = Fd(::openat(found.folder_.get(), kJournal,
                            O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (found.file_ && ::flock(found.file_.get(), LOCK_EX | LOCK_NB) != 0)
    throw Error("another process applies changes to this tree", ExitCode::busy);
  found.read();
  return found;
}

void ApplyFolder::read() {
  state_ = holds_nothing(folder_) ? State::empty : State::foreign;
  struct stat status {};
  if (!file_ || ::fstat(file_.get(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  const ReadBytes text = read_to_end(file_.get(), {.max_bytes = kMostJournalBytes});
  if (!text.problem.empty()) return;
  try {
    std::string_view rest = text.bytes;
    for (bool first = true; rest.find('\n') != rest.npos; first = false) {
      const Json line = parse_json(rest.substr(0, rest.find('\n')));
      rest.remove_prefix(rest.find('\n') + 1);
      if (first) {
        const bool own = line.integer_at("sortie_apply") == 1 && line["seal"] == seal() &&
                         line["seal"].is_object();
        if (!own) return;
        journal_.mark = {base64_decoded(line["mark"].string_at("result")),
                         line["mark"].string_at("run_id")};
        state_ = State::ours;
      }
      for (const Json& change : line["changes"].items())
        journal_.changes.push_back(change_from(change));
      journal_.ready = journal_.ready || line["changes"].is_array();
      journal_.finished = journal_.finished || line["finished"].boolean();
    }
  } catch (const std::exception&) {
    // Nothing of ours that is whole can be unreadable: a torn last line has no newline.
    state_ = State::foreign;
  }
}

void ApplyFolder::append(const Json& line) {
  if (!write_all(file_.get(), write_json(line) + "\n")) fail(kJournal);
  sync(file_, kJournal);
}

void ApplyFolder::write_ready(std::vector<JournalChange> changes) {
  sync(folder_, "fsync");
  Json list = Json::array();
  for (const JournalChange& change : changes) list.push_back(change_json(change));
  append(Json::object({{"changes", std::move(list)}}));
  const Fd root(::openat(root_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (root) ::fsync(root.get());  // the folder itself; not every file system can
  journal_.changes = std::move(changes);
  journal_.ready = true;
}

void ApplyFolder::write_finished() {
  append(Json::object({{"finished", true}}));
  journal_.finished = true;
}

void ApplyFolder::remove() noexcept {
  try {
    for (const NamedStatus& entry : list_folder(folder_, kApplyFolder))
      if (entry.name != kJournal && entry.name != kSeal)
        ::unlinkat(folder_.get(), entry.name.c_str(), 0);
  } catch (const Error&) {
    return;
  }
  ::unlinkat(folder_.get(), kJournal, 0);
  ::unlinkat(folder_.get(), kSeal, 0);
  ::unlinkat(root_, kApplyFolder, AT_REMOVEDIR);
  file_.reset();
  state_ = State::none;
}

}  // namespace sortie
