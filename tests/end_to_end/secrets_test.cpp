#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/secrets/encodings.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

/// Made up, with all that codings change.
const std::string kSecret = "s3cr3t/of+the \"run\" & 'more'=42";
const std::string kHeaderSecret = "h3ader-t0ken-of-the-repository";
const std::string kPatternSecret = "ACME-48151623";

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Everything that a run leaves and prints; not the workspace, which is the user's.
std::string all_written(const RunFolder& folder, const ProgramEnd& end) {
  std::string all = end.printed();
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.out()))
    if (entry.is_regular_file()) all += read_file(entry.path()) + "\n";
  return all;
}

void check_no_coding_of(const std::string& value, const std::string& text) {
  BOOST_TEST(!holds(text, value));
  // What no escape changes of it.
  BOOST_TEST(!holds(
      text, value.substr(0, value.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789"))));
  const Codings codings = codings_of(value);
  BOOST_TEST(!holds(text, codings.spaced));
  for (const auto* list : {&codings.characters, &codings.base64, &codings.hex})
    for (const std::string& coded : *list)
      BOOST_TEST(!holds(text, coded), "a coding of a secret was written: " << coded);
}

std::string add_file(const std::string& name, const std::string& line) {
  return "*** Begin Patch\n*** Add File: " + name + "\n+" + line + "\n*** End Patch";
}

CassetteWriter printing_all_codings() {
  const std::string python = R"(
import base64, json, os, quopri, sys, time, urllib.parse, html, shlex
s = open("secret.txt").read().rstrip("\n")
b = s.encode()
for text in [s, s + s, b.hex(), b.hex().upper(), json.dumps(s), json.dumps(json.dumps(s)),
             urllib.parse.quote(s), urllib.parse.quote(s, safe=""), urllib.parse.quote_plus(s),
             html.escape(s), shlex.quote(s), repr(s), ascii(s), repr(b), s.replace('"', '""'),
             urllib.parse.quote(urllib.parse.quote(s)), quopri.encodestring(b, True).decode(),
             json.dumps(base64.encodebytes(b * 3).decode()), b.hex(":"), b.hex(" "),
             "".join("&#%05d;" % c for c in b), "".join("\\%03o" % c for c in b),
             "".join("\\u%04X" % c for c in b), s[:9] + "\n" + s[9:],
             base64.b64encode(base64.b64encode(b)).decode(),
             base64.b64encode(s.encode("utf-16-le")).decode(),
             base64.encodebytes(b * 5).decode(), base64.urlsafe_b64encode(b"xy" + b).decode()]:
    print("<" + text + ">")
for shift in range(3):
    print(base64.b64encode(b"x" * shift + b + b"y").decode())
sys.stdout.flush()
for c in s:
    sys.stdout.write(c); sys.stdout.flush(); time.sleep(0)
print()
sys.stderr.write(s + "\n")
)";
  CassetteWriter cassette;
  cassette.shell({"/usr/bin/python3", "-c", python}).next();
  cassette.shell({"cat", "secret.txt", "other.txt", ".git/config"}).next();
  cassette.shell({"cat", "no-such-file-" + kPatternSecret}).next();
  cassette.call("read_file", Json::object({{"path", "secret.txt"}})).next();
  cassette.shell({"base64", "secret.txt"}).shell({"od", "-An", "-tx1", "other.txt"}).next();
  return cassette.patch(add_file("b.txt", "nothing in it")).next();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(secrets)

BOOST_AUTO_TEST_CASE(secrets_that_tools_print_are_nowhere_in_what_a_run_leaves) {
  for (const Caller& caller : all_callers()) {
    BOOST_TEST_CONTEXT(caller.name) {
      const RunFolder folder;
      folder.write("work/secret.txt", kSecret + "\n");
      folder.write("work/other.txt", kPatternSecret + " and " + kHeaderSecret + "\n");
      folder.write("work/AGENTS.md", "It is " + kPatternSecret + " or " + kSecret + ".\n");
      folder.commit_workspace();
      const auto config = folder.workspace() / ".git/config";
      write_file(config, read_file(config) +
                             "[remote \"o\"]\n\turl = https://ada:url-p4ssword-1@example.com/x\n"
                             "[http \"https://example.com/\"]\n\textraheader = PRIVATE-TOKEN: " +
                             kHeaderSecret + "\n");
      folder.write("policy.yaml",
                   "version: 1\nextends: auto\nredact: {patterns: ['ACME-[0-9]{8}']}\n");
      folder.write_task(printing_all_codings().message("done"), "policy: policy.yaml\n");
      ProgramStart start = folder.start({"--verbose"});
      start.environment["MY_TOKEN"] = kSecret;

      const ProgramEnd end = folder.run_as(caller, start);

      BOOST_TEST(end.status == 0, end.errors);
      const std::string all = all_written(folder, end);
      check_no_coding_of(kSecret, all);
      check_no_coding_of(kHeaderSecret, all);
      BOOST_TEST(!holds(all, "url-p4ssword-1"));
      BOOST_TEST(holds(folder.output(0), "<[REDACTED:MY_TOKEN]>"), folder.output(0));
      BOOST_TEST(holds(folder.output(1), "[REDACTED:pattern-1] and [REDACTED:git-config]"),
                 folder.output(1));
      // Commands see the configuration without it.
      BOOST_TEST(holds(folder.output(1), "https://example.com/x"), folder.output(1));
    }
  }
}

BOOST_AUTO_TEST_CASE(tokens_in_tool_output_are_replaced_and_the_models_own_words_are_kept) {
  const std::string token = "gh" + std::string("p_") + std::string(20, 'a') + "0123456789012345";
  const RunFolder folder;
  folder.write("work/a.txt", "token " + token + "\npassword=hunter22\n");
  folder.write_task(CassetteWriter()
                        .shell({"cat", "a.txt"})
                        .call("read_file", Json::object({{"path", "a.txt"}}))
                        .shell({"echo", token})
                        .next()
                        .patch(add_file("b.txt", "x"))
                        .next()
                        .message("done with password=hunter22"),
                    "policy: auto\n");

  const ProgramEnd end = folder.run({"--verbose"});

  BOOST_TEST(end.status == 0, end.errors);
  for (const std::size_t call : {0u, 1u}) {
    BOOST_TEST(holds(folder.output(call), "token [REDACTED:github-token]"), folder.output(call));
    BOOST_TEST(holds(folder.output(call), "password=hunter22"), folder.output(call));
  }
  // The call as the model made it is in the record; what people read has neither.
  BOOST_TEST(holds(folder.artifact("transcript.jsonl"), token));
  BOOST_TEST(holds(folder.artifact("last-message.txt"), "password=hunter22"));
  BOOST_TEST(!holds(end.errors, token), end.errors);
  BOOST_TEST(!holds(end.errors, "hunter22"), end.errors);
}

BOOST_AUTO_TEST_CASE(what_must_not_leave_with_a_diff_or_message_ends_the_run_or_is_told) {
  const std::string value = "s3cr3t-of-the-leak-test";
  const std::string base64 = "czNjcjN0LW9mLXRoZS1sZWFrLXRlc3Q=";
  const struct {
    const char* name;
    CassetteWriter cassette;
    std::string told;
  } rows[] = {
      {"a value", CassetteWriter().patch(add_file("b.txt", "1\n+" + value)).next().message("done"),
       "the value of MY_TOKEN at b.txt:2"},
      {"coded", CassetteWriter().patch(add_file("b.txt", base64)).next().message("done"),
       "the value of MY_TOKEN at b.txt:1"},
      {"coded over two lines",
       CassetteWriter()
           .patch(add_file("b.txt", base64.substr(0, 12) + "\n+" + base64.substr(12)))
           .next()
           .message("done"),
       "the value of MY_TOKEN at b.txt:1"},
      {"a binary file",
       CassetteWriter()
           .shell({"sh", "-c", "printf '\\000\\001" + value + "' > b.bin"})
           .next()
           .message("done"),
       "the value of MY_TOKEN at b.bin (binary)"},
      {"a mark of ours",
       CassetteWriter()
           .patch(add_file("b.txt", "x = '[REDACTED:MY_TOKEN]'"))
           .next()
           .message("done"),
       "the mark of a redacted secret at b.txt:1"},
      {"the message",
       CassetteWriter()
           .patch(add_file("b.txt", "b"))
           .next()
           .message("it is " + value)
           .next()
           .message("it is still " + value),
       "the final message holds the value of MY_TOKEN"},
  };
  for (const auto& row : rows) {
    for (const std::string on_leak : {"fail", "report"}) {
      BOOST_TEST_CONTEXT(row.name << ", on_leak: " << on_leak) {
        const bool fails = on_leak == "fail";
        const RunFolder folder;
        folder.write("policy.yaml",
                     "version: 1\nextends: auto\nredact: {on_leak: " + on_leak + "}\n");
        folder.write_task(row.cassette, "policy: policy.yaml\n");
        ProgramStart start = folder.start();
        start.environment["MY_TOKEN"] = value;

        const ProgramEnd end = run_program(start);

        BOOST_TEST(end.status == (fails ? 9 : 0), end.errors);
        BOOST_TEST(folder.result().string_at("status") == (fails ? "leak" : "success"));
        BOOST_TEST(holds(end.errors, row.told), end.errors);
        BOOST_TEST(holds(folder.artifact("result.json"), row.told));
        BOOST_TEST(!holds(end.errors, value));
        BOOST_TEST(std::filesystem::exists(folder.out() / "changes.diff") == !fails);
        if (fails) {
          // Nothing of it is left beside the refusal either.
          check_no_coding_of(value, all_written(folder, end));
        } else {
          BOOST_TEST(!folder.result()["warnings"].items().empty());
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_message_with_a_secret_is_asked_for_again_before_the_run_fails_for_it) {
  const std::string value = "s3cr3t-of-the-message";
  const RunFolder folder;
  folder.write_task(
      CassetteWriter()
          .patch(add_file("b.txt", "b"))
          .next()
          .message("it is " + value)
          .next()
          .message("it is in MY_TOKEN, as ghp_" + std::string(20, 'a') + "0123456789012345 is"),
      "policy: auto\n");
  ProgramStart start = folder.start();
  start.environment["MY_TOKEN"] = value;

  const ProgramEnd end = run_program(start);

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(end.output.find("it is in MY_TOKEN") == 0u);
  BOOST_TEST(holds(folder.artifact("result.json"),
                   "the final message has what looks like a github-token"));
  check_no_coding_of(value, all_written(folder, end));
}

BOOST_AUTO_TEST_CASE(marks_that_were_there_before_and_unknown_tokens_are_no_leak) {
  const std::string token = "gh" + std::string("p_") + std::string(20, 'a') + "0123456789012345";
  const RunFolder folder;
  folder.write("work/a.txt", "first\n[REDACTED:OLD]\nlast\n[REDACTED:OLDER]\n");
  folder.commit_workspace();
  folder.write_task(CassetteWriter()
                        .patch("*** Begin Patch\n*** Update File: a.txt\n@@\n-first\n+1st " +
                               token + "\n [REDACTED:OLD]\n last\n-[REDACTED:OLDER]\n*** End Patch")
                        .next()
                        .message("done"),
                    "policy: auto\n");

  const ProgramEnd end = folder.run();

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(holds(folder.artifact("changes.diff"), "-[REDACTED:OLDER]"));
  BOOST_TEST(holds(folder.artifact("changes.diff"), token));
  BOOST_TEST(holds(folder.artifact("result.json"), "what looks like a github-token at a.txt:1"));
}

// A project can have a redactor of its own, with tests of it.
BOOST_AUTO_TEST_CASE(marks_of_other_programs_are_no_leak) {
  const RunFolder folder;
  folder.write_task(CassetteWriter()
                        .patch(add_file("test_redact.py",
                                        "assert clean(x) == '[REDACTED:email] [REDACTED:' + name"))
                        .next()
                        .message("done"),
                    "policy: auto\n");

  const ProgramEnd end = folder.run();

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(holds(folder.artifact("changes.diff"), "+assert clean(x) == '[REDACTED:email]"));
}

BOOST_AUTO_TEST_CASE(a_finding_in_a_file_quotes_no_secret) {
  const RunFolder folder;
  folder.write_task(CassetteWriter().message("done"), "no_such_key: 's3cr3t-in-the-task'\n");
  ProgramStart start = folder.start();
  start.environment["MY_TOKEN"] = "s3cr3t-in-the-task";

  const ProgramEnd end = run_program(start);

  BOOST_TEST(end.status == 2);
  BOOST_TEST(holds(end.errors, "no_such_key"), end.errors);
  BOOST_TEST(!holds(end.errors, "s3cr3t-in-the-task"), end.errors);
}

BOOST_AUTO_TEST_CASE(a_pattern_that_cannot_be_read_is_told_with_its_place) {
  const RunFolder folder;
  folder.write("policy.yaml", "version: 1\nextends: auto\nredact:\n  patterns: ['ok', '(']\n");
  folder.write_task(CassetteWriter().message("done"), "policy: policy.yaml\n");

  const ProgramEnd end = folder.run();

  BOOST_TEST(end.status == 2);
  BOOST_TEST(holds(end.errors, "policy.yaml:4:20"), end.errors);
}

BOOST_AUTO_TEST_SUITE_END()
