#pragma once

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "ci/attestation.h"
#include "ci/result.h"
#include "core/base/hash.h"
#include "core/files/files.h"
#include "core/text/text.h"
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

inline void write_anew(const fs::path& file, const std::string& content) {
  fs::remove_all(file);
  std::ofstream(file, std::ios::binary) << content;
}

/// Changes the data of records, and makes the chain and result.json anew.
template <typename Change>
void forge_records_in(const RunFolder& folder, const Change& change) {
  const fs::path file = folder.out() / "transcript.jsonl";
  const std::string old = read_file(file);
  std::string text;
  std::string last(64, '0');
  Json result = parse_json(read_file(folder.out() / "result.json"));
  for (const auto line : split_lines(old)) {
    Json record = parse_json(line);
    change(record.string_at("type"), *record.find("data"));
    record.set("prev", last);
    const std::string written = write_json(record);
    last = sha256_hex(written);
    text += written + "\n";
    if (record.string_at("type") != "run.completed") continue;
    const Json digests = result["digests"];
    result = record["data"]["result"];
    result.set("digests", digests);
    result.find("digests")->set("transcript", "sha256:" + last);
  }
  write_anew(file, text);
  write_anew(folder.out() / "result.json", result_text(result));
}

inline void write_attestation_in(const fs::path& out) {
  write_anew(out / "attestation.json", attestation_text(out, read_file(out / "result.json")));
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
  ProgramEnd verify() const {
    return run_program({.argv = {sortie_binary(), "verify", folder.out().string()}});
  }
  /// The folder with another diff, and all records, digests and the attestation made anew to fit, as
  /// somebody would who forges a run. A file that the run did not change is new, with "x\n" in it.
  void forge(const std::string& diff) const {
    const std::string digest = sha256_hex(diff);
    std::int64_t count = 0;
    forge_records([&](const std::string& type, Json& data) {
      if (type == "diff.written") {
        data.set("sha256", digest);
        data.set("files", files_of(diff, data["files"]));
        count = static_cast<std::int64_t>(data["files"].items().size());
      }
      if (type == "run.completed") {
        data.find("artifacts")->set("changes.diff", "sha256:" + digest);
        data.find("result")->find("artifacts")->set("changes.diff", "sha256:" + digest);
        data.find("result")->set("changed_files", count);
      }
    });
    write(folder.out() / "changes.diff", diff);
    write_attestation();
  }
  template <typename Change>
  void forge_records(const Change& change) const {
    forge_records_in(folder, change);
  }
  void write_attestation() const { write_attestation_in(folder.out()); }
  /// The files of a diff, as they would be recorded.
  static Json files_of(const std::string& diff, const Json& old) {
    Json files = Json::array();
    for (const auto line : split_lines(diff)) {
      constexpr std::string_view kBegin = "diff --git a/";
      if (!line.starts_with(kBegin)) continue;
      const std::string path(line.substr(kBegin.size(), (line.size() - kBegin.size() - 3) / 2));
      Json file = Json::object(
          {{"path", path},
           {"after",
            Json::object({{"mode", "100644"}, {"sha256", sha256_hex("x\n")}, {"bytes", 2}})}});
      for (const Json& one : old.items())
        if (one.string_at("path") == path) file = one;
      files.push_back(file);
    }
    return files;
  }
  static void write(const fs::path& file, const std::string& content) { write_anew(file, content); }
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
