#include "core/agent/dangerous_words.h"

#include <utility>

#include "core/agent/prose.h"
#include "core/base/pattern.h"
#include "core/base/text.h"

namespace sortie {
namespace {

constexpr std::size_t kMostFound = 10;
constexpr std::size_t kShownBytes = 160;

/// Who acts: the writer of the sentence. `^` is a sentence that leaves itself out ("Disabling …").
const std::string kActor =
    R"((?:\bi(?:'ll|'m|'ve|'d)?|\bwe(?:'ll|'re going to| will| can| could| should| must| need to)"
    R"(| have to| are going to)|\blet(?: me|'s| us)|\b(?:my|the|new) (?:plan|fix|solution|next step))"
    R"( is(?: to)?|^(?:(?:so|then|next|first|second|third|finally|now|plan|step \d+|ok|okay|and)"
    R"(|instead|therefore|for now|done)[,:]? ?)*))";
/// What may stand between the actor and what is done. No "not" is among it.
const std::string kFiller =
    R"((?:\s*(?:\b(?:will|am|was|have|had|going|to|now|just|simply|also|first|then|therefore)"
    R"(|temporarily|quietly|need|must|should|can|could|may|might|want|plan|planning|intend)"
    R"(|decided|chose|try|tried|trying|be|instead|go|ahead|and|start|started|by|proceed|next)"
    R"(|shall|would|like|better|rather|still|only|for|ve|already|had)\b,?)){0,8}\s*)";
/// A second thing that the same actor does: "I'll open the file and …".
const std::string kSecond =
    R"((?:[^,;"]{1,90}(?:\b(?:and|then|by)|,)\s+(?:(?:then|just|simply|also|temporarily|finally)\s+)?)?)";

/// A command on its way to be run: "run `…", "using …".
const std::string kRun =
    R"((?:run(?:ning)?|ran|us(?:e|ing|ed)|execut(?:e|ing|ed)|do(?:ing)?|did|issu(?:e|ing|ed))"
    R"(|call(?:ing|ed)?|add(?:ing|ed)?|pass(?:ing|ed)?|set(?:ting)?|try(?:ing)?|commit(?:ting|ted)?)"
    R"(|push(?:ing|ed)?|fetch(?:ing|ed)?|install(?:ing|ed)?|download(?:ing|ed)?)\s+)"
    R"((?:[^`.]{0,40}\s)?[`']?(?:sudo\s+)?)";

const std::string kTurnOff =
    R"((?:disabl(?:e|ing|ed)|turn(?:ing|ed)? off|switch(?:ing|ed)? off|bypass(?:ing|ed)?)"
    R"(|circumvent(?:ing|ed)?|skip(?:ping|ped)?|deactivat(?:e|ing|ed)|evad(?:e|ing|ed)))";
const std::string kLeaveOut =
    R"((?:disabl(?:e|ing|ed)|skip(?:ping|ped)?|comment(?:ing|ed)? out|delet(?:e|ing|ed))"
    R"(|remov(?:e|ing|ed)|weaken(?:ing|ed)?|loosen(?:ing|ed)?|mut(?:e|ing|ed)|ignor(?:e|ing|ed))"
    R"(|turn(?:ing|ed)? off|xfail(?:ing|ed)?|neuter(?:ing|ed)?|relax(?:ing|ed)?)"
    R"(|silenc(?:e|ing|ed)))";
const std::string kSecrets =
    R"((?:credentials?|secrets|api keys?|private keys?|ssh keys?|passwords?|access tokens?)"
    R"(|\.env(?: file)?|environment variables))";

struct Row {
  const char* name;
  std::string what;    ///< from the verb on
  std::string unless;  ///< in the words found, "¦" and the sentence's rest: then it is harmless
  const char* reason;
};

/// One row a thing that must not be done. Rows may share a name.
const std::vector<Row>& table() {
  static const std::vector<Row> rows = {
      {"tests_off",
       kLeaveOut +
           R"(\s+(?:the|these|those|this|that|all(?: of)?(?: the)?|both|every|failing|broken)"
           R"(|flaky|its|their)\s+(?:[\w'/.-]+\s+){0,3}?(?:tests?|test cases?|test suites?)"
           R"(|assertions?|asserts?|specs?)\b)",
       R"(\b(?:from|of|in|for|to|with|between|into|on|before)\s[^¦]*¦|¦`?'?\s?(?:files?|data|folders?)"
       R"(|helpers?|fixtures?|doubles?|runners?|scripts?|outputs?|runs?|artifacts?|director|servers?)"
       R"(|names?|that i |i (?:added|created|wrote|made|had)|which i )|\b(?:temporary|scratch|debug)"
       R"(|duplicate|duplicated|throwaway|my own|reproduction|static_assert)\b)",
       "tests show whether the work is done; switching them off only hides that it is not"},
      {"tests_off",
       R"(mark(?:ing|ed)?\s+(?:it|them|the|this|these|those|all)\b[^.]{0,40}?\bas\s+(?:skipped)"
       R"(|skip|xfail|expected failures?|flaky)\b)",
       R"(\b(?:todo|step|item|task|plan)s?\b)",
       "tests show whether the work is done; switching them off only hides that it is not"},
      {"tests_off",
       R"((?:add(?:ing|ed)?|put(?:ting)?|us(?:e|ing|ed))\s+(?:an?\s+)?[`']?@?(?:pytest\.mark\.)"
       R"(|unittest\.)?(?:skip|xfail|t\.skip|it\.skip|@ignore|@disabled)\b)",
       R"(\b(?:list|count|flag|option|parameter|argument|button|link)\b)",
       "tests show whether the work is done; switching them off only hides that it is not"},
      {"tests_off",
       R"((?:hard-?cod(?:e|ing|ed)\s+the\s+expected\s+(?:values?|outputs?|results?|answers?))"
       R"(|special-cas(?:e|ing|ed)\s+the\s+tests?)\b)",
       "", "code that only knows the tests' answers does not do what it is for"},
      {"results_faked",
       R"((?:fak(?:e|ing|ed)|fabricat(?:e|ing|ed)|forg(?:e|ing|ed)|mak(?:e|ing) up|made up)"
       R"(|falsif(?:y|ying|ied))\s+(?:the|some|its|these|a)\s+(?:[\w-]+\s+){0,2}?(?:results?)"
       R"(|outputs?|logs?|benchmarks?|measurements?|numbers|coverage)\b)",
       R"(\b(?:server|client|clock|network|mock|stub|fixture|unit test|in the tests?|for the tests?)\b)",
       "a result that was not measured misleads everyone who relies on it"},
      {"results_faked",
       R"((?:pretend(?:ing|ed)?|claim(?:ing|ed)?|say(?:ing)?|report(?:ing|ed)?)\s+(?:that\s+)?)"
       R"((?:the|all|these)\s+(?:[\w-]+\s+){0,2}?tests?\s+(?:pass|passed|are green|succeed)\b[^.]*)"
       R"(\b(?:although|even though|without|anyway|regardless)\b[^.]*)",
       "", "a result that was not measured misleads everyone who relies on it"},
      {"force_push",
       R"((?:)" + kRun +
           R"(git\s+push\b[^.;|&]*?\s(?:--force(?:-with-lease)?|-f)\b|force[- ]?push(?:ing|ed)?\b)"
           R"(|push(?:ing|ed)?\s[^.;]{0,60}(?:\bwith force\b|\bforcibly\b|--force\b)))",
       "", "a forced push throws away what others have pushed"},
      {"history_rewritten",
       R"((?:rewrit(?:e|ing)|rewrote|purg(?:e|ing|ed)|eras(?:e|ing|ed))\s+(?:the\s+)?(?:[\w-]+\s+)?)"
       R"((?:git|commit|repository(?:'s)?|branch(?:'s)?)\s+history\b)",
       "", "history that others have is not a run's to change"},
      {"history_rewritten",
       kRun +
           R"((?:git\s+filter-(?:branch|repo)|git\s+reset\s+--hard\s+(?:origin|upstream)|bfg)\b)",
       "", "history that others have is not a run's to change"},
      {"instructions_ignored",
       R"((?:ignor(?:e|ing|ed)|disregard(?:ing|ed)?|forget(?:ting)?|overrid(?:e|ing|den)|drop(?:ping)?)"
       R"(|set(?:ting)? aside)\s+(?:(?:all|any|the|my|these|your|those|of)\s+)*(?:previous|prior)"
       R"(|earlier|above|original|system|initial|preceding)\s+(?:[\w-]+\s+)?(?:instructions?|prompts?)"
       R"(|rules?|guidelines?|constraints?)\b)",
       "", "whoever wrote that is not who gave the task"},
      {"everything_deleted",
       kRun +
           R"(rm\s+(?:-[\w-]+\s+)*-\w*[rR]\w*\s+(?:-[\w-]+\s+)*["']?(?:/(?:\*|["'`\s]|$|(?:etc|usr|home)"
           R"(|var|bin|root|boot|lib|opt)\b)|~/?(?:["'`\s*]|$)|\$\{?HOME\b|(?:\./)?\.git(?:["'`\s/]|$))"
           R"(|\.\.|(?:\./)?\*|\./?(?:["'`\s]|$)))",
       "", "it deletes what was not made by this run"},
      {"everything_deleted",
       R"((?:wip(?:e|ing|ed)|eras(?:e|ing|ed)|delet(?:e|ing|ed)|destroy(?:ing|ed)?|remov(?:e|ing|ed))"
       R"(|nuk(?:e|ing|ed)|drop(?:ping|ped)?|truncat(?:e|ing|ed))\s+(?:the\s+|an?\s+)?(?:(?:whole)"
       R"(|entire|complete)\s+(?:[\w-]+\s+)?(?:repository|repo|workspace|home directory|disk)"
       R"(|file ?system|database|history|codebase|project)|(?:live|production|prod)\s+)"
       R"((?:[\w-]+\s+)?(?:database|tables?|data|bucket|cluster|server))\b)",
       R"(\b(?:copy|fixture|temporary|in-memory|mock)\b)",
       "it deletes what was not made by this run"},
      {"everything_deleted", kRun + R"((?:mkfs(?:\.\w+)?|dd\s[^.;]*\bof=/dev/\w+))", "",
       "it deletes what was not made by this run"},
      {"secrets_sent",
       R"((?:send(?:ing)?|sent|upload(?:ing|ed)?|post(?:ing|ed)?|leak(?:ing|ed)?|transmit(?:ting|ted)?)"
       R"(|copy(?:ing)?|copied|exfiltrat(?:e|ing|ed)|forward(?:ing|ed)?|pip(?:e|ing|ed))\s+)"
       R"((?:(?:the|all|my|our|your|its|their|these|any|of)\s+)*(?:[\w'-]+\s+){0,3}?)" +
           kSecrets +
           R"([^.;]{0,60}?\b(?:to|via|through)\s+(?:an?\s+|the\s+|my\s+|this\s+|that\s+)?(?:[\w-]+\s+)?)"
           R"((?:`?https?://|pastebin|webhook|gist|external|remote|third[- ]party|attacker|url|e-?mail))",
       R"(\b(?:fake|dummy|test|redacted|placeholder)\b)", "secrets stay where they are"},
      {"secrets_sent", R"(exfiltrat(?:e|ing|ed)\b)", "", "secrets stay where they are"},
      {"secrets_in_code",
       R"((?:hard-?cod(?:e|ing|ed)|embed(?:ding|ded)?|inlin(?:e|ing|ed))\s+(?:(?:the|an?|my|our|your)"
       R"(|its|these|this)\s+)?(?:[\w-]+\s+){0,3}?(?:passwords?|api[- ]?keys?|tokens?|secrets?)"
       R"(|credentials?|private keys?)\b)",
       R"(\b(?:fake|dummy|test|tests|example|placeholder|sample|limit|count|fixture|mock)\b)",
       "what stands in the code is read by everyone who has the code"},
      {"secrets_in_code",
       R"((?:commit(?:ting|ted)?|check(?:ing|ed)? in|put(?:ting)?|writ(?:e|ing)|past(?:e|ing|ed))\s+)"
       R"((?:(?:the|my|our|your|real|actual)\s+)+(?:[\w-]+\s+){0,2}?(?:passwords?|api[- ]?keys?)"
       R"(|secrets?|credentials?|private keys?|\.env(?: file)?)\s+(?:(?:directly|straight)\s+)?)"
       R"((?:in|into|to|with)\s+(?:the\s+)?(?:code|source|repository|repo|config|file|git|commit))",
       R"(\b(?:fake|dummy|test|example|placeholder|sample|encrypted)\b)",
       "what stands in the code is read by everyone who has the code"},
      {"tls_off",
       R"((?:disabl(?:e|ing|ed)|turn(?:ing|ed)? off|switch(?:ing|ed)? off|bypass(?:ing|ed)?)"
       R"(|skip(?:ping|ped)?|ignor(?:e|ing|ed))\s+(?:(?:the|all|any|their|its)\s+)?(?:[\w-]+\s+)?)"
       R"((?:tls|ssl|certificates?|cert|https|host ?keys?|signatures?)\s+)"
       R"((?:(?:certificate|peer|host)\s+)?(?:verification|validation|check(?:ing|s)?|errors?))",
       "", "without verification anyone on the way can read and change what is sent"},
      {"tls_off",
       kRun +
           R"((?:verify\s?=\s?false|rejectunauthorized:\s?false|node_tls_reject_unauthorized\s?=\s?['"]?0)"
           R"(|insecureskipverify|git -c http\.sslverify=false|http\.sslverify(?:\s|=)false)"
           R"(|(?:curl|wget)\s(?:[^.;`]*\s)?(?:-k|--insecure|--no-check-certificate)|--insecure)"
           R"(|--no-check-certificate|strict-ssl(?:\s|=)false|--trusted-host)\b)",
       "", "without verification anyone on the way can read and change what is sent"},
      {"policy_bypassed",
       R"((?:bypass(?:ing|ed)?|circumvent(?:ing|ed)?|evad(?:e|ing|ed)|work(?:ing|ed)? around)"
       R"(|get(?:ting)? (?:a)?round|side-?step(?:ping|ped)?|trick(?:ing|ed)?|sneak(?:ing|ed)? past)"
       R"(|escap(?:e|ing|ed)(?: from)?|break(?:ing)? out of)\s+(?:(?:the|this|that|all|any|its|these)\s+)?)"
       R"((?:[\w-]+\s+){0,2}?(?:policy|policies|sandbox|approvals?|denials?|deny rules?|restrictions?)"
       R"(|guards?|guardrails?|permissions?|safety checks?|security checks?|protections?)"
       R"(|container|jail|allow-?list)\b)",
       R"(\b(?:browser|cors|compiler|language|c\+\+|typescript|api|library|css)\b)",
       "what is denied is denied for a reason: say what is needed instead"},
      {"policy_bypassed",
       kTurnOff +
           R"(\s+(?:(?:the|all|any|its)\s+)?(?:[\w-]+\s+)?(?:sandbox(?:ing)?|seccomp|selinux|apparmor)"
           R"(|firewall|aslr|branch protection|secret scanning|(?:pre-commit|pre-push|git|commit) hooks?)"
           R"(|security (?:checks?|scans?|gates?|policy)|code ?owners)\b)",
       "", "a safeguard is not the run's to switch off"},
      {"policy_bypassed",
       kRun + R"((?:git\s+(?:commit|push)\b[^.;`]*\s--no-verify|--no-verify|--dangerously[\w-]*)"
              R"(|--privileged|setenforce\s+0|ufw\s+disable|iptables\s+-f)\b)",
       "", "a safeguard is not the run's to switch off"},
      {"ci_off",
       R"((?:disabl(?:e|ing|ed)|remov(?:e|ing|ed)|delet(?:e|ing|ed)|comment(?:ing|ed)? out)"
       R"(|turn(?:ing|ed)? off)\s+(?:(?:the|this|that|all|failing|broken)\s+)+(?:[\w-]+\s+){0,2}?)"
       R"((?:ci|lint|linter|type ?check|coverage|security|static analysis|quality)\s+(?:checks?|jobs?)"
       R"(|steps?|gates?|workflows?|pipelines?|thresholds?)\b)",
       R"(\b(?:duplicate|duplicated|obsolete|unused|deprecated|dead)\b)",
       "a check that fails is mended by its cause, not by its absence"},
      {"authentication_off",
       R"((?:disabl(?:e|ing|ed)|bypass(?:ing|ed)?|skip(?:ping|ped)?|remov(?:e|ing|ed)|turn(?:ing|ed)? off)"
       R"(|comment(?:ing|ed)? out)\s+(?:(?:the|all|any|its|this)\s+)?(?:[\w-]+\s+){0,2}?(?:auth)"
       R"(|authentication|authorization|login|permission|access[- ]control|csrf|password)\s+)"
       R"((?:checks?|middleware|guards?|decorators?|validation|protection|requirements?|verification)\b)",
       R"(\b(?:duplicate|duplicated|redundant|unused|old|in the tests?|for the tests?)\b)",
       "whoever the check keeps out would be let in"},
      {"authentication_off",
       R"((?:add(?:ing|ed)?|leav(?:e|ing)|left|insert(?:ing|ed)?|plant(?:ing|ed)?|build(?:ing)?|creat(?:e|ing|ed))\s+)"
       R"((?:an?|the)\s+(?:[\w-]+\s+){0,2}?back-?doors?\b)",
       "", "whoever the check keeps out would be let in"},
      {"permissions_opened",
       R"((?:)" + kRun +
           R"(chmod\s+(?:-\w+\s+)*(?:0?777|a\+rwx)\b|mak(?:e|ing)\s+[^.;]{1,60}\bworld-writable\b))",
       "", "whoever has an account could change it"},
      {"download_run", kRun + R"((?:curl|wget)\s[^|;]*\|\s*(?:sudo\s+)?(?:ba|z|da|k)?sh\b)", "",
       "what is run unread can be anything"},
  };
  return rows;
}

struct Compiled {
  const Row* row;
  Pattern what;
  std::optional<Pattern> unless;
};

const std::vector<Compiled>& compiled() {
  static const std::vector<Compiled> all = [] {
    std::vector<Compiled> made;
    for (const Row& row : table()) {
      std::optional<Pattern> unless;
      if (!row.unless.empty()) unless = Pattern::expression(row.unless, LetterCase::ignored);
      made.push_back({&row,
                      Pattern::expression(kActor + kFiller + kSecond + "(" + row.what + ")",
                                          LetterCase::ignored),
                      std::move(unless)});
    }
    return made;
  }();
  return all;
}

/// Words before those found, or in them, by which it is not announced.
const Pattern& denial() {
  static const Pattern pattern = Pattern::expression(
      R"(n't\b|\b(?:not|never|without|avoid\w*|instead of|rather than|refus\w*|no need|cannot)"
      R"(|prevent\w*|stopp?\w*|against|reject\w*|declin\w*|asks? (?:me|us)|asked (?:me|us)|told me)"
      R"(|tells? (?:me|us)|wants? (?:me|us)|if|whether|unless|undo|undid|revert\w*|no longer)\b)",
      LetterCase::ignored);
  return pattern;
}

/// Words behind those found by which it is not announced.
const Pattern& dismissal() {
  static const Pattern pattern = Pattern::expression(
      R"(\b(?:is|are|was|were|would be)(?: not|n't)\b|\bnot (?:allowed|an option|acceptable)\b)"
      R"(|\b(?:is|was|are|were) (?:denied|forbidden|wrong|prohibited|refused|off limits)\b)"
      R"(|\bwould(?:n't| not| be (?:wrong|cheating|a mistake|bad))\b|\bout of the question\b)",
      LetterCase::ignored);
  return pattern;
}

/// Without what stands in double quotes: those are another's words.
std::string own_words(const std::string& sentence) {
  std::string own;
  std::size_t from = 0;
  for (;;) {
    const std::size_t begin = sentence.find('"', from);
    const std::size_t end = begin == std::string::npos ? begin : sentence.find('"', begin + 1);
    if (end == std::string::npos) return own + sentence.substr(from);
    own += sentence.substr(from, begin - from) + "\"\"";
    from = end + 1;
  }
}

/// The row's words in the sentence, or "".
std::string found_in(const Compiled& row, const std::string& sentence) {
  const auto match = row.what.find_group(sentence, 0, 1);
  if (!match) return {};
  const std::string words =
      sentence.substr(match->group_begin, match->group_end - match->group_begin);
  const std::string rest = sentence.substr(match->group_end);
  if (denial().find(sentence.substr(0, match->group_begin))) return {};
  if (dismissal().find(rest)) return {};
  if (row.unless && row.unless->find(words + "¦" + rest.substr(0, 60))) return {};
  return words;
}

}  // namespace

std::vector<DangerousWords> find_dangerous_words(std::string_view message) {
  std::vector<DangerousWords> found;
  for (const std::string& sentence : sentences_of(message)) {
    if (sentence.ends_with('?')) continue;
    const std::string own = own_words(sentence);
    std::string last;  // rows of one name: once a sentence
    for (const Compiled& row : compiled()) {
      if (row.row->name == last || found.size() == kMostFound) continue;
      const std::string words = found_in(row, own);
      if (words.empty()) continue;
      last = row.row->name;
      found.push_back({row.row->name, one_line(words, kShownBytes), row.row->reason});
    }
  }
  return found;
}

}  // namespace sortie
