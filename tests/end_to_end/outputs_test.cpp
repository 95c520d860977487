// What the model gets of an output that is longer than what it is shown.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>

#include "core/files/files.h"
#include "core/record/transcript_reader.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace fs = std::filesystem;

BOOST_AUTO_TEST_SUITE(outputs)

BOOST_AUTO_TEST_CASE(the_whole_of_a_long_output_is_read_in_the_run_and_gone_after_it) {
  for (const auto& caller : all_callers()) {
    BOOST_TEST_CONTEXT("by " << caller.name) {
      const RunFolder folder;
      folder.write("work/a.txt", "a\n");
      folder.commit_workspace();
      const std::string whole = (folder.out() / "state/outputs/output-1.txt").string();
      CassetteWriter cassette;
      cassette.shell({"sh", "-c", "seq 1 20000; echo $CI_WORD"}).next();
      cassette.call("read_file", Json::object({{"path", whole}, {"offset", 12345}, {"limit", 1}}))
          .shell({"sed", "-n", "6789p", whole})
          .shell({"sh", "-c", "echo x >> " + whole + " || echo refused"})
          .next();
      cassette.message("done");
      folder.write_task(cassette, "policy: auto\nexpect: {changes: any}\n");

      const ProgramEnd end = folder.run_as(caller);

      BOOST_TEST(end.status == 0, end.errors);
      const auto records = folder.records("tool.output");
      BOOST_REQUIRE(records.size() == 4u);
      const std::string shown = records[0].string_at("shown");
      BOOST_TEST(shown.starts_with("Exit code: 0\nWall time: "), shown);
      BOOST_TEST(shown.find("\nTotal output lines: 20001\nOutput:\n1\n2\n") != std::string::npos);
      BOOST_TEST(
          shown.find(" left out; the whole output is in " + whole + " …\n") != std::string::npos,
          shown);
      BOOST_TEST(folder.output(1).find("12345") != std::string::npos, folder.output(1));
      BOOST_TEST(folder.output(2) == "6789\n");
      BOOST_TEST(folder.output(3).find("refused") != std::string::npos, folder.output(3));
      BOOST_TEST(!fs::exists(folder.out() / "state"));
      BOOST_TEST(folder.artifact("changes.diff") == "");
    }
  }
}

BOOST_AUTO_TEST_CASE(an_output_longer_than_a_record_is_whole_in_a_blob_that_verify_checks) {
  for (const auto& caller : all_callers()) {
    BOOST_TEST_CONTEXT("by " << caller.name) {
      const RunFolder folder;
      CassetteWriter cassette;
      cassette
          .shell({"sh", "-c", "seq 1 500000; printf 'sk-proj-%s\\n' 0123456789abcdefABCDEF012345"})
          .next();
      cassette
          .call("exec_command", Json::object({{"cmd", "seq 1 200000"}, {"yield_time_ms", 30'000}}))
          .next();
      cassette.message("done");
      folder.write_task(cassette,
                        "policy: auto\nexpect: {changes: any}\ntools: {enable: [default, "
                        "exec_command]}\n");

      const ProgramEnd end = folder.run_as(caller);

      BOOST_TEST(end.status == 0, end.errors);
      const auto records = folder.records("tool.output");
      BOOST_REQUIRE(records.size() == 2u);
      const auto whole = [&](std::size_t call) {
        return with_blobs(records[call]["output"], folder.out() / "transcript.jsonl").text();
      };
      const auto numbers = [](int last) {
        std::string text;
        for (int i = 1; i <= last; ++i) text += std::to_string(i) + "\n";
        return text;
      };
      const std::string first = whole(0);
      BOOST_TEST((first.substr(0, numbers(500'000).size()) == numbers(500'000)));
      BOOST_TEST(first.find("0123456789abcdefABCDEF") == std::string::npos);
      BOOST_TEST(first.find("[REDACTED:") != std::string::npos);
      BOOST_TEST((whole(1) == numbers(200'000)));
      BOOST_TEST(records[0]["output"].string_at("head").starts_with("1\n2\n"));
      BOOST_TEST(!fs::exists(folder.out() / "state"));
      const VerifyResult verified = verify_run(folder.out());
      BOOST_TEST(verified.ok, verified.problem);
      BOOST_TEST(verified.blobs == 2u);
      const std::string name = records[1]["output"].string_at("blob");
      write_file(folder.out() / "blobs" / name, numbers(199'999) + "200001\n");
      BOOST_TEST(verify_run(folder.out()).problem.ends_with("blobs/" + name + " was changed"));
    }
  }
}

BOOST_AUTO_TEST_CASE(what_a_session_has_printed_is_read_and_searched_in_its_files) {
  for (const auto& caller : all_callers()) {
    BOOST_TEST_CONTEXT("by " << caller.name) {
      const RunFolder folder;
      const std::string whole = (folder.out() / "state/outputs/output-1.txt").string();
      CassetteWriter cassette;
      cassette
          .call("exec_command",
                Json::object({{"cmd", "read x; seq 1 20000; read y"}, {"yield_time_ms", 250}}))
          .next();
      // One wait has all of it: it ends when the session does.
      cassette
          .call("write_stdin",
                Json::object({{"session_id", 1}, {"chars", "\n\n"}, {"yield_time_ms", 30'000}}))
          .next();
      cassette.call("read_file", Json::object({{"path", whole}, {"offset", 12345}, {"limit", 1}}))
          .call("search_files", Json::object({{"pattern", "^1234[56]$"}, {"path", whole}}))
          .shell({"sed", "-n", "6789p", whole})
          .next();
      cassette.message("done");
      folder.write_task(cassette,
                        "policy: auto\nexpect: {changes: any}\ntools: {enable: [exec_command, "
                        "read_file, search_files, shell]}\n");

      const ProgramEnd end = folder.run_as(caller);

      BOOST_TEST(end.status == 0, end.errors);
      const auto records = folder.records("tool.output");
      BOOST_REQUIRE(records.size() == 5u);
      const std::string shown = records[1].string_at("shown");
      BOOST_TEST(shown.find("\nTotal output lines: 20000\nOutput:\n1\n2\n") != std::string::npos);
      BOOST_TEST(
          shown.find(" left out; the whole output is in " + whole + " …\n") != std::string::npos,
          shown);
      BOOST_TEST(folder.output(2).find("12345") != std::string::npos, folder.output(2));
      BOOST_TEST(folder.output(3).find("12345") != std::string::npos, folder.output(3));
      BOOST_TEST(folder.output(3).find("12346") != std::string::npos, folder.output(3));
      BOOST_TEST(folder.output(4) == "6789\n");
      BOOST_TEST(!fs::exists(folder.out() / "state"));
    }
  }
}

BOOST_AUTO_TEST_CASE(listings_hold_the_names_that_the_user_has) {
  for (const auto& caller : all_callers()) {
    BOOST_TEST_CONTEXT("by " << caller.name) {
      const RunFolder folder;
      folder.write("work/a.txt", "a\n");
      folder.write("work/.github/x", "a\n");
      folder.commit_workspace();
      CassetteWriter cassette;
      cassette.call("list_dir", Json::object())
          .call("search_files", Json::object({{"pattern", "nothing"}}))
          .next();
      cassette.message("done");
      folder.write_task(cassette, "policy: auto\nexpect: {changes: any}\n");

      const ProgramEnd end = folder.run_as(caller);

      BOOST_TEST(end.status == 0, end.errors);
      BOOST_TEST(folder.output(0) == ".git/\n.github/\na.txt\n");
      const std::string shown = folder.records("tool.output")[1].string_at("shown");
      BOOST_TEST(shown.find("with a dot") == std::string::npos, shown);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
