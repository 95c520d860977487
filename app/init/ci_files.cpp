#include "app/init/ci_files.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "app/init/init_files.h"
#include "app/init/templates.h"
#include "core/base/error.h"
#include "core/files/files.h"
#include "core/git/config/git_config_text.h"
#include "core/host/url.h"
#include "core/text/code_point.h"
#include "core/text/deceptive.h"
#include "core/text/text.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr const char* kGitLabFile = ".gitlab-ci.yml";
constexpr std::uint64_t kMostConfig = 1 << 20;

/// The address of the remote `origin`; "" if there is none.
std::string origin_of(const fs::path& git_dir) {
  const TextFile config = read_bytes_file(git_dir / "config", kMostConfig);
  std::string url;
  if (const auto settings = parse_git_config(config.text))
    for (const GitSetting& one : *settings)
      if (one.key == "remote.origin.url") url = one.value;
  return url;
}

/// The host in the address of a remote: "HOST" of scheme://USER@HOST:PORT/PATH and of USER@HOST:PATH;
/// "" for a path of this machine.
/// Source: git-clone(1), GIT URLS.
std::string_view remote_host(std::string_view url) {
  const bool scheme = url.find("://") != std::string_view::npos;
  std::string_view host = scheme ? url_authority(url) : url.substr(0, url.find(':'));
  if (!scheme && (host.size() == url.size() || host.find('/') != std::string_view::npos)) return "";
  if (const std::size_t user = host.rfind('@'); user != std::string_view::npos)
    host.remove_prefix(user + 1);
  return host.substr(0, host.find(':'));
}

/// "sortie", or for a project in a folder below "sortie-packages-shop".
std::string workflow_name(const fs::path& project) {
  std::string name = "sortie";
  if (!project.empty()) name += "-" + project.generic_string();
  for (char& letter : name)
    if (std::string_view("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
            .find(letter) == std::string::npos)
      letter = '-';
  return name;
}

using Values = std::vector<std::pair<std::string, std::string>>;

/// A template with each of these texts replaced, in one pass.
/// @throws Error  it has none of one of them: it was changed, and this was not
std::string filled(const std::string& name, const Values& values) {
  const std::string text = init_template(name);
  for (const auto& [was, is] : values)
    if (text.find(was) == std::string::npos) throw Error("ci/" + name + " has no " + was);
  std::string made;
  for (std::size_t at = 0; at < text.size();) {
    const auto found = std::find_if(values.begin(), values.end(), [&](const auto& one) {
      return text.compare(at, one.first.size(), one.first) == 0;
    });
    if (found == values.end()) {
      made += text[at++];
    } else {
      made += found->second;
      at += found->first.size();
    }
  }
  return made;
}

/// A Groovy string in single quotes.
std::string groovy_text(const std::string& text) {
  std::string made = "'";
  for (const char letter : text) {
    if (letter == '\'' || letter == '\\') made += '\\';
    made += letter == '\n' ? "\\n" : letter == '\r' ? "\\r" : std::string(1, letter);
  }
  return made + "'";
}

/// The project of a workflow in words of its language.
struct ProjectWords {
  std::string task;
  std::string policy;
  std::string workspace;
};

ProjectWords words_of(const fs::path& project, std::string (*text_of)(const std::string&)) {
  const fs::path settings = project / ".sortie";
  return {text_of((settings / "task.yaml").generic_string()),
          text_of((settings / "policy.yaml").generic_string()),
          text_of(project.empty() ? "." : project.generic_string())};
}

constexpr const char* kOpenAiKey = "OPENAI_API_KEY";

fs::path gitlab_file(const fs::path& project) {
  return fs::path(".gitlab/sortie") / (workflow_name(project) + ".gitlab-ci.yml");
}

fs::path jenkins_file(const fs::path& project) { return project / ".sortie/Jenkinsfile"; }

/// "anthropic-api-key", as names of credentials are in Jenkins.
std::string credential_name(std::string variable) {
  for (char& letter : variable)
    letter =
        letter == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return variable;
}

/// Whether the repository's own pipeline exists and has no word of the project's one.
bool lacks_include(const fs::path& top, const fs::path& project) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(top / kGitLabFile, error))) return false;
  const std::string found = read_bytes_file(top / kGitLabFile, kMostConfig).text;
  return found.find(gitlab_file(project).generic_string()) == std::string::npos;
}

InitFile script(const fs::path& folder, const std::string& name, const char* purpose) {
  return {folder / fs::path(name).filename(), init_template(name), purpose, true};
}

std::vector<InitFile> github_files(const fs::path& project, const FirstModel& model) {
  const fs::path workflows = ".github/workflows";
  const std::string name = workflow_name(project);
  const ProjectWords words = words_of(project, yaml_text);
  Values values = {{"\nname: sortie\n", "\nname: " + name + "\n"},
                   {"group: sortie,", "group: " + name + ","},
                   {"task: .sortie/task.yaml\n", "task: " + words.task + "\n"},
                   {"policy: .sortie/policy.yaml\n", "policy: " + words.policy + "\n"},
                   {"workspace: \".\"\n", "workspace: " + words.workspace + "\n"}};
  if (model.key_variable.empty()) {
    values.emplace_back("#   the secret OPENAI_API_KEY\n", "");
    values.emplace_back("    secrets:\n      OPENAI_API_KEY: ${{ secrets.OPENAI_API_KEY }}\n", "");
  } else {
    values.emplace_back(kOpenAiKey, model.key_variable);
  }
  return {
      {workflows / (name + ".yml"), filled("github/workflows/task.yml", values),
       "the workflow, started by hand"},
      {workflows / "sortie-change.yml", init_template("github/workflows/change.yml"),
       "its two jobs: one works, the other opens the pull request"},
      {".github/sortie/action.yml", init_template("github/action.yml"), "the step of the first"},
      script(".github/sortie", "github/run.sh", "its script"),
      script(".github/sortie", "github/land.sh", "the script of the second")};
}

std::vector<InitFile> gitlab_files(const fs::path& top, const fs::path& project,
                                   const FirstModel& model) {
  const fs::path own = gitlab_file(project);
  const std::string name = workflow_name(project);
  const ProjectWords words = words_of(project, yaml_text);
  Values values = {
      {"sortie.gitlab-ci.yml", own.filename()},
      {"\n.sortie:\n", "\n." + name + ":\n"},
      {"extends: .sortie\n", "extends: ." + name + "\n"},
      {"\nsortie:\n", "\n" + name + ":\n"},
      {"job: sortie,", "job: " + name + ","},
      {"\nsortie-merge-request:\n", "\n" + name + "-merge-request:\n"},
      {"SORTIE_TASK: .sortie/task.yaml\n", "SORTIE_TASK: " + words.task + "\n"},
      {"SORTIE_POLICY: .sortie/policy.yaml\n", "SORTIE_POLICY: " + words.policy + "\n"},
      {"SORTIE_WORKSPACE: \".\"\n", "SORTIE_WORKSPACE: " + words.workspace + "\n"}};
  if (model.key_variable.empty())
    values.emplace_back("#   OPENAI_API_KEY, environment sortie/work\n", "");
  else
    values.emplace_back(kOpenAiKey, model.key_variable);
  std::vector<InitFile> files = {
      {own, filled("gitlab/sortie.gitlab-ci.yml", values),
       "its two jobs: one works, the other opens the merge request"},
      script(".gitlab/sortie", "github/run.sh", "the script of the first"),
      script(".gitlab/sortie", "gitlab/land.sh", "the script of the second")};
  std::error_code error;
  if (!fs::exists(fs::symlink_status(top / kGitLabFile, error)))
    files.push_back({kGitLabFile,
                     "include:\n  - local: " + yaml_text("/" + own.generic_string()) + "\n",
                     "includes it"});
  return files;
}

std::vector<InitFile> jenkins_files(const fs::path& project, const FirstModel& model) {
  const ProjectWords words = words_of(project, groovy_text);
  Values values = {{"'.sortie/task.yaml'", words.task},
                   {"'.sortie/policy.yaml'", words.policy},
                   {"SORTIE_WORKSPACE = '.'", "SORTIE_WORKSPACE = " + words.workspace}};
  if (model.key_variable.empty()) {
    values.emplace_back("the credentials \"openai-api-key\" (secret text) and", "the credential");
    values.emplace_back(
        "        withCredentials([string(credentialsId: 'openai-api-key', variable: "
        "'OPENAI_API_KEY')]) {\n          sh '.jenkins/run.sh'\n        }\n",
        "        sh '.jenkins/run.sh'\n");
  } else {
    values.emplace_back(credential_name(kOpenAiKey), credential_name(model.key_variable));
    values.emplace_back(kOpenAiKey, model.key_variable);
  }
  return {{jenkins_file(project), filled("jenkins/Jenkinsfile", values),
           "a pipeline of two stages: one works, the other pushes a branch"},
          script(".jenkins", "github/run.sh", "the script of the first"),
          script(".jenkins", "jenkins/land.sh", "the script of the second")};
}

/// "the secret X and " or "".
std::string if_keyed(const FirstModel& model, const std::string& words) {
  return model.key_variable.empty() ? "" : words;
}

}  // namespace

CiChoice find_ci(const fs::path& top, const fs::path& git_dir) {
  const std::pair<const char*, CiSystem> signs[] = {{".github", CiSystem::github},
                                                    {kGitLabFile, CiSystem::gitlab},
                                                    {".gitlab", CiSystem::gitlab},
                                                    {"Jenkinsfile", CiSystem::jenkins}};
  for (const auto& [name, system] : signs) {
    std::error_code error;
    if (fs::exists(top / name, error)) return {system, std::string("the repository has ") + name};
  }
  // Only the host: a project on GitHub may be called "gitlab-tools".
  if (remote_host(origin_of(git_dir)).find("gitlab") != std::string_view::npos)
    return {CiSystem::gitlab, "the remote is GitLab"};
  return {CiSystem::github, "the repository has no files of another system"};
}

std::vector<InitFile> ci_files(CiSystem system, const fs::path& top, const fs::path& project,
                               const FirstModel& model) {
  switch (system) {
    case CiSystem::github:
      return github_files(project, model);
    case CiSystem::gitlab:
      return gitlab_files(top, project, model);
    case CiSystem::jenkins:
      return jenkins_files(project, model);
    case CiSystem::none:
      break;
  }
  return {};
}

std::string ci_obstacle(const fs::path& project) {
  const std::string name = project.generic_string();
  const bool expands = name.find('$') != std::string::npos;
  bool hides = !is_utf8(name);
  for (std::string_view rest = name; !hides && !rest.empty();) {
    const Character character = character_at(rest);
    hides = character.code < ' ' || character.code == 0x7F || is_deceptive(character.code);
    rest.remove_prefix(character.length);
  }
  if (!expands && !hides) return "";
  return std::string("the folder's name has ") +
         (expands ? "a '$', which CI systems take for the beginning of an expression"
                  : "characters that can't be seen, or that are no UTF-8");
}

std::string ci_folder(CiSystem system) {
  return system == CiSystem::gitlab ? ".gitlab" : system == CiSystem::jenkins ? ".jenkins" : "";
}

std::string ci_next_step(CiSystem system, const fs::path& top, const fs::path& project,
                         const FirstModel& model) {
  // What land.sh of each system calls.
  const std::string programs = system == CiSystem::github   ? "sortie, git, gh, jq"
                               : system == CiSystem::gitlab ? "sortie, git, jq"
                                                            : "sortie, git";
  const std::string image = "SORTIE_IMAGE: an image with " + programs + " and this project's tools";
  switch (system) {
    case CiSystem::github:
      return "in the repository's settings set " +
             if_keyed(model, "the secret " + model.key_variable + " and ") + "the variable " +
             image;
    case CiSystem::gitlab:
      return (lacks_include(top, project)
                  ? std::string("include it in ") + kGitLabFile + " (include: [{local: /" +
                        gitlab_file(project).generic_string() + "}]), and "
                  : "") +
             "set the variables " + if_keyed(model, model.key_variable + ", ") +
             "SORTIE_PUSH_TOKEN and " + image + "; " + gitlab_file(project).generic_string() +
             " says for which environment";
    case CiSystem::jenkins:
      return "make a pipeline with the script path " + jenkins_file(project).generic_string() +
             ", the credentials " + if_keyed(model, credential_name(model.key_variable) + " and ") +
             "sortie-push, and the variable " + image;
    case CiSystem::none:
      break;
  }
  return "";
}

}  // namespace sortie
