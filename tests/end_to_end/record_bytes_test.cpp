#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "ci/run_check.h"
#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/files/files.h"
#include "core/json/json.h"
#include "core/text/base64.h"
#include "tests/support/npm_packages.h"
#include "tests/support/run_folder.h"

// What `sortie verify` finds in a run's folder, byte by byte, and against the base.

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

namespace {

ProgramEnd verify(const fs::path& out, const std::vector<std::string>& more = {}) {
  std::vector<std::string> argv = {sortie_binary(), "verify", out.string()};
  argv.insert(argv.end(), more.begin(), more.end());
  return run_program({.argv = argv});
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A finished run with changes of all kinds: by commands and patches, in clean, dirty and new files.
struct ManyChanges : RunFolder {
  explicit ManyChanges(const std::string& more = "seq 1 400000") {
    write("work/clean.txt", "one\ntwo\nthree\n");
    write("work/dirty.txt", "one\n");
    write("work/gone.txt", "gone\n");
    write("work/old.txt", "the same line\nagain and again\nto be moved\n");
    write("work/script.sh", "echo\n");
    write("work/bytes.bin", std::string("\0\1\2\3", 4));
    commit_workspace();
    write("work/dirty.txt", "one\nuncommitted\n");
    CassetteWriter cassette;
    cassette
        .shell({"sh", "-c",
                "echo four >> clean.txt; echo more >> dirty.txt; rm gone.txt; mv old.txt new.txt; "
                "chmod +x script.sh; printf '\\4\\5\\0' > bytes.bin; ln -s clean.txt link; " +
                    more})
        .patch("*** Begin Patch\n*** Add File: added.txt\n+added\n*** End Patch\n")
        .next()
        .message("done");
    write_task(cassette, "policy: auto\nverify: {commands: ['grep four clean.txt']}\n");
  }
};

bool every_byte() {
  const char* all = std::getenv("SORTIE_TEST_ALL_BYTES");
  return all != nullptr && *all != '\0';
}

/// Some places of a file, among them its first and last.
std::vector<std::size_t> places_in(std::size_t size, std::size_t count) {
  std::vector<std::size_t> places;
  const std::size_t step = std::max<std::size_t>(1, size / count);
  for (std::size_t at = 0; at < size; at += step) places.push_back(at);
  if (size > 0 && places.back() != size - 1) places.push_back(size - 1);
  return places;
}

/// The files of a run's folder that a run wrote.
std::vector<fs::path> files_in(const fs::path& out) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(out))
    if (entry.is_regular_file() && entry.path().filename() != ".lock" &&
        entry.path().filename() != ".gitignore")
      files.push_back(entry.path());
  return files;
}

/// Without waiting for the disk.
void overwrite(const fs::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

/// What `sortie verify` says, without a process: 8 and the problem, or 0.
std::pair<int, std::string> verify_here(const fs::path& out) try {
  const VerifyResult record = check_run(out).record;
  return {record.ok ? 0 : 8, record.problem};
} catch (const Error& error) {
  return {static_cast<int>(error.code()), error.what()};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(record_bytes)

BOOST_AUTO_TEST_CASE(one_altered_byte_anywhere_is_named) {
  const ManyChanges folder;
  const ProgramEnd end = folder.run();
  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  const ProgramEnd good = verify(folder.out());
  BOOST_REQUIRE_MESSAGE(good.status == 0, good.errors);

  const std::vector<fs::path> files = files_in(folder.out());
  BOOST_TEST(files.size() >= 6);  // transcript, blob, diff, result, message, attestation

  for (const fs::path& file : files) {
    const std::string bytes = read_file(file);
    for (const std::size_t at : places_in(bytes.size(), 12)) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ (at % 2 == 0 ? 1 : 0x20));
      write_file(file, changed);
      const ProgramEnd found = verify(folder.out());
      const std::string name = file.filename().string();
      BOOST_TEST(found.status == 8, name << " at " << at << ": " << found.output);
      // A change of the transcript's last record shows where result.json names its digest.
      BOOST_TEST((holds(found.errors, name) || holds(found.errors, "transcript")),
                 name << " at " << at << ": " << found.errors);
    }
    write_file(file, bytes);
  }
  BOOST_TEST(verify(folder.out()).status == 0);
}

// All bytes of all files with SORTIE_TEST_ALL_BYTES=1, each with several others in its place.
BOOST_AUTO_TEST_CASE(no_byte_of_any_file_is_without_a_guard) {
  const ManyChanges folder("echo some output");
  const ProgramEnd end = folder.run();
  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  BOOST_REQUIRE(verify_here(folder.out()).first == 0);
  std::size_t tried = 0;

  for (const fs::path& file : files_in(folder.out())) {
    const std::string bytes = read_file(file);
    const std::string name = file.filename().string();
    for (const std::size_t at : places_in(bytes.size(), every_byte() ? bytes.size() : 30)) {
      const int others[] = {0x01, 0x20, 0x80, 0x10, bytes[at] ^ ' ', bytes[at] ^ '\n'};
      const std::size_t tries = every_byte() ? 2 : std::size(others);
      for (std::size_t i = 0; i < tries; ++i) {
        const int bits = others[(at + i) % std::size(others)];
        if (bits == 0) continue;
        std::string changed = bytes;
        changed[at] = static_cast<char>(changed[at] ^ bits);
        overwrite(file, changed);
        const auto [status, said] = verify_here(folder.out());
        ++tried;
        if (status != 8 || !(holds(said, name) || holds(said, "transcript")))
          BOOST_ERROR(name << " at " << at << " with " << bits << ": " << status << " " << said);
      }
    }
    // A byte more, a byte less.
    for (const std::string& changed : {bytes + "\n", bytes + " ", bytes.substr(1),
                                       bytes.substr(0, bytes.size() - 1), "\n" + bytes}) {
      overwrite(file, changed);
      BOOST_TEST(verify_here(folder.out()).first == 8, name << " of " << changed.size());
    }
    overwrite(file, bytes);
  }

  BOOST_TEST(verify_here(folder.out()).first == 0);
  BOOST_TEST_MESSAGE(tried << " bytes were tried");
}

BOOST_AUTO_TEST_CASE(the_diff_on_the_recorded_base_gives_the_recorded_end) {
  const ManyChanges folder;
  BOOST_REQUIRE(folder.run().status == 0);

  // From the record alone: what the commit lacks is in it.
  const ProgramEnd alone = verify(folder.out());
  BOOST_TEST(alone.status == 0, alone.errors);
  BOOST_TEST(holds(alone.output, "changes.diff: applied to the recorded base, "), alone.output);
  BOOST_TEST(holds(alone.output, "the others need commit "), alone.output);

  // With any clone, wherever its own files stand.
  const ProgramEnd cloned = run_program(
      {.argv = {"git", "clone", "-q", folder.workspace().string(), folder.path("clone").string()}});
  BOOST_REQUIRE_MESSAGE(cloned.status == 0, cloned.errors);
  folder.write("clone/clean.txt", "something else\n");
  const ProgramEnd with = verify(folder.out(), {"-C", folder.path("clone").string()});
  BOOST_TEST(with.status == 0, with.errors);
  const Json files = folder.records("diff.written").at(0)["files"];
  const std::string count = std::to_string(files.items().size());
  BOOST_TEST(holds(with.output, count + " of " + count + " files give the recorded end"),
             with.output);
  for (const Json& file : files.items()) {
    const std::string path = file.string_at("path");
    BOOST_TEST(file["in_commit"].boolean() ==
                   (path != "dirty.txt" && path != "link" && path != "added.txt"),
               path);
    if (path == "dirty.txt")
      BOOST_TEST(base64_decoded(file.string_at("base_content")) == "one\nuncommitted\n");
  }

  // A repository that lacks the commit can't be used, and one is not guessed.
  folder.write("other/a.txt", "a\n");
  BOOST_TEST(verify(folder.out(), {"-C", folder.path("other").string()}).status == 2);
  run_program({.argv = {"git", "-C", folder.path("other").string(), "init", "-q"}});
  const ProgramEnd lacks = verify(folder.out(), {"-C", folder.path("other").string()});
  BOOST_TEST(lacks.status == 2);
  BOOST_TEST(holds(lacks.errors, "fetch it first"), lacks.errors);
}

BOOST_AUTO_TEST_CASE(a_folder_without_git_is_proved_from_the_record) {
  const RunFolder folder;
  folder.write("work/a.txt", "a\n");
  folder.write("work/empty.txt", "");
  CassetteWriter cassette;
  cassette.shell({"sh", "-c", "echo b >> a.txt; echo x > empty.txt; echo c > c.txt"})
      .next()
      .message("done");
  folder.write_task(cassette, "policy: auto\n");
  BOOST_REQUIRE(folder.run().status == 0);

  const ProgramEnd end = verify(folder.out());

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(holds(end.output, "3 of 3 files give the recorded end"), end.output);
}

BOOST_AUTO_TEST_CASE(changes_of_commands_are_recorded_file_by_file) {
  const RunFolder folder;
  folder.write("work/a.txt", "a\n");
  folder.write("work/b.txt", "b\n");
  folder.commit_workspace();
  CassetteWriter cassette;
  cassette.shell({"sh", "-c", "echo x >> a.txt; rm b.txt; printf new > c.txt; chmod 755 c.txt"})
      .next()
      .shell({"sh", "-c", "echo y >> a.txt; ln -s a.txt l; head -c 9000000 /dev/zero > big"})
      .patch("*** Begin Patch\n*** Update File: c.txt\n@@\n-new\n+newer\n*** End Patch\n")
      .next()
      .shell({"sh", "-c", "for i in $(seq 1 300); do echo $i > f$i; done"})
      .next()
      .message("done");
  folder.write_task(cassette, "policy: auto\n");
  const ProgramEnd end = folder.run();
  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);

  const auto changes = folder.records("file.changed");
  const auto sha = [](const std::string& text) { return Json(sha256_hex(text)); };
  const struct {
    const char* path;
    const char* kind;
    const char* mode;
    Json before;
    Json after;
  } rows[] = {
      {"a.txt", "update", "0644", sha("a\n"), sha("a\nx\n")},
      {"b.txt", "delete", "0644", sha("b\n"), {}},
      {"c.txt", "add", "0755", {}, sha("new")},
      {"a.txt", "update", "0644", sha("a\nx\n"), sha("a\nx\ny\n")},
      {"big", "add", "0644", {}, {}},
      {"l", "add", "0777", {}, sha("a.txt")},
  };
  BOOST_REQUIRE(changes.size() > std::size(rows));
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    BOOST_TEST_CONTEXT(rows[i].path) {
      BOOST_TEST(changes[i].string_at("path") == rows[i].path);
      BOOST_TEST(changes[i].string_at("kind") == rows[i].kind);
      BOOST_TEST(changes[i].string_at("mode") == rows[i].mode);
      BOOST_TEST((changes[i]["sha256_before"] == rows[i].before));
      BOOST_TEST((changes[i]["sha256_after"] == rows[i].after));
      BOOST_TEST(changes[i].string_at("by") == "command");
    }
  }
  BOOST_TEST(changes[4].string_at("not_read") == "larger than 8 MiB");
  BOOST_TEST(changes[5].string_at("link_target") == "a.txt");
  // The patch speaks for itself; then come the first hundred of three hundred.
  BOOST_TEST(changes[6].string_at("path") == "c.txt");
  BOOST_TEST(changes[6].find("by") == nullptr);
  BOOST_TEST(changes.size() == 7u + 100u);
}

BOOST_AUTO_TEST_CASE(a_record_made_anew_is_found_by_its_anchor) {
  const RunFolder folder;
  folder.write("work/a.txt", "a\n");
  folder.commit_workspace();
  CassetteWriter cassette;
  cassette.shell({"sh", "-c", "echo b > a.txt"}).next().message("done");
  folder.write_task(cassette, "policy: auto\n");
  const std::string anchor = folder.path("anchor.jsonl").string();
  const ProgramEnd end = folder.run({"--anchor", anchor});
  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  const ProgramEnd good = verify(folder.out(), {"--anchor", anchor});
  BOOST_TEST(good.status == 0, good.errors);
  BOOST_TEST(holds(good.output, "the anchor has the same record"), good.output);
  // The start, two turns, the end.
  const std::string lines = read_file(anchor);
  BOOST_TEST(std::count(lines.begin(), lines.end(), '\n') == 4);

  // The same run again is a whole and valid record, and another one.
  const std::string id = folder.result().string_at("run_id");
  fs::remove_all(folder.out());
  BOOST_REQUIRE(folder.run().status == 0);
  BOOST_TEST(verify(folder.out()).status == 0);
  const ProgramEnd other = verify(folder.out(), {"--anchor", anchor});
  BOOST_TEST(other.status == 8);
  BOOST_TEST(holds(other.errors, "has no line of run"), other.errors);
  std::string forged = lines;
  const std::string now = folder.result().string_at("run_id");
  for (std::size_t at = forged.find(id); at != forged.npos; at = forged.find(id, at))
    forged.replace(at, id.size(), now);
  write_file(folder.path("forged.jsonl"), forged);
  const ProgramEnd found = verify(folder.out(), {"--anchor", folder.path("forged.jsonl").string()});
  BOOST_TEST(found.status == 8);
  BOOST_TEST(holds(found.errors, "forged.jsonl:1: record 0 of the run was another one"),
             found.errors);
}

BOOST_AUTO_TEST_CASE(an_end_that_was_not_anchored_is_found) {
  const RunFolder folder;
  folder.write("work/a.txt", "a\n");
  folder.commit_workspace();
  CassetteWriter cassette;
  cassette.shell({"sh", "-c", "echo b > a.txt"}).next().message("done");
  folder.write_task(cassette, "policy: auto\n");
  const std::string anchor = folder.path("anchor.jsonl").string();
  BOOST_REQUIRE(folder.run({"--anchor", anchor, "--max-turns", "1"}).status == 4);
  const auto check = [&] { return verify(folder.out(), {"--anchor", anchor}); };
  BOOST_TEST(check().status == 0);

  // The rest of the run goes by the anchor, as a rest that somebody made up would.
  BOOST_REQUIRE(folder.run().status == 0);
  const ProgramEnd found = check();
  BOOST_TEST(found.status == 8);
  BOOST_TEST(holds(found.errors, "was not anchored: what follows may have been made anew"),
             found.errors);
}

BOOST_AUTO_TEST_CASE(an_anchored_run_that_was_killed_behind_its_end_is_anchored_by_the_next) {
  const RunFolder folder;
  folder.write("work/a.txt", "a\n");
  folder.commit_workspace();
  CassetteWriter cassette;
  cassette.shell({"sh", "-c", "echo b > a.txt"}).next().message("done");
  folder.write_task(cassette, "policy: auto\n");
  const std::string anchor = folder.path("anchor.jsonl").string();
  BOOST_REQUIRE(folder.run({"--anchor", anchor}).status == 0);
  std::string lines = read_file(anchor);
  lines.resize(lines.rfind('\n', lines.size() - 2) + 1);
  write_file(anchor, lines);
  Json running = folder.result();
  running.set("status", "running");
  write_file(folder.out() / "result.json", write_json(running) + "\n");
  fs::create_directory(folder.out() / "state");
  BOOST_REQUIRE(verify(folder.out(), {"--anchor", anchor}).status == 8);

  const ProgramEnd end = folder.run({"--anchor", anchor});

  BOOST_TEST(end.status == 0, end.errors);
  const ProgramEnd good = verify(folder.out(), {"--anchor", anchor});
  BOOST_TEST(good.status == 0, good.errors);
}

BOOST_AUTO_TEST_CASE(an_anchor_is_a_file_that_grows_a_pipe_or_a_descriptor) {
  const RunFolder folder;
  folder.write("work/a.txt", "a\n");
  folder.commit_workspace();
  CassetteWriter cassette;
  cassette.shell({"sh", "-c", "ls -l /proc/self/fd; echo b > a.txt"}).next().message("done");
  folder.write_task(cassette, "policy: auto\n");
  const std::string run = "'" + sortie_binary() + "' run task.yaml --out out --json --fresh";
  const struct {
    const char* name;
    std::string script;
  } rows[] = {
      {"a file that holds others",
       "echo '{\"anchor\":1,\"run_id\":\"x\",\"seq\":0,\"sha256\":\"\"}' "
       "> anchor; " +
           run + " --anchor anchor"},
      {"a pipe", "rm -f anchor; mkfifo pipe; cat pipe > anchor & " + run +
                     " --anchor pipe; code=$?; wait; exit $code"},
      {"a descriptor", "rm -f anchor; " + run + " --anchor 7 7> anchor"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      ProgramStart start = folder.start();
      start.argv = {"sh", "-c", "cd '" + folder.path("").string() + "' && " + row.script};

      const ProgramEnd end = run_program(start);

      BOOST_TEST(end.status == 0, end.errors);
      const ProgramEnd good = verify(folder.out(), {"--anchor", folder.path("anchor").string()});
      BOOST_TEST(good.status == 0, good.errors);
      BOOST_TEST(!holds(folder.output(0), "anchor"), folder.output(0));
    }
  }
}

BOOST_AUTO_TEST_CASE(an_anchor_that_can_not_be_written_is_refused_or_ends_the_run) {
  const RunFolder folder;
  folder.write("work/a.txt", "a\n");
  folder.commit_workspace();
  CassetteWriter cassette;
  cassette.shell({"sh", "-c", "echo b > a.txt"}).next().message("done");
  folder.write_task(cassette, "policy: auto\n");
  for (const std::string& anchor :
       {std::string("1"), std::string("2"), std::string("77"), folder.path("none/a").string(),
        folder.path("work/anchor").string(), folder.path("out/anchor").string(),
        folder.path("task.yaml").string(), folder.path("work").string()}) {
    BOOST_TEST_CONTEXT(anchor) {
      const ProgramEnd end = folder.run({"--anchor", anchor});
      BOOST_TEST(end.status == 2, end.errors);
      BOOST_TEST(holds(end.errors, "--anchor"), end.errors);
    }
  }
  const ProgramEnd full = folder.run({"--anchor", "/dev/full"});
  BOOST_TEST(full.status == 7, full.errors);
  BOOST_TEST(holds(full.errors, "--anchor"), full.errors);
  BOOST_TEST(!fs::exists(folder.out() / "changes.diff"));
}

BOOST_AUTO_TEST_CASE(a_success_leaves_an_attestation_of_all_its_artifacts) {
  const ManyChanges folder;
  BOOST_REQUIRE(folder.run().status == 0);

  const Json statement = parse_json(folder.artifact("attestation.json"));

  BOOST_TEST(statement.string_at("_type") == "https://in-toto.io/Statement/v1");
  BOOST_TEST(statement.string_at("predicateType") == "https://slsa.dev/provenance/v1");
  std::vector<std::string> names;
  for (const Json& subject : statement["subject"].items()) {
    const std::string name = subject.string_at("name");
    names.push_back(name);
    BOOST_TEST(subject["digest"].string_at("sha256") == sha256_hex(folder.artifact(name)), name);
  }
  BOOST_TEST((names == std::vector<std::string>{"changes.diff", "last-message.txt", "report.html",
                                                "summary.md", "result.json", "transcript.jsonl"}));
  const Json& built = statement["predicate"]["buildDefinition"];
  const Json& base = built["resolvedDependencies"].items().at(0);
  BOOST_TEST(base["digest"].string_at("gitCommit") == folder.result().string_at("head_commit"));
  const Json& verified = statement["predicate"]["runDetails"]["byproducts"].items().at(0);
  BOOST_TEST(verified["annotations"]["verified"].boolean());

  fs::remove(folder.out() / "attestation.json");
  BOOST_TEST(holds(verify(folder.out()).errors, "attestation.json is missing"));
}

BOOST_AUTO_TEST_CASE(sigstore_verifies_an_attestation_that_it_signed,
                     *boost::unit_test::precondition(npm_is_installed)) {
  const ManyChanges folder;
  BOOST_REQUIRE(folder.run().status == 0);
  const NpmPackages packages = npm_packages();
  BOOST_REQUIRE_MESSAGE(fs::exists(packages.folder / "node_modules/@sigstore/verify"),
                        "ci/setup tests installs the packages anew");

  const ProgramEnd end = run_program(
      {.argv = {packages.node, SORTIE_SOURCE_DIR "/tests/support/npm/verify_attestation.mjs",
                packages.folder.string(), folder.out().string()}});

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(end.output ==
             "changes.diff\nlast-message.txt\nreport.html\nsummary.md\nresult.json\n"
             "transcript.jsonl\n");
}

BOOST_AUTO_TEST_CASE(a_failure_leaves_no_attestation) {
  const RunFolder folder;
  folder.write("work/a.txt", "a\n");
  folder.commit_workspace();
  CassetteWriter cassette;
  cassette.shell({"sh", "-c", "echo b > a.txt"}).next().message("done");
  folder.write_task(cassette, "policy: auto\nverify: {commands: ['false'], rounds: 0}\n");
  BOOST_REQUIRE(folder.run().status == 1);

  BOOST_TEST(!fs::exists(folder.out() / "attestation.json"));
  BOOST_TEST(folder.result()["attestation"].is_null());
  BOOST_TEST(verify(folder.out()).status == 0);
  folder.write("out/attestation.json", "{}");
  BOOST_TEST(holds(verify(folder.out()).errors, "attestation.json was added"));
}

BOOST_AUTO_TEST_SUITE_END()
