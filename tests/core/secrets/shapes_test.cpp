#include <boost/test/unit_test.hpp>

#include <algorithm>

#include "core/secrets/redact.h"
#include "core/secrets/token_formats.h"

using namespace sortie;

namespace {

/// Made up: `size` characters, drawn from the alphabet by a fixed rule, digits among them. Tokens
/// are put together at run time, so that no scanner takes this file for a leak.
std::string drawn(std::size_t size,
                  std::string_view alphabet = "a7Bx0Qk9Zm3Rt5Vw1Yc8Ud2Pf6Hj4LnNsGeXoKq") {
  std::string text;
  for (std::size_t i = 0; i < size; ++i) text += alphabet[(i * 7 + i / 5) % alphabet.size()];
  return text;
}

constexpr std::string_view kHex = "0a1b2c3d4e5f6789";
constexpr std::string_view kUpper = "A2BQ7XZM3KTR5VWY4CUDP6HJLN";

std::string streamed(const Redactor& by, std::string_view text, std::size_t chunk,
                     Audience audience) {
  StreamRedactor stream(by, audience);
  std::string shown;
  for (; !text.empty(); text.remove_prefix(std::min(chunk, text.size())))
    shown += stream.feed(text.substr(0, chunk));
  return shown + stream.finish();
}

/// The text by every split in two, and in chunks of a few sizes.
void check_everywhere(const std::string& text, const std::string& expected,
                      Audience audience = Audience::tools) {
  static const Redactor nothing;
  BOOST_TEST(nothing.text(text, audience) == expected);
  for (const std::size_t chunk : {1u, 2u, 3u, 16u, 61u})
    BOOST_TEST(streamed(nothing, text, chunk, audience) == expected);
  for (std::size_t split = 1; split < std::min<std::size_t>(text.size(), 400); ++split) {
    StreamRedactor stream(nothing, audience);
    std::string shown = stream.feed(std::string_view(text).substr(0, split));
    shown += stream.feed(std::string_view(text).substr(split));
    shown += stream.finish();
    BOOST_REQUIRE_MESSAGE(shown == expected, "split at " << split << ": " << shown);
  }
}

std::string key_lines(std::size_t lines) {
  std::string text;
  for (std::size_t i = 0; i < lines; ++i) text += drawn(64) + "\n";
  return text;
}

std::string dashes(const std::string& words) { return "-----" + words + "-----"; }

}  // namespace

BOOST_AUTO_TEST_SUITE(shapes)

BOOST_AUTO_TEST_CASE(tokens_are_replaced_in_tool_output_wherever_chunks_end) {
  const std::string s = "s";
  const struct {
    const char* name;
    std::string token;
  } rows[] = {
      {"sk-key", s + "k-" + drawn(48)},
      {"sk-key", s + "k-proj-" + drawn(40) + "_" + drawn(30) + "-" + drawn(40)},
      {"sk-key", s + "k-ant-api03-" + drawn(93) + "AA"},
      {"sk-key", s + "k-or-v1-" + drawn(64, kHex)},
      {"sk-key", s + "k-" + drawn(32, kHex)},
      {"sk-key", s + "k-test-" + drawn(16)},
      {"github-token", "gh" + std::string("p_") + drawn(36)},
      {"github-token", "gh" + std::string("o_") + drawn(36)},
      {"github-token", "gh" + std::string("u_") + drawn(36)},
      {"github-token", "gh" + std::string("s_") + drawn(36)},
      {"github-token", "gh" + std::string("r_") + drawn(76)},
      {"github-token", "github" + std::string("_pat_") + drawn(22) + "_" + drawn(59)},
      {"gitlab-token", "gl" + std::string("pat-") + drawn(20)},
      {"gitlab-token", "gl" + std::string("pat-") + drawn(27) + ".01.0w" + drawn(7, kHex)},
      {"gitlab-token", "gl" + std::string("ptt-") + drawn(40, kHex)},
      {"slack-token", "xo" + std::string("xb-17653672481-19874698323-") + drawn(24)},
      {"slack-token", "xo" + std::string("xp-") + drawn(12, "0123456789") + "-" + drawn(32)},
      {"slack-token",
       "xa" + std::string("pp-1-A0") + drawn(9, kUpper) + "-12345678901-" + drawn(64, kHex)},
      {"aws-key-id", "AK" + std::string("IA") + drawn(16, kUpper)},
      {"aws-key-id", "AS" + std::string("IA") + drawn(16, kUpper)},
      {"npm-token", "np" + std::string("m_") + drawn(36)},
      {"pypi-token", "pypi-" + std::string("AgEIcHlwaS5vcmc") + drawn(80)},
      {"google-api-key", "AI" + std::string("za") + drawn(35)},
      {"google-oauth-token", "ya" + std::string("29.") + "a0" + drawn(60)},
      {"google-client-secret", "GOC" + std::string("SPX-") + drawn(28)},
      {"sendgrid-key", "S" + std::string("G.") + drawn(22) + "." + drawn(43)},
      {"huggingface-token", "h" + std::string("f_") + drawn(34)},
      {"groq-key", "gs" + std::string("k_") + drawn(52)},
      {"digitalocean-token", "dop" + std::string("_v1_") + drawn(64, kHex)},
      {"square-token", "sq0" + std::string("atp-") + drawn(22)},
      {"stripe-key", s + "k_live_" + drawn(24)},
      {"stripe-key", "r" + std::string("k_live_") + drawn(24)},
      {"stripe-key", s + "k_test_" + drawn(24)},
      {"shopify-token", "shp" + std::string("at_") + drawn(32, kHex)},
      {"supabase-token", "sb" + std::string("p_") + drawn(40, kHex)},
      {"vault-token", "hv" + std::string("s.") + drawn(92)},
      {"docker-token", "dckr" + std::string("_pat_") + drawn(27)},
      {"rubygems-key", "rubygems" + std::string("_") + drawn(48, kHex)},
      {"grafana-token", "gls" + std::string("a_") + drawn(32) + "_" + drawn(8, kHex)},
      {"linear-key", "lin" + std::string("_api_") + drawn(40)},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name << " " << row.token.substr(0, 5)) {
      const std::string mark = "[REDACTED:" + std::string(row.name) + "]";
      check_everywhere(row.token, mark);
      check_everywhere("key = '" + row.token + "'\n", "key = '" + mark + "'\n");
      check_everywhere("+" + row.token + "\n-" + row.token + "\n",
                       "+" + mark + "\n-" + mark + "\n");
      check_everywhere("a\\n" + row.token + "\\n", "a\\n" + mark + "\\n");
      check_everywhere("?k=%3D" + row.token + "&b", "?k=%3D" + mark + "&b");
      check_everywhere("\x1b[32m" + row.token + "\x1b[0m", "\x1b[32m" + mark + "\x1b[0m");
      check_everywhere("It is " + row.token + ". So", "It is " + mark + ". So");
    }
  }
}

BOOST_AUTO_TEST_CASE(what_only_resembles_a_token_stays_as_it_is) {
  const std::string texts[] = {
      "pip install sk-learn scikit-learn==1.4.2 sk-learn-contrib-extensions-2024",
      "sk-1 sk-2 task-sk-12 sk-",
      "class=\"sk-estimator-doc-link fitted sk-toggleable__content-42\"",
      "disk-usage-2024-11-21T20:07:20Z risk-assessment-0123456789abcdef0123456789",
      "AKIA is what such ids begin with, ASIA too; AKIA1234 is too short",
      "AKIA" + drawn(17, kUpper),
      "X" + ("AKIA" + drawn(16, kUpper)),
      "akia" + drawn(16, kUpper),
      "gh"
      "p_" +
          drawn(35),
      "ghp_xxxx ghp_… ghp_$TOKEN",
      "gho_st ghs_ ghu_ ghr_",
      "github_pat_" + drawn(30),
      "glpat-short glpat-" + std::string(24, 'x'),
      "xoxo xoxo-xoxo-kisses xoxb- xoxb-abc xoxb-your-bot-token-here",
      "npm_config_registry npm_lifecycle_event npm_package_config_very_long_name_of_a_key",
      "np"
      "m_" +
          drawn(37),
      "AIza" + drawn(34),
      "AIza" + drawn(36),
      "hf_hub hf_transfer",
      "h"
      "f_" +
          drawn(33),
      "SG. is Singapore",
      "SG." + drawn(66),
      "5d41402abc4b2a76b9719d911017c592 da39a3ee5e6b4b0d3255bfef95601890afd80709",
      "index 83db48f..bf269f4 100644",
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5E",
      "integrity sha512-" + drawn(86) + "==",
      "dop_v1_short",
      "ya29.",
      "sq0atp-short",
      "sk_live_ sk_test_x",
      "sk_test_abcdefghijklmnopqrst",
      "token: eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl Bearer " + drawn(30),
      "password=hunter2 https://user:hunter2@example.com/",
      dashes("BEGIN PRIVATE KEY"),
      dashes("BEGIN PRIVATE KEY") + dashes("END PRIVATE KEY"),
      "if line == '" + dashes("BEGIN RSA PRIVATE KEY") + "' and rest.endswith('" +
          dashes("END RSA PRIVATE KEY") + "'): pass\n",
      dashes("BEGIN CERTIFICATE") + "\n" + key_lines(3) + dashes("END CERTIFICATE") + "\n",
      dashes("BEGIN PUBLIC KEY") + "\n" + key_lines(3) + dashes("END PUBLIC KEY") + "\n",
      "-----BEGIN ",
      "-----BEGIN SOMETHING THAT IS LONGER THAN ANY LABEL EVER WAS PRIVATE KEY-----",
  };
  for (const std::string& text : texts) {
    BOOST_TEST_CONTEXT(text.substr(0, 60)) {
      check_everywhere(text, text);
      check_everywhere(" " + text + " ", " " + text + " ");
    }
  }
}

BOOST_AUTO_TEST_CASE(private_keys_are_replaced_from_their_first_line_to_their_last) {
  const std::string mark = "[REDACTED:private-key]";
  const std::string kinds[] = {
      "PRIVATE KEY",         "RSA PRIVATE KEY",       "EC PRIVATE KEY",       "DSA PRIVATE KEY",
      "OPENSSH PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "PGP PRIVATE KEY BLOCK"};
  for (const std::string& kind : kinds) {
    BOOST_TEST_CONTEXT(kind) {
      const std::string begin = dashes("BEGIN " + kind);
      const std::string end = dashes("END " + kind);
      check_everywhere("a\n" + begin + "\n" + key_lines(3) + end + "\nb", "a\n" + mark + "\nb");
      // As one JSON string, and as lines of a diff.
      check_everywhere("\"" + begin + "\\n" + drawn(64) + "\\n" + end + "\\n\"",
                       "\"" + mark + "\\n\"");
      check_everywhere("+" + begin + "\n+" + drawn(64) + "\n+" + end + "\n", "+" + mark + "\n");
      check_everywhere("    " + begin + "\r\n    " + drawn(64) + "\r\n    " + end + "\r\n",
                       "    " + mark + "\r\n");
    }
  }
  const std::string begin = dashes("BEGIN RSA PRIVATE KEY");
  const std::string end = dashes("END RSA PRIVATE KEY");
  check_everywhere(begin + "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC," + drawn(32, kHex) +
                       "\n\n" + key_lines(2) + end,
                   mark);
  const std::string long_key = begin + "\n" + key_lines(190) + end + "\nrest";
  check_everywhere(long_key, mark + "\nrest");
}

BOOST_AUTO_TEST_CASE(a_private_key_without_its_end_is_replaced_as_far_as_it_goes) {
  const std::string mark = "[REDACTED:private-key]";
  const std::string begin = dashes("BEGIN RSA PRIVATE KEY");

  check_everywhere(begin + "\n" + key_lines(3), mark + "\n");
  check_everywhere(begin + "\n" + key_lines(2) + drawn(20), mark);
  check_everywhere(begin + "\n" + key_lines(2) + "That was it, as far as it goes.\n",
                   mark + "\nThat was it, as far as it goes.\n");
  check_everywhere("1\t" + begin + "\n2\t" + drawn(64) + "\n3\t" + drawn(64) + "\n",
                   "1\t" + mark + "\n");
  check_everywhere(begin + "\n" + key_lines(2) + begin + "\n" + key_lines(2),
                   mark + "\n" + mark + "\n");
}

BOOST_AUTO_TEST_CASE(shapes_are_kept_for_the_record_and_loose_ones_replaced_for_people_alone) {
  const std::string token = "gh" + std::string("p_") + drawn(36);
  const struct {
    const char* name;
    std::string text;
    std::string for_people;
  } rows[] = {
      {"a token", "x " + token, "x [REDACTED:github-token]"},
      {"assigned", "password=hunter22 ok", "password=[REDACTED:password] ok"},
      {"in capitals", "DB_PASSWORD=hunter22", "DB_PASSWORD=[REDACTED:password]"},
      {"in quotes", "api_key: \"a b c d\",", "api_key: \"[REDACTED:password]\","},
      {"JSON", R"({"client_secret": "abcd1234"})", R"({"client_secret": "[REDACTED:password]"})"},
      {"a header", "Authorization: Bearer abcdef0123456789",
       "Authorization: Bearer [REDACTED:credential]"},
      {"a web token", "x eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl y",
       "x [REDACTED:web-token] y"},
      {"an address", "https://ada:hunter22@example.com/x",
       "https://ada:[REDACTED:password]@example.com/x"},
      {"a variable", "password=$PASSWORD token=${T}", "password=$PASSWORD token=${T}"},
      {"a shell's folder", "PWD=/work/project OLDPWD=/work\n\"pwd\": \"/work\"",
       "PWD=/work/project OLDPWD=/work\n\"pwd\": \"/work\""},
      {"passwords of that name", "Uid=x;Pwd=hunter22; DB_PWD=/hunter2/ pwd: hunter22",
       "Uid=x;Pwd=[REDACTED:password]; DB_PWD=[REDACTED:password] pwd: [REDACTED:password]"},
      {"a mark", "password=[REDACTED:X]", "password=[REDACTED:X]"},
      {"a word", "the password is wrong; tokens: 12", "the password is wrong; tokens: 12"},
      {"no password in it", "https://example.com:8080/a@b ssh://git@host/x",
       "https://example.com:8080/a@b ssh://git@host/x"},
  };
  const Redactor nothing;
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(nothing.text(row.text, Audience::record) == row.text);
      if (row.text != "x " + token) BOOST_TEST(nothing.text(row.text, Audience::tools) == row.text);
      check_everywhere(row.text, row.for_people, Audience::people);
      check_everywhere("1\n" + row.text + "\n2\n", "1\n" + row.for_people + "\n2\n",
                       Audience::people);
    }
  }
}

BOOST_AUTO_TEST_CASE(patterns_are_found_in_lines_of_any_length) {
  Redactor redactor;
  redactor.add_pattern("pattern-1", "ACME-[0-9]{8}");
  redactor.add_pattern("pattern-2", "^id [^x]*$");
  const std::string filler(70'000, '.');
  const struct {
    const char* name;
    std::string text;
    std::string expected;
  } rows[] = {
      {"in a line", "a ACME-12345678 b", "a [REDACTED:pattern-1] b"},
      {"two", "ACME-12345678ACME-12345678", "[REDACTED:pattern-1][REDACTED:pattern-1]"},
      {"too few digits", "ACME-1234567", "ACME-1234567"},
      {"over two lines", "ACME-1234\n5678", "ACME-1234\n5678"},
      {"a set without newline", "id 1\nid 2\n", "[REDACTED:pattern-2]\n[REDACTED:pattern-2]\n"},
      {"in a long line", filler + "ACME-12345678" + filler,
       filler + "[REDACTED:pattern-1]" + filler},
      {"at a window's end", std::string(65'530, '.') + "ACME-12345678.",
       std::string(65'530, '.') + "[REDACTED:pattern-1]."},
      {"where windows overlap", std::string(61'436, '.') + "ACME-12345678.",
       std::string(61'436, '.') + "[REDACTED:pattern-1]."},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST((redactor.text(row.text) == row.expected));
      for (const std::size_t chunk : {1u, 7u, 4096u, 65'536u})
        BOOST_TEST((streamed(redactor, row.text, chunk, Audience::record) == row.expected));
    }
  }
  BOOST_CHECK_THROW(redactor.add_pattern("bad", "("), PatternError);
}

BOOST_AUTO_TEST_CASE(a_known_value_names_what_is_a_token_too) {
  const std::string token = "gh" + std::string("p_") + drawn(36);
  const Redactor redactor(std::vector<Secret>{{"MY_TOKEN", token}});

  BOOST_TEST(redactor.text("a " + token + " b", Audience::tools) == "a [REDACTED:MY_TOKEN] b");
}

BOOST_AUTO_TEST_CASE(no_prefix_hides_another) {
  // The search names the longest prefix that ends at a place.
  for (const auto& one : token_shapes())
    for (const auto& other : token_shapes())
      BOOST_TEST((&one == &other || !std::string_view(one.prefix).ends_with(other.prefix)),
                 one.prefix << " ends in " << other.prefix);
}

BOOST_AUTO_TEST_CASE(long_texts_of_beginnings_alone_take_no_longer_than_others) {
  // Each would be quadratic if every beginning were looked at to the end of its run.
  const Redactor nothing;
  for (const std::string piece :
       {"sk-", "ghp_", "xoxb-1", "AKIA", "AIza", "-----BEGIN RSA PRIVATE KEY-----\n", "glpat-a."}) {
    std::string text;
    while (text.size() < 500'000) text += piece;
    BOOST_TEST(nothing.text(text, Audience::tools).size() <= text.size(), piece);
    BOOST_TEST(
        (streamed(nothing, text, 4096, Audience::tools) == nothing.text(text, Audience::tools)),
        piece);
  }
}

BOOST_AUTO_TEST_SUITE_END()
