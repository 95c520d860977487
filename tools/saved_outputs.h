#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/fd.h"
#include "core/base/hash.h"
#include "core/files/files.h"
#include "core/record/command_output.h"
#include "tools/tool.h"

namespace sortie {

/// Keeps whole outputs of which the model sees only a part, already redacted: files in a folder
/// outside the workspace that `read_file`, `search_files` and, if the sandbox shows it, commands
/// can read.
class SavedOutputs {
 public:
  /// @param folder     absolute, links resolved; must exist, and is removed by its creator
  /// @param max_bytes  limit for all files together, unfinished ones included; past it the oldest
  ///                   are removed
  SavedOutputs(std::filesystem::path folder, std::uint64_t max_bytes);

  /// An output being written. Destroying it without keep() removes the file.
  class File {
   public:
    File(SavedOutputs& outputs, std::filesystem::path path, Fd file);
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    ~File();
    /// If the text can't be written (disk full, no room left), the file is not kept.
    void write(std::string_view text);
    /// @return  the path, or "" if part of the output is missing
    std::string keep();

   private:
    void discard();

    SavedOutputs& outputs_;
    std::filesystem::path path_;
    Fd file_;  ///< closed once kept or discarded
    std::uint64_t bytes_ = 0;
    Sha256 hash_;
  };
  /// Null if no file can be created.
  std::unique_ptr<File> begin();

  /// Sets who is shown each piece of each output as it comes, from the threads of the calls: without
  /// terminal sequences, redacted for tools. Set it before the first call.
  /// @param watcher  its first argument tells outputs apart
  void show_to(std::function<void(const void* output, std::string_view text)> watcher) {
    watcher_ = std::move(watcher);
  }
  void show(const void* output, std::string_view text) const {
    if (watcher_ && !text.empty()) watcher_(output, text);
  }

  /// The output at this path; nothing if it was removed.
  std::optional<SavedOutput> find(const std::string& path);

  const std::filesystem::path& folder() const { return folder_; }
  const DiskFiles& files() const { return files_; }

 private:
  bool reserve(std::uint64_t bytes);
  void release(std::uint64_t bytes);
  void keep(SavedOutput output);

  std::filesystem::path folder_;
  std::function<void(const void*, std::string_view)> watcher_;
  std::uint64_t max_bytes_;
  DiskFiles files_;
  std::mutex mutex_;  ///< guards all below: calls that only read run in parallel
  std::deque<SavedOutput> kept_;
  std::uint64_t bytes_ = 0;  ///< size of all files, kept or not
  int count_ = 0;
};

/// A tool that reads files of the workspace and, in addition, those of SavedOutputs.
class ReadsOutputs : public Tool {
 public:
  /// @param tool        for all other paths
  /// @param of_outputs  the same tool with the folder of the outputs as its workspace
  ReadsOutputs(std::unique_ptr<Tool> tool, std::unique_ptr<Tool> of_outputs,
               std::filesystem::path folder);
  const ToolSpec& spec() const override { return tool_->spec(); }
  Json renamed(Json arguments) const override { return tool_->renamed(std::move(arguments)); }
  bool reads_only() const override { return tool_->reads_only(); }
  /// None for an output: the model has already seen a part of it.
  std::vector<Action> actions(const Json& arguments) const override;
  ToolResult run(const Json& arguments, std::stop_token stop) override;

 private:
  bool is_of_outputs(const Json& arguments) const;

  std::unique_ptr<Tool> tool_;
  std::unique_ptr<Tool> of_outputs_;
  std::filesystem::path folder_;
};

}  // namespace sortie
