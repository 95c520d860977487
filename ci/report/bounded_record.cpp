#include "ci/report/bounded_record.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "ci/report/known_number.h"
#include "core/record/diff_names.h"
#include "core/text/output_buffer.h"
#include "core/text/text.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPartBytes = 32u << 10;  ///< of a text at each end
constexpr std::size_t kMostJson = 4u << 20;    ///< of a member that is a blob as a whole
constexpr int kMostDepth = 16;

/// @param cut  gets the bytes between head and tail; null: words between them say it
std::string bounded_text(const fs::path& blob, const Json& reference, std::uint64_t* cut) {
  const auto bytes =
      static_cast<std::uint64_t>(std::max<std::int64_t>(0, reference.integer_at("bytes")));
  std::string text = read_part(blob, 0, kPartBytes);
  if (text.empty()) return reference.string_at("head");
  if (bytes <= kPartBytes) return text;
  const std::uint64_t tail_at = std::max<std::uint64_t>(kPartBytes, bytes - kPartBytes);
  const std::uint64_t between = tail_at - kPartBytes;
  if (cut != nullptr)
    *cut = between;
  else if (between > 0)
    text += "\n… " + size_in_words(between) + " left out …\n";
  return text + read_part(blob, tail_at, kPartBytes);
}

bool is_text_blob(const Json& value) {
  const std::string name = value.string_at("blob");
  return name.starts_with("sha256-") && name.find('/') == name.npos && value["bytes"].is_number() &&
         !value["json"].boolean();
}

void take_blobs(Json& value, const fs::path& folder, int depth) {
  const std::string name = value.string_at("blob");
  if (name.starts_with("sha256-") && value["bytes"].is_number()) {
    if (name.find('/') != name.npos || depth > kMostDepth) {
      value = Json(value.string_at("head"));
    } else if (!value["json"].boolean()) {
      value = Json(bounded_text(folder / name, value, nullptr));
    } else {
      try {
        Json whole = parse_json(read_part(folder / name, 0, kMostJson));
        take_blobs(whole, folder, depth + 1);
        value = std::move(whole);
      } catch (const JsonError&) {
        value = Json();
      }
    }
    return;
  }
  for (Json& item : value.items()) take_blobs(item, folder, depth);
  for (auto& member : value.members()) take_blobs(member.second, folder, depth);
}

}  // namespace

Fd open_regular(const fs::path& path, std::uint64_t& bytes) {
  Fd file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  bytes = static_cast<std::uint64_t>(status.st_size);
  return file;
}

std::string read_part(const fs::path& path, std::uint64_t offset, std::size_t most) {
  std::uint64_t size = 0;
  const Fd file = open_regular(path, size);
  if (!file) return {};
  if (offset >= size) return {};
  std::string bytes(std::min<std::uint64_t>(most, size - offset), '\0');
  std::size_t got = 0;
  while (got < bytes.size()) {
    const ssize_t count = ::pread(file.get(), bytes.data() + got, bytes.size() - got,
                                  static_cast<off_t>(offset + got));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    got += static_cast<std::size_t>(count);
  }
  bytes.resize(got);
  return bytes;
}

std::optional<BoundedEvent> bounded_event(const TranscriptRecord& record,
                                          const fs::path& transcript, const Redactor* redactor) {
  const fs::path folder = transcript.parent_path() / "blobs";
  Json data = record.data;
  std::uint64_t cut = 0;
  if (Json* output = data.find("output"); output != nullptr && is_text_blob(*output))
    *output = Json(bounded_text(folder / output->string_at("blob"), *output, &cut));
  take_blobs(data, folder, 0);
  take_known_numbers(data);
  if (redactor != nullptr)
    if (auto changed = redactor->changed(data)) data = std::move(*changed);
  std::optional<RunEvent> event = read_event(record.type, record.turn, std::move(data));
  if (!event) return std::nullopt;
  return BoundedEvent{std::move(*event), cut};
}

}  // namespace sortie
