// Which programs of the caller's PATH commands find.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>

#include "core/files/files.h"
#include "core/json/json.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

namespace fs = std::filesystem;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A program `NAME` in `FOLDER/bin` that needs what lies in `FOLDER/lib`.
void install(const RunFolder& folder, const std::string& place, const std::string& name) {
  folder.write(place + "/lib/word", name + " works\n");
  folder.write(place + "/bin/" + name, "#!/bin/sh\ncat \"${0%/bin/*}/lib/word\"\n");
  fs::permissions(folder.path(place + "/bin/" + name), fs::perms(0755));
}

ProgramStart with_path(ProgramStart start, const RunFolder& folder) {
  start.environment["PATH"] = folder.path("work/.venv/bin").string() + ":" +
                              folder.path("tools/bin").string() + ":" +
                              folder.path("plain").string() + ":/usr/bin:/bin";
  start.environment["VIRTUAL_ENV"] = folder.path("work/.venv").string();
  return start;
}

/// A workspace with a virtual environment, an installation beside it, and a folder in /tmp.
void make_places(const RunFolder& folder) {
  install(folder, "work/.venv", "inner");
  folder.write("work/.venv/pyvenv.cfg", "home = /usr/bin\n");
  install(folder, "tools", "outer");
  folder.write("plain/x", "");
  folder.write("work/a.txt", "a\n");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(path)

BOOST_AUTO_TEST_CASE(an_activated_environment_and_installations_work_under_full_auto) {
  for (const Caller& caller : all_callers()) {
    BOOST_TEST_CONTEXT(caller.name) {
      const RunFolder folder;
      make_places(folder);
      folder.write_task(
          CassetteWriter()
              .shell({"inner"})
              .shell({"outer"})
              .shell({"sh", "-c", "\"$VIRTUAL_ENV/bin/inner\""})
              .shell({"sh", "-c", "echo x > " + folder.path("tools/lib/new").string()})
              .next()
              .message("done"),
          "policy: auto\nexpect: {changes: any}\nverify: [inner]\n");

      const ProgramEnd end = folder.run_as(caller, with_path(folder.start(), folder));

      BOOST_TEST(end.status == 0, end.errors);
      BOOST_TEST(folder.output(0) == "inner works\n");
      BOOST_TEST(folder.output(1) == "outer works\n");
      BOOST_TEST(folder.output(2) == "inner works\n");
      BOOST_TEST(!folder.records("tool.output")[3]["success"].boolean(true));
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_left_out_is_told_with_what_would_keep_it) {
  const RunFolder folder;
  make_places(folder);
  folder.write_task(CassetteWriter().shell({"inner"}).next().message("done"),
                    "policy: strict\nexpect: {changes: any}\n");

  const ProgramEnd end = run_program(with_path(folder.start(), folder));

  BOOST_TEST(end.status == 0, end.errors);
  const std::string inner = "PATH: " + folder.path("work/.venv/bin").string() + " is left out: ";
  BOOST_TEST(has(end.errors, inner), end.errors);
  BOOST_TEST(has(write_json(folder.result()["warnings"]), inner));
  BOOST_TEST(!has(end.errors, folder.path("tools/bin").string()), end.errors);
  BOOST_TEST(!folder.records("tool.output")[0]["success"].boolean(true));
}

BOOST_AUTO_TEST_CASE(doctor_lists_the_path_inside) {
  const RunFolder folder;
  make_places(folder);
  for (const std::string policy : {"strict", "auto"}) {
    ProgramStart start = with_path(folder.start(), folder);
    start.argv = {sortie_binary(), "doctor", "--json", "--policy", policy};
    start.folder = folder.workspace();

    const Json path = parse_json(run_program(start).output)["path"];

    const std::string folders = write_json(path["folders"]);
    const std::string left_out = write_json(path["left_out"]);
    const std::string inner = folder.path("work/.venv/bin").string();
    BOOST_TEST(has(folders, folder.path("tools/bin").string()), folders);
    BOOST_TEST(has(folders, inner) == (policy == "auto"), folders);
    BOOST_TEST(has(left_out, inner) == (policy == "strict"), left_out);
  }
}

BOOST_AUTO_TEST_SUITE_END()
