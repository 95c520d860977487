#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/config/diagnostic.h"
#include "core/rates/rate_limits.h"

namespace sortie {

/// Variables by their names.
using VariableMap = std::map<std::string, std::string>;

/// A task of a batch.
struct ManifestTask {
  std::filesystem::path task;  ///< absolute
  std::string policy;          ///< file (absolute) or preset name; "": the manifest's
  std::string name;            ///< its part of the runs' names
  VariableMap vars;            ///< of each of its runs
  std::string workspace;       ///< as ManifestWorkspace::path; "": those of the manifest
  TextPlace place;
};

/// A folder that runs work in. Texts may have {{variables}} of the run.
struct ManifestWorkspace {
  std::string path;          ///< as written; relative to the manifest. "" for a git one
  std::string git;           ///< a repository on this machine, as written
  std::string commit;        ///< what is checked out of it; "": HEAD
  std::optional<int> depth;  ///< commits of history that the checkout has; else all before it
  std::string name;          ///< its part of the runs' names; "": made of the path
  TextPlace place;
};

/// One row of `vars`.
struct ManifestVariables {
  VariableMap values;
  TextPlace place;
};

/// Which combinations a row of `include` or `exclude` means: globs by name, task, workspace,
/// instance, or a variable. All of them have to match.
struct ManifestFilter {
  VariableMap globs;
  TextPlace place;
};

/// What all runs together may use.
struct BatchBudget {
  std::optional<double> cost{};          ///< USD
  std::optional<std::int64_t> tokens{};  ///< uncached input + output
  std::optional<std::chrono::milliseconds> time{};
};

/// How runs are started again that ended in a way that another start may mend.
struct BatchRetry {
  int attempts = 5;                                          ///< starts of one run, at most
  std::chrono::milliseconds wait{std::chrono::seconds(10)};  ///< doubled with each failure in a row
  std::chrono::milliseconds max_wait{std::chrono::minutes(10)};
};

/// A batch: many runs, made of tasks × workspaces × vars × instances.
struct Manifest {
  std::filesystem::path file;    ///< absolute
  std::filesystem::path folder;  ///< absolute; paths in the file are relative to it
  std::string name;              ///< of each run, with {{variables}}; "": made of its parts
  TextPlace name_at{};
  std::vector<ManifestTask> tasks;
  std::vector<ManifestWorkspace> workspaces;
  std::vector<ManifestVariables> vars;
  std::filesystem::path instances;  ///< absolute; "" for none
  std::vector<ManifestFilter> include;
  std::vector<ManifestFilter> exclude;
  std::string policy;       ///< of tasks that have none here; "": as for a run by itself
  std::string out;          ///< as written, relative to the caller's folder; "": not given
  std::optional<int> jobs;  ///< runs at the same time; nothing: by cores and memory
  bool keep_going = false;
  BatchBudget budget;
  BatchRetry retry;
  std::vector<ProviderRate> rate_limits;
  std::filesystem::path rate_limits_file;  ///< absolute, instead of them; "" for none
  std::string predictions;                 ///< a file's name in the batch's folder; "" for none
};

/// The most runs of a batch.
inline constexpr std::size_t kMostBatchRuns = 100'000;

}  // namespace sortie
