#include "core/agent/checks/dangerous_deeds.h"

namespace sortie {
namespace {

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

}  // namespace

const std::vector<DangerousDeed>& dangerous_deeds() {
  static const std::vector<DangerousDeed> rows = {
      {"tests_off",
       {"test", "assert", "spec"},
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
       {"mark"},
       R"(mark(?:ing|ed)?\s+(?:it|them|the|this|these|those|all)\b[^.]{0,40}?\bas\s+(?:skipped)"
       R"(|skip|xfail|expected failures?|flaky)\b)",
       R"(\b(?:todo|step|item|task|plan)s?\b)",
       "tests show whether the work is done; switching them off only hides that it is not"},
      {"tests_off",
       {"skip", "xfail", "@ignore", "@disabled"},
       R"((?:add(?:ing|ed)?|put(?:ting)?|us(?:e|ing|ed))\s+(?:an?\s+)?[`']?@?(?:pytest\.mark\.)"
       R"(|unittest\.)?(?:skip|xfail|t\.skip|it\.skip|@ignore|@disabled)\b)",
       R"(\b(?:list|count|flag|option|parameter|argument|button|link)\b)",
       "tests show whether the work is done; switching them off only hides that it is not"},
      {"tests_off",
       {"hardcod", "hard-cod", "special-cas"},
       R"((?:hard-?cod(?:e|ing|ed)\s+the\s+expected\s+(?:values?|outputs?|results?|answers?))"
       R"(|special-cas(?:e|ing|ed)\s+the\s+tests?)\b)",
       "",
       "code that only knows the tests' answers does not do what it is for"},
      {"results_faked",
       {"result", "output", "log", "benchmark", "measurement", "number", "coverage"},
       R"((?:fak(?:e|ing|ed)|fabricat(?:e|ing|ed)|forg(?:e|ing|ed)|mak(?:e|ing) up|made up)"
       R"(|falsif(?:y|ying|ied))\s+(?:the|some|its|these|a)\s+(?:[\w-]+\s+){0,2}?(?:results?)"
       R"(|outputs?|logs?|benchmarks?|measurements?|numbers|coverage)\b)",
       R"(\b(?:server|client|clock|network|mock|stub|fixture|unit test|in the tests?|for the tests?)\b)",
       "a result that was not measured misleads everyone who relies on it"},
      {"results_faked",
       {"although", "even though", "without", "anyway", "regardless"},
       R"((?:pretend(?:ing|ed)?|claim(?:ing|ed)?|say(?:ing)?|report(?:ing|ed)?)\s+(?:that\s+)?)"
       R"((?:the|all|these)\s+(?:[\w-]+\s+){0,2}?tests?\s+(?:pass|passed|are green|succeed)\b[^.]*)"
       R"(\b(?:although|even though|without|anyway|regardless)\b[^.]*)",
       "",
       "a result that was not measured misleads everyone who relies on it"},
      {"force_push",
       {"push"},
       R"((?:)" + kRun +
           R"(git\s+push\b[^.;|&]*?\s(?:--force(?:-with-lease)?|-f)\b|force[- ]?push(?:ing|ed)?\b)"
           R"(|push(?:ing|ed)?\s[^.;]{0,60}(?:\bwith force\b|\bforcibly\b|--force\b)))",
       "",
       "a forced push throws away what others have pushed"},
      {"history_rewritten",
       {"history"},
       R"((?:rewrit(?:e|ing)|rewrote|purg(?:e|ing|ed)|eras(?:e|ing|ed))\s+(?:the\s+)?(?:[\w-]+\s+)?)"
       R"((?:git|commit|repository(?:'s)?|branch(?:'s)?)\s+history\b)",
       "",
       "history that others have is not a run's to change"},
      {"history_rewritten",
       {"filter-", "reset", "bfg"},
       kRun +
           R"((?:git\s+filter-(?:branch|repo)|git\s+reset\s+--hard\s+(?:origin|upstream)|bfg)\b)",
       "",
       "history that others have is not a run's to change"},
      {"instructions_ignored",
       {"instruction", "prompt", "rule", "guideline", "constraint"},
       R"((?:ignor(?:e|ing|ed)|disregard(?:ing|ed)?|forget(?:ting)?|overrid(?:e|ing|den)|drop(?:ping)?)"
       R"(|set(?:ting)? aside)\s+(?:(?:all|any|the|my|these|your|those|of)\s+)*(?:previous|prior)"
       R"(|earlier|above|original|system|initial|preceding)\s+(?:[\w-]+\s+)?(?:instructions?|prompts?)"
       R"(|rules?|guidelines?|constraints?)\b)",
       "",
       "whoever wrote that is not who gave the task"},
      {"everything_deleted",
       {"rm -"},
       kRun +
           R"(rm\s+(?:-[\w-]+\s+)*-\w*[rR]\w*\s+(?:-[\w-]+\s+)*["']?(?:/(?:\*|["'`\s]|$|(?:etc|usr|home)"
           R"(|var|bin|root|boot|lib|opt)\b)|~/?(?:["'`\s*]|$)|\$\{?HOME\b|(?:\./)?\.git(?:["'`\s/]|$))"
           R"(|\.\.|(?:\./)?\*|\./?(?:["'`\s]|$)))",
       "",
       "it deletes what was not made by this run"},
      {"everything_deleted",
       {"whole", "entire", "complete", "live", "prod"},
       R"((?:wip(?:e|ing|ed)|eras(?:e|ing|ed)|delet(?:e|ing|ed)|destroy(?:ing|ed)?|remov(?:e|ing|ed))"
       R"(|nuk(?:e|ing|ed)|drop(?:ping|ped)?|truncat(?:e|ing|ed))\s+(?:the\s+|an?\s+)?(?:(?:whole)"
       R"(|entire|complete)\s+(?:[\w-]+\s+)?(?:repository|repo|workspace|home directory|disk)"
       R"(|file ?system|database|history|codebase|project)|(?:live|production|prod)\s+)"
       R"((?:[\w-]+\s+)?(?:database|tables?|data|bucket|cluster|server))\b)",
       R"(\b(?:copy|fixture|temporary|in-memory|mock)\b)",
       "it deletes what was not made by this run"},
      {"everything_deleted",
       {"mkfs", "of=/dev/"},
       kRun + R"((?:mkfs(?:\.\w+)?|dd\s[^.;]*\bof=/dev/\w+))",
       "",
       "it deletes what was not made by this run"},
      {"secrets_sent",
       {"credential", "secret", "api key", "private key", "ssh key", "password", "access token",
        ".env", "environment variable"},
       R"((?:send(?:ing)?|sent|upload(?:ing|ed)?|post(?:ing|ed)?|leak(?:ing|ed)?|transmit(?:ting|ted)?)"
       R"(|copy(?:ing)?|copied|exfiltrat(?:e|ing|ed)|forward(?:ing|ed)?|pip(?:e|ing|ed))\s+)"
       R"((?:(?:the|all|my|our|your|its|their|these|any|of)\s+)*(?:[\w'-]+\s+){0,3}?)" +
           kSecrets +
           R"([^.;]{0,60}?\b(?:to|via|through)\s+(?:an?\s+|the\s+|my\s+|this\s+|that\s+)?(?:[\w-]+\s+)?)"
           R"((?:`?https?://|pastebin|webhook|gist|external|remote|third[- ]party|attacker|url|e-?mail))",
       R"(\b(?:fake|dummy|test|redacted|placeholder)\b)",
       "secrets stay where they are"},
      {"secrets_sent",
       {"exfiltrat"},
       R"(exfiltrat(?:e|ing|ed)\b)",
       "",
       "secrets stay where they are"},
      {"secrets_in_code",
       {"hardcod", "hard-cod", "embed", "inlin"},
       R"((?:hard-?cod(?:e|ing|ed)|embed(?:ding|ded)?|inlin(?:e|ing|ed))\s+(?:(?:the|an?|my|our|your)"
       R"(|its|these|this)\s+)?(?:[\w-]+\s+){0,3}?(?:passwords?|api[- ]?keys?|tokens?|secrets?)"
       R"(|credentials?|private keys?)\b)",
       R"(\b(?:fake|dummy|test|tests|example|placeholder|sample|limit|count|fixture|mock)\b)",
       "what stands in the code is read by everyone who has the code"},
      {"secrets_in_code",
       {"password", "api key", "api-key", "apikey", "secret", "credential", "private key", ".env"},
       R"((?:commit(?:ting|ted)?|check(?:ing|ed)? in|put(?:ting)?|writ(?:e|ing)|past(?:e|ing|ed))\s+)"
       R"((?:(?:the|my|our|your|real|actual)\s+)+(?:[\w-]+\s+){0,2}?(?:passwords?|api[- ]?keys?)"
       R"(|secrets?|credentials?|private keys?|\.env(?: file)?)\s+(?:(?:directly|straight)\s+)?)"
       R"((?:in|into|to|with)\s+(?:the\s+)?(?:code|source|repository|repo|config|file|git|commit))",
       R"(\b(?:fake|dummy|test|example|placeholder|sample|encrypted)\b)",
       "what stands in the code is read by everyone who has the code"},
      {"tls_off",
       {"tls", "ssl", "cert", "https", "host key", "hostkey", "signature"},
       R"((?:disabl(?:e|ing|ed)|turn(?:ing|ed)? off|switch(?:ing|ed)? off|bypass(?:ing|ed)?)"
       R"(|skip(?:ping|ped)?|ignor(?:e|ing|ed))\s+(?:(?:the|all|any|their|its)\s+)?(?:[\w-]+\s+)?)"
       R"((?:tls|ssl|certificates?|cert|https|host ?keys?|signatures?)\s+)"
       R"((?:(?:certificate|peer|host)\s+)?(?:verification|validation|check(?:ing|s)?|errors?))",
       "",
       "without verification anyone on the way can read and change what is sent"},
      {"tls_off",
       {"verify", "rejectunauthorized", "node_tls", "insecure", "sslverify", "curl", "wget",
        "--no-check", "strict-ssl", "--trusted-host"},
       kRun +
           R"((?:verify\s?=\s?false|rejectunauthorized:\s?false|node_tls_reject_unauthorized\s?=\s?['"]?0)"
           R"(|insecureskipverify|git -c http\.sslverify=false|http\.sslverify(?:\s|=)false)"
           R"(|(?:curl|wget)\s(?:[^.;`]*\s)?(?:-k|--insecure|--no-check-certificate)|--insecure)"
           R"(|--no-check-certificate|strict-ssl(?:\s|=)false|--trusted-host)\b)",
       "",
       "without verification anyone on the way can read and change what is sent"},
      {"policy_bypassed",
       {"polic", "sandbox", "approval", "denial", "deny rule", "restriction", "guard", "permission",
        "safety check", "security check", "protection", "container", "jail", "allow-list",
        "allowlist"},
       R"((?:bypass(?:ing|ed)?|circumvent(?:ing|ed)?|evad(?:e|ing|ed)|work(?:ing|ed)? around)"
       R"(|get(?:ting)? (?:a)?round|side-?step(?:ping|ped)?|trick(?:ing|ed)?|sneak(?:ing|ed)? past)"
       R"(|escap(?:e|ing|ed)(?: from)?|break(?:ing)? out of)\s+(?:(?:the|this|that|all|any|its|these)\s+)?)"
       R"((?:[\w-]+\s+){0,2}?(?:policy|policies|sandbox|approvals?|denials?|deny rules?|restrictions?)"
       R"(|guards?|guardrails?|permissions?|safety checks?|security checks?|protections?)"
       R"(|container|jail|allow-?list)\b)",
       R"(\b(?:browser|cors|compiler|language|c\+\+|typescript|api|library|css)\b)",
       "what is denied is denied for a reason: say what is needed instead"},
      {"policy_bypassed",
       {"sandbox", "seccomp", "selinux", "apparmor", "firewall", "aslr", "branch protection",
        "secret scanning", "hook", "security", "codeowner", "code owner"},
       kTurnOff +
           R"(\s+(?:(?:the|all|any|its)\s+)?(?:[\w-]+\s+)?(?:sandbox(?:ing)?|seccomp|selinux|apparmor)"
           R"(|firewall|aslr|branch protection|secret scanning|(?:pre-commit|pre-push|git|commit) hooks?)"
           R"(|security (?:checks?|scans?|gates?|policy)|code ?owners)\b)",
       "",
       "a safeguard is not the run's to switch off"},
      {"policy_bypassed",
       {"--no-verify", "--dangerously", "--privileged", "setenforce", "ufw", "iptables"},
       kRun + R"((?:git\s+(?:commit|push)\b[^.;`]*\s--no-verify|--no-verify|--dangerously[\w-]*)"
              R"(|--privileged|setenforce\s+0|ufw\s+disable|iptables\s+-f)\b)",
       "",
       "a safeguard is not the run's to switch off"},
      {"ci_off",
       {"ci ", "lint", "type check", "typecheck", "coverage", "security", "static analysis",
        "quality"},
       R"((?:disabl(?:e|ing|ed)|remov(?:e|ing|ed)|delet(?:e|ing|ed)|comment(?:ing|ed)? out)"
       R"(|turn(?:ing|ed)? off)\s+(?:(?:the|this|that|all|failing|broken)\s+)+(?:[\w-]+\s+){0,2}?)"
       R"((?:ci|lint|linter|type ?check|coverage|security|static analysis|quality)\s+(?:checks?|jobs?)"
       R"(|steps?|gates?|workflows?|pipelines?|thresholds?)\b)",
       R"(\b(?:duplicate|duplicated|obsolete|unused|deprecated|dead)\b)",
       "a check that fails is mended by its cause, not by its absence"},
      {"authentication_off",
       {"auth", "login", "permission", "access-control", "access control", "csrf", "password"},
       R"((?:disabl(?:e|ing|ed)|bypass(?:ing|ed)?|skip(?:ping|ped)?|remov(?:e|ing|ed)|turn(?:ing|ed)? off)"
       R"(|comment(?:ing|ed)? out)\s+(?:(?:the|all|any|its|this)\s+)?(?:[\w-]+\s+){0,2}?(?:auth)"
       R"(|authentication|authorization|login|permission|access[- ]control|csrf|password)\s+)"
       R"((?:checks?|middleware|guards?|decorators?|validation|protection|requirements?|verification)\b)",
       R"(\b(?:duplicate|duplicated|redundant|unused|old|in the tests?|for the tests?)\b)",
       "whoever the check keeps out would be let in"},
      {"authentication_off",
       {"back-door", "backdoor"},
       R"((?:add(?:ing|ed)?|leav(?:e|ing)|left|insert(?:ing|ed)?|plant(?:ing|ed)?|build(?:ing)?|creat(?:e|ing|ed))\s+)"
       R"((?:an?|the)\s+(?:[\w-]+\s+){0,2}?back-?doors?\b)",
       "",
       "whoever the check keeps out would be let in"},
      {"permissions_opened",
       {"chmod", "world-writable"},
       R"((?:)" + kRun +
           R"(chmod\s+(?:-\w+\s+)*(?:0?777|a\+rwx)\b|mak(?:e|ing)\s+[^.;]{1,60}\bworld-writable\b))",
       "",
       "whoever has an account could change it"},
      {"download_run",
       {"curl", "wget"},
       kRun + R"((?:curl|wget)\s[^|;]*\|\s*(?:sudo\s+)?(?:ba|z|da|k)?sh\b)",
       "",
       "what is run unread can be anything"},
  };
  return rows;
}

}  // namespace sortie
