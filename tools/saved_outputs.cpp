#include "tools/saved_outputs.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "core/base/error.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

Fd open_folder(const fs::path& folder) {
  Fd opened(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!opened) throw system_error(folder.string(), ExitCode::environment);
  return opened;
}

}  // namespace

SavedOutputs::SavedOutputs(fs::path folder, std::uint64_t max_bytes)
    : folder_(std::move(folder)), max_bytes_(max_bytes), files_(open_folder(folder_)) {}

SavedOutputs::File::File(SavedOutputs& outputs, fs::path path, Fd file)
    : outputs_(outputs), path_(std::move(path)), file_(std::move(file)) {}

SavedOutputs::File::~File() { discard(); }

void SavedOutputs::File::discard() {
  if (!file_) return;
  ::unlink(path_.c_str());
  file_.reset();
  outputs_.release(bytes_);
}

void SavedOutputs::File::write(std::string_view text) {
  if (!file_) return;
  if (!outputs_.reserve(text.size())) return discard();
  bytes_ += text.size();
  if (!write_all(file_.get(), text)) return discard();
  hash_.update(text);
}

std::string SavedOutputs::File::keep() {
  if (!file_) return {};
  file_.reset();
  outputs_.keep({.path = path_.string(), .sha256 = hash_.finish(), .bytes = bytes_});
  return path_.string();
}

/// Makes room by removing the oldest outputs; false if that is not enough.
bool SavedOutputs::reserve(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  while (bytes_ + bytes > max_bytes_ && !kept_.empty()) {
    ::unlink(kept_.front().path.c_str());
    bytes_ -= kept_.front().bytes;
    kept_.pop_front();
  }
  if (bytes_ + bytes > max_bytes_) return false;
  bytes_ += bytes;
  return true;
}

void SavedOutputs::release(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  bytes_ -= bytes;
}

std::unique_ptr<SavedOutputs::File> SavedOutputs::begin() {
  const std::lock_guard lock(mutex_);
  fs::path path;
  Fd file;
  // An earlier process of the run may have left some.
  do {
    path = folder_ / ("output-" + std::to_string(++count_) + ".txt");
    file = Fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  } while (!file && errno == EEXIST);
  if (!file) return nullptr;
  return std::make_unique<File>(*this, path, std::move(file));
}

void SavedOutputs::keep(SavedOutput output) {
  const std::lock_guard lock(mutex_);
  kept_.push_back(std::move(output));
}

std::optional<SavedOutput> SavedOutputs::find(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(kept_.begin(), kept_.end(),
                                  [&](const SavedOutput& one) { return one.path == path; });
  if (found == kept_.end()) return {};
  return *found;
}

ReadsOutputs::ReadsOutputs(std::unique_ptr<Tool> tool, std::unique_ptr<Tool> of_outputs,
                           fs::path folder)
    : tool_(std::move(tool)), of_outputs_(std::move(of_outputs)), folder_(std::move(folder)) {}

bool ReadsOutputs::is_of_outputs(const Json& arguments) const {
  const fs::path path = fs::path(arguments.string_at("path")).lexically_normal();
  return std::mismatch(folder_.begin(), folder_.end(), path.begin(), path.end()).first ==
         folder_.end();
}

std::vector<Action> ReadsOutputs::actions(const Json& arguments) const {
  if (is_of_outputs(arguments)) return {};
  return tool_->actions(arguments);
}

ToolResult ReadsOutputs::run(const Json& arguments, std::stop_token stop) {
  Tool& tool = is_of_outputs(arguments) ? *of_outputs_ : *tool_;
  return tool.run(arguments, std::move(stop));
}

}  // namespace sortie
