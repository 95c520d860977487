#pragma once

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "core/base/hash.h"
#include "core/files/files.h"
#include "tests/support/git_repository.h"
#include "tests/support/run_folder.h"

namespace sortie::test {

namespace fs = std::filesystem;

inline bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline CassetteWriter script(const std::string& text, const std::string& message = "Done.") {
  CassetteWriter cassette;
  cassette.shell({"sh", "-c", text}).next().message(message);
  return cassette;
}

/// A repository, a run on a clone of it, and `sortie land` in the repository.
class Pipeline {
 public:
  Pipeline() {
    std::string text;
    for (int i = 0; i < 20; ++i) text += "line " + std::to_string(i) + "\n";
    folder.write("work/a.txt", text);
    folder.write("work/moved.txt", text + "moved\n");
    folder.write("work/gone/only", "x\n");
    folder.write("work/image", "text\n");
    folder.write("work/crlf.txt", "one\r\ntwo\r\n");
    folder.commit_workspace();
    git(folder.path(""), {"clone", "-q", folder.workspace().string(), target().string()});
    git(target(), {"config", "user.name", "Lander"});
    git(target(), {"config", "user.email", "lander@example.com"});
  }
  fs::path target() const { return folder.path("target"); }
  void run(const CassetteWriter& cassette, const std::string& more = "policy: auto\n") const {
    folder.write_task(cassette, more);
    const ProgramEnd end = folder.run();
    BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  }
  ProgramStart start(const std::vector<std::string>& flags = {}) const {
    ProgramStart start;
    start.argv = {sortie_binary(), "land", folder.out().string()};
    start.argv.insert(start.argv.end(), flags.begin(), flags.end());
    start.folder = target();
    start.environment = {{"OPENAI_API_KEY", ""}};
    return start;
  }
  ProgramEnd land(const std::vector<std::string>& flags = {}) const {
    return run_program(start(flags));
  }
  /// The folder with another diff, whose digests fit.
  void forge(const std::string& diff) const {
    write(folder.out() / "changes.diff", diff);
    forge_record([&](Json& end) {
      end.find("artifacts")->set("changes.diff", "sha256:" + sha256_hex(diff));
    });
  }
  template <typename Change>
  void forge_record(const Change& change) const {
    const fs::path file = folder.out() / "transcript.jsonl";
    std::string text = read_file(file);
    text.pop_back();
    const auto last = text.rfind('\n') + 1;
    Json record = parse_json(text.substr(last));
    change(*record.find("data"));
    Json& result = *record.find("data")->find("result");
    if (result.find("artifacts") != nullptr)
      result.set("artifacts", (*record.find("data"))["artifacts"]);
    Json written = result;
    const std::string line = write_json(record);
    write(file, text.substr(0, last) + line + "\n");
    const Json old = parse_json(read_file(folder.out() / "result.json"));
    written.set("digests", old["digests"]);
    written.find("digests")->set("transcript", "sha256:" + sha256_hex(line));
    write(folder.out() / "result.json", write_json(written));
  }
  static void write(const fs::path& file, const std::string& content) {
    fs::remove_all(file);
    std::ofstream(file, std::ios::binary) << content;
  }
  std::string out(const char* name) const { return folder.artifact(name); }
  /// The files of a work tree without its repository.
  static std::map<std::string, std::string> tree_of(const fs::path& root) {
    auto tree = read_tree(root);
    std::erase_if(tree, [](const auto& one) {
      return one.first == ".git" || one.first.starts_with(".git/");
    });
    return tree;
  }

  RunFolder folder;
};

inline const char* const kEveryChange =
    "echo end >> a.txt; printf '\\000\\001\\377' > image; mkdir -p 'sub/odd name'; "
    "mv moved.txt 'sub/odd name/\xc3\xa4\"q'; rm gone/only; rmdir gone; "
    "printf '#!/bin/sh\\n' > tool; chmod +x tool; ln -s a.txt link; "
    "printf 'three\\r\\nFrom x\\r\\n' >> crlf.txt; printf '\\377\\376\\n' > latin";

}  // namespace sortie::test
