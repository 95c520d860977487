#include "app/run/own_outputs.h"

#include <string>

#include "app/run/run_notes.h"
#include "ci/attempts.h"

namespace sortie {

namespace fs = std::filesystem;

std::vector<fs::path> own_outputs(const fs::path& out, const RunInputs& inputs,
                                  const RunOptions& options) {
  std::vector<fs::path> paths = {out, out.string() + ".prev"};
  if (!options.batch_folder.empty()) paths.push_back(fs::canonical(options.batch_folder));
  std::vector<std::string> names = {options.diff, options.last_message, options.record,
                                    options.status_file};
  for (int n = 1; n <= inputs.task.best_of.count && !options.record.empty(); ++n)
    names.push_back(options.record + "." + attempt_folder(n));
  for (const std::string& name : names)
    if (!name.empty() && name != "-") paths.push_back(fs::absolute(name).lexically_normal());
  if (inputs.rate_limits) paths.push_back(inputs.rate_limits->state);
  const RunNotes notes(inputs.task, options.out);
  if (notes.are_kept()) paths.push_back(notes.file());
  return paths;
}

}  // namespace sortie
