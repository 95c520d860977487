#include "core/batch/manifest_loader.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/base/error.h"
#include "core/batch/manifest_fields.h"
#include "core/batch/run_name.h"
#include "core/config/yaml.h"
#include "core/files/files.h"
#include "core/text/text.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

/// The part of the runs' names: the file's, or its folder's if the file has a name that says nothing.
std::string name_of_task(const fs::path& task, const fs::path& manifest) {
  const std::string stem = task.stem().string();
  const std::string folder = task.parent_path().filename().string();
  // The manifest's own folder may be called otherwise on the next machine.
  const bool by_folder = stem == "task" && !folder.empty() && task.parent_path() != manifest;
  return run_name_of(by_folder ? folder : stem);
}

void name_tasks(ManifestFile& file) {
  std::vector<std::string> names;
  for (ManifestTask& task : file.manifest.tasks) {
    if (task.name.empty()) task.name = name_of_task(task.task, file.manifest.folder);
    if (is_one_of(task.name, names))
      file.findings.error(task.place,
                          "two tasks are called '" + task.name + "'; give one of them a 'name'");
    names.push_back(task.name);
  }
}

void check(ManifestFile& file) {
  const Manifest& manifest = file.manifest;
  if (manifest.retry.max_wait < manifest.retry.wait)
    file.findings.error(
        {}, manifest.file.filename().string() + ": retry: 'max_wait' is shorter than 'wait'");
  if (!manifest.predictions.empty() && manifest.instances.empty())
    file.findings.error({}, manifest.file.filename().string() +
                                ": 'predictions' needs 'instances', whose instance_id they name");
}

}  // namespace

ManifestFile load_manifest(const std::string& called) {
  TextFile text = read_text_file(called, kMaxYamlBytes, Pipes::accepted);
  if (!text.problem.empty()) throw InputError(called + ": " + text.problem);
  ManifestFile file;
  std::error_code error;
  file.manifest.file = fs::absolute(called, error).lexically_normal();
  file.manifest.folder = file.manifest.file.parent_path();
  const std::size_t source = file.findings.add_source(called, std::move(text.text));
  manifest_fields(file.manifest).read(read_yaml(source, file.findings), file.findings);
  name_tasks(file);
  check(file);
  file.findings.throw_if_any();
  return file;
}

Json manifest_schema() {
  Manifest any;
  any.folder = "/";
  return file_schema(manifest_fields(any), "sortie batch manifest");
}

}  // namespace sortie
