#include "tools/commands/embedded_patch.h"

#include <boost/test/unit_test.hpp>

#include "core/base/error.h"

using namespace sortie;

BOOST_AUTO_TEST_SUITE(embedded_patch)

BOOST_AUTO_TEST_CASE(patches_are_found_in_commands_that_do_nothing_else) {
  const std::string body = "*** Begin Patch\n*** End Patch\n";
  const auto sh = [](const std::string& script) {
    return std::vector<std::string>{"bash", "-lc", script};
  };
  const struct {
    const char* name;
    std::vector<std::string> argv;
    std::optional<EmbeddedPatch> found;
  } rows[] = {
      {"argv", {"apply_patch", body}, EmbeddedPatch{body}},
      {"other spelling", {"applypatch", body}, EmbeddedPatch{body}},
      {"quoted delimiter", sh("apply_patch <<'EOF'\n" + body + "EOF\n"), EmbeddedPatch{body}},
      {"double quotes", sh("apply_patch <<\"EOF\"\n" + body + "EOF"), EmbeddedPatch{body}},
      {"bare delimiter", sh("apply_patch << PATCH\n" + body + "PATCH"), EmbeddedPatch{body}},
      {"with cd", sh("cd src/a && apply_patch <<'EOF'\n" + body + "EOF"),
       EmbeddedPatch{body, "src/a"}},
      {"with quoted cd", sh(" cd 'a b' &&\tapply_patch <<'EOF'\n" + body + "EOF\n \n"),
       EmbeddedPatch{body, "a b"}},
      {"something after it", sh("apply_patch <<'EOF'\n" + body + "EOF\nrm -r x"), std::nullopt},
      {"something on its line", sh("apply_patch <<'EOF' && rm x\n" + body + "EOF"), std::nullopt},
      {"something before it", sh("rm x; apply_patch <<'EOF'\n" + body + "EOF"), std::nullopt},
      {"cd with expansion", sh("cd $HOME && apply_patch <<'EOF'\n" + body + "EOF"), std::nullopt},
      {"cd with ;", sh("cd a; apply_patch <<'EOF'\n" + body + "EOF"), std::nullopt},
      {"no end", sh("apply_patch <<'EOF'\n" + body), std::nullopt},
      {"dash strips tabs", sh("apply_patch <<-EOF\n\t" + body + "\tEOF"), EmbeddedPatch{body}},
      {"quoted word", sh("apply_patch '" + body + "'\n"), EmbeddedPatch{body}},
      {"double-quoted word with cd", sh("cd a && applypatch \"" + body + "\""),
       EmbeddedPatch{body, "a"}},
      {"cd on a line of its own", sh("cd a &&\napply_patch <<EOF\n" + body + "EOF"),
       EmbeddedPatch{body, "a"}},
      {"signs of a shell are literal", sh("apply_patch <<EOF\n+$HOME `x` \\n\nEOF"),
       EmbeddedPatch{"+$HOME `x` \\n\n"}},
      {"a shell by its path",
       {"/usr/bin/zsh", "-c", "apply_patch <<EOF\n" + body + "EOF"},
       EmbeddedPatch{body}},
      {"a quoted word with an expansion", sh("apply_patch \"$x\""), std::nullopt},
      {"a bare word", sh("apply_patch patch.txt"), std::nullopt},
      {"two words", sh("apply_patch 'x' 'y'"), std::nullopt},
      {"words joined", sh("apply_patch 'x'y"), std::nullopt},
      {"a redirection", sh("apply_patch < patch.txt"), std::nullopt},
      {"a pipe", sh("apply_patch <<EOF | cat\n" + body + "EOF"), std::nullopt},
      {"cd with two words", sh("cd a b && apply_patch <<EOF\n" + body + "EOF"), std::nullopt},
      {"cd or", sh("cd a || apply_patch <<EOF\n" + body + "EOF"), std::nullopt},
      {"cd home", sh("cd ~/x && apply_patch <<EOF\n" + body + "EOF"), std::nullopt},
      {"another flag", {"bash", "-x", "apply_patch <<EOF\n" + body + "EOF"}, std::nullopt},
      {"another command", sh("cat <<'EOF'\n" + body + "EOF"), std::nullopt},
      {"no shell", {"ssh", "-c", "apply_patch <<'EOF'\n" + body + "EOF"}, std::nullopt},
      {"more words", {"apply_patch", body, "x"}, std::nullopt},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) { BOOST_TEST((find_embedded_patch(row.argv) == row.found)); }
  }
}

BOOST_AUTO_TEST_CASE(a_patch_among_other_commands_is_refused_before_anything_runs) {
  const std::string patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** End Patch\nEOF\n";
  const auto arguments = [](const std::string& script) {
    return embedded_patch_arguments({"bash", "-lc", script}, "", "/w");
  };
  for (const std::string& script :
       {"make\n" + patch, patch + "make test", "cd a && make && " + patch, "ls > x; " + patch,
        "echo $HOME\n" + patch + "ls", std::string("cat p.txt | apply_patch"),
        std::string("if true; then apply_patch; fi"), "cd a\n" + patch,
        std::string("applypatch < p.txt")}) {
    BOOST_CHECK_EXCEPTION(arguments(script), ToolError, [](const ToolError& error) {
      return std::string(error.what()).find("Nothing was run") == 0;
    });
  }
  for (const char* script : {"grep -rn apply_patch src", "echo apply_patch", "which apply_patch",
                             "make # apply_patch", "echo 'x\napply_patch y'"})
    BOOST_TEST(arguments(script).is_null(), script);
}

BOOST_AUTO_TEST_CASE(the_folder_of_an_embedded_patch_lies_in_the_workspace) {
  const auto in = [](const std::string& folder) {
    return std::vector<std::string>{"sh", "-c", "cd " + folder + " && apply_patch <<E\nx\nE"};
  };
  const auto arguments = [](const std::vector<std::string>& argv) {
    return embedded_patch_arguments(argv, "src", "/w");
  };

  BOOST_TEST(arguments(in("a/b")).string_at("workdir") == "src/a/b");
  BOOST_TEST(arguments(in("/w/c")).string_at("workdir") == "c");
  BOOST_TEST(arguments(in("../d")).string_at("workdir") == "d");
  BOOST_TEST(arguments({"apply_patch", "x"}).string_at("input") == "x");
  BOOST_TEST(arguments({"ls"}).is_null());
  BOOST_CHECK_THROW(arguments(in("../../x")), ToolError);
  BOOST_CHECK_THROW(arguments(in("/etc")), ToolError);
}

BOOST_AUTO_TEST_CASE(a_patch_that_nothing_is_called_with_is_no_command) {
  const std::string patch = "*** Begin Patch\n*** Delete File: f\n*** End Patch";
  for (const auto& argv : {std::vector<std::string>{patch}, {"bash", "-lc", "\n" + patch + "\n"}})
    BOOST_CHECK_THROW(embedded_patch_arguments(argv, "", "/w"), ToolError);
  BOOST_TEST(embedded_patch_arguments({"cat", patch}, "", "/w").is_null());
}

BOOST_AUTO_TEST_SUITE_END()
