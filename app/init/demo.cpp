#include "app/init/demo.h"

#include <system_error>

#include "app/init/init.h"
#include "app/init/templates.h"
#include "core/base/error.h"
#include "core/files/file_name.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& folder, const std::error_code& error) {
  const bool no_room = cause_of(error.value()) == Cause::no_room;
  throw Error("--demo " + path_text(folder) + ": " + error.message(),
              no_room ? ExitCode::environment : ExitCode::usage, cause_of(error.value()));
}

}  // namespace

std::size_t write_demo(const fs::path& folder) {
  std::error_code error;
  const bool made = fs::create_directory(folder, error);
  if (error) refuse(folder, error);
  const bool empty = fs::is_empty(folder, error);
  if (error) refuse(folder, error);
  if (!empty)
    throw InputError("--demo " + path_text(folder) +
                     ": has files, and nothing was written; give a new or an empty folder");
  InitPlan plan{.top = fs::canonical(folder)};
  for (auto& [name, text] : demo_texts()) plan.files.push_back({name, text});
  try {
    write_init(plan);
  } catch (const Error&) {
    if (made) fs::remove_all(folder, error);
    throw;
  }
  return plan.files.size();
}

}  // namespace sortie
