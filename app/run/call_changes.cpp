#include "app/run/call_changes.h"

#include <utility>

#include "app/run/cut_off_effects.h"
#include "core/text/base64.h"

namespace sortie {
namespace {

FileChange change_of(TouchedFile&& file, const Redactor& redactor) {
  using Kind = TouchedFile::Kind;
  FileChange change{.path = std::move(file.path),
                    .kind = file.kind == Kind::added     ? ChangeKind::add
                            : file.kind == Kind::deleted ? ChangeKind::remove
                                                         : ChangeKind::update,
                    .mode = file.mode,
                    .sha256_before = std::move(file.before),
                    .sha256_after = std::move(file.after),
                    .by = "command",
                    .not_read = std::move(file.not_read),
                    .link_target = std::move(file.link_target)};
  if (file.content && redactor.find(*file.content, Audience::tools).empty())
    change.content = base64_encoded(*file.content);
  return change;
}

}  // namespace

void CallChanges::take_up(const RunHistory& history) {
  for (const auto& [path, file] : recorded_files(history))
    if (!file.is_there || !file.sha256.empty()) digests_.know(path, file.sha256);
}

void CallChanges::take_up(const std::vector<FileChange>& changes) {
  for (const FileChange& change : changes)
    if (change.kind == ChangeKind::remove || !change.sha256_after.empty())
      digests_.know(change.path, change.sha256_after);
}

std::vector<FileChange> CallChanges::take(const std::vector<std::string>& touched,
                                          bool by_other_program) {
  const std::uint64_t connections = connections_.count();
  const bool by_network = std::exchange(connections_seen_, connections) != connections;
  std::vector<FileChange> changes;
  for (TouchedFile& file :
       digests_.look(touched, by_network || by_other_program ? FileDigests::Contents::keep
                                                             : FileDigests::Contents::leave))
    changes.push_back(change_of(std::move(file), redactor_));
  return changes;
}

}  // namespace sortie
