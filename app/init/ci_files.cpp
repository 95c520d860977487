#include "app/init/ci_files.h"

#include <utility>

#include "app/init/init_files.h"
#include "app/init/templates.h"
#include "core/base/error.h"
#include "core/files/files.h"
#include "core/git/config/git_config_text.h"

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

/// The template with its %NAME%s replaced, in one pass.
std::string filled(const std::string& text, const Values& values) {
  std::string made;
  for (std::size_t at = 0; at < text.size();) {
    bool replaced = false;
    for (const auto& [name, value] : values)
      if (text.compare(at, name.size(), name) == 0) {
        made += value;
        at += name.size();
        replaced = true;
        break;
      }
    if (!replaced) made += text[at++];
  }
  return made;
}

/// A Groovy string in single quotes.
std::string groovy_text(const std::string& text) {
  std::string made = "'";
  for (const char letter : text) {
    if (letter == '\'' || letter == '\\') made += '\\';
    made += letter;
  }
  return made + "'";
}

std::string own_workflow(const std::string& name, const fs::path& file, const fs::path& project,
                         std::string (*text_of)(const std::string&)) {
  const fs::path settings = project / ".sortie";
  return filled(init_template(name),
                {{"%NAME%", workflow_name(project)},
                 {"%FILE%", file.generic_string()},
                 {"%TASK%", text_of((settings / "task.yaml").generic_string())},
                 {"%POLICY%", text_of((settings / "policy.yaml").generic_string())},
                 {"%WORKSPACE%", text_of(project.empty() ? "." : project.generic_string())},
                 {"%VERSION%", SORTIE_VERSION}});
}

fs::path gitlab_file(const fs::path& project) {
  return fs::path(".gitlab") / (workflow_name(project) + ".yml");
}

fs::path jenkins_file(const fs::path& project) { return project / ".sortie/Jenkinsfile"; }

std::vector<InitFile> github_files(const fs::path& project) {
  const fs::path workflows = ".github/workflows";
  const fs::path own = workflows / (workflow_name(project) + ".yml");
  return {
      {own, own_workflow("github.yml", own, project, yaml_text), "the workflow, started by hand"},
      {workflows / "sortie-change.yml", init_template("workflows/change.yml"),
       "its two jobs: one works, the other opens the pull request"},
      {".github/sortie/action.yml", init_template("action.yml"), "the step of the first"},
      {".github/sortie/run.sh", init_template("run.sh"), "its script", true},
      {".github/sortie/land.sh", init_template("land.sh"), "the script of the second", true}};
}

std::vector<InitFile> gitlab_files(const fs::path& top, const fs::path& project) {
  const fs::path own = gitlab_file(project);
  std::vector<InitFile> files = {
      {own, own_workflow("gitlab.yml", own, project, yaml_text), "the job"}};
  std::error_code error;
  if (!fs::exists(fs::symlink_status(top / kGitLabFile, error)))
    files.push_back({kGitLabFile,
                     "include:\n  - local: " + yaml_text("/" + own.generic_string()) + "\n",
                     "includes it"});
  return files;
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
  if (origin_of(git_dir).find("gitlab") != std::string::npos)
    return {CiSystem::gitlab, "the remote is GitLab"};
  return {CiSystem::github, "the repository has no files of another system"};
}

std::vector<InitFile> ci_files(CiSystem system, const fs::path& top, const fs::path& project) {
  switch (system) {
    case CiSystem::github:
      return github_files(project);
    case CiSystem::gitlab:
      return gitlab_files(top, project);
    case CiSystem::jenkins:
      return {{jenkins_file(project),
               own_workflow("Jenkinsfile", jenkins_file(project), project, groovy_text),
               "the script of a pipeline"}};
    case CiSystem::none:
      break;
  }
  return {};
}

std::string ci_next_step(CiSystem system, const fs::path& top, const fs::path& project) {
  std::error_code error;
  switch (system) {
    case CiSystem::github:
      return "in the repository's settings set the secret OPENAI_API_KEY and the variable "
             "SORTIE_IMAGE: an image with sortie and this project's tools";
    case CiSystem::gitlab: {
      const std::string include = fs::exists(fs::symlink_status(top / kGitLabFile, error))
                                      ? std::string("include it in ") + kGitLabFile +
                                            " (include: [{local: /" +
                                            gitlab_file(project).generic_string() + "}]), and "
                                      : "";
      return include +
             "set the variables OPENAI_API_KEY and SORTIE_IMAGE of the project: an image with "
             "sortie and this project's tools";
    }
    case CiSystem::jenkins:
      return "make a pipeline with the script path " + jenkins_file(project).generic_string() +
             ", the credential openai-api-key and the variable SORTIE_IMAGE: an image with sortie "
             "and this project's tools";
    case CiSystem::none:
      break;
  }
  return "";
}

}  // namespace sortie
