// Runs a fuzz target once over each file of the folders given: the seeds as a plain test.
// --report=FILE is written when all have been run, in the form of Boost.Test's reports.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
  const std::string option = "--report=";
  std::string report;
  int files = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument.starts_with(option)) {
      report = argument.substr(option.size());
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(argument)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream in(entry.path(), std::ios::binary);
      const std::string bytes{std::istreambuf_iterator<char>(in), {}};
      LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
      ++files;
    }
  }
  std::printf("%d seeds\n", files);
  if (files == 0) return 1;
  if (!report.empty())
    std::ofstream(report)
        << "<TestResult><TestCase name=\"seeds\" result=\"passed\"/></TestResult>\n";
  return 0;
}
