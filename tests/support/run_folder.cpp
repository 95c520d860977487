#include "tests/support/run_folder.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <exception>
#include <stdexcept>

#include "core/files/files.h"
#include "core/record/transcript_reader.h"
#include "core/text/text.h"
#include "tests/support/transcript_check.h"

namespace sortie::test {

namespace fs = std::filesystem;

RunFolder::RunFolder() {
  fs::create_directories(workspace());
  fs::permissions(folder_.path(), fs::perms::all);
}

RunFolder::~RunFolder() {
  if (std::uncaught_exceptions() > 0) return;
  try {
    check_transcripts(folder_.path());
  } catch (const std::exception& error) {
    BOOST_ERROR(error.what());
  }
}

void RunFolder::write(const std::string& name, const std::string& content) const {
  fs::create_directories((folder_ / name).parent_path());
  write_file(folder_ / name, content);
}

void RunFolder::commit_workspace() const {
  const std::string identity = " -c user.name=test -c user.email=test@example.com ";
  const std::string git = "git -C '" + workspace().string() + "'" + identity;
  const std::string line =
      git + "init -q -b main && " + git + "add -A && " + git + "commit -q --allow-empty -m start";
  if (std::system(line.c_str()) != 0) throw std::runtime_error("git: " + line);
}

void RunFolder::write_task(const CassetteWriter& cassette, const std::string& more) const {
  cassette.save(folder_ / "cassette.jsonl");
  write("task.yaml",
        "version: 1\nprompt: Do it.\nworkspace: {path: work}\n"
        "model: {provider: replay, cassette: cassette.jsonl}\n" +
            more);
}

ProgramStart RunFolder::start(const std::vector<std::string>& flags) const {
  ProgramStart start = plain_start(flags);
  start.argv.emplace_back("--json");
  start.shows_events = true;
  return start;
}

ProgramStart RunFolder::plain_start(const std::vector<std::string>& flags) const {
  ProgramStart start;
  start.argv = {sortie_binary(), "run", task().string()};
  if (std::find(flags.begin(), flags.end(), "--out") == flags.end())
    start.argv.insert(start.argv.end(), {"--out", out().string()});
  // A test that runs a task once more wants it to be run.
  if (std::find(flags.begin(), flags.end(), "--reuse") == flags.end())
    start.argv.insert(start.argv.end(), {"--reuse", "none"});
  start.argv.insert(start.argv.end(), flags.begin(), flags.end());
  start.folder = folder_.path();
  start.environment = {{"OPENAI_API_KEY", ""}, {"SORTIE_BASE_URL", ""}, {"GITHUB_ACTIONS", ""}};
  return start;
}

ProgramEnd RunFolder::run(const std::vector<std::string>& flags) const {
  return run_program(start(flags));
}

ProgramEnd RunFolder::run_as(const Caller& caller, ProgramStart start) const {
  give_to(folder_.path(), caller.uid);
  return run_program(as_caller(caller, std::move(start)));
}

Json RunFolder::result() const { return parse_json(artifact("result.json")); }

std::vector<Json> RunFolder::records(const std::string& type) const {
  std::vector<Json> found;
  read_transcript(out() / "transcript.jsonl", [&](const TranscriptRecord& record) {
    if (record.type == type) found.push_back(record.data);
  });
  return found;
}

std::string RunFolder::output(std::size_t call) const {
  return records("tool.output").at(call).string_at("output");
}

std::string RunFolder::artifact(const std::string& name) const { return read_file(out() / name); }

}  // namespace sortie::test
