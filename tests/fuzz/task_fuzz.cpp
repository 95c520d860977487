#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/base/error.h"
#include "core/task/task_loader.h"
#include "core/task/variables.h"

using namespace sortie;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const Task task = load_task("-", std::string(reinterpret_cast<const char*>(data), size));
    if ((task.prompt.empty() && task.stages.empty()) || task.name.empty()) std::abort();
    VariableSources sources;
    sources.standard_input = [] { return std::string("</untrusted>"); };
    expand_prompts(task, sources);
  } catch (const InputError& error) {
    if (std::string(error.what()).empty()) std::abort();
  }
  return 0;
}
