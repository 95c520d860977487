#pragma once

#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace sortie {

/// The files of a project, as its toolchain is found by them.
class Project {
 public:
  explicit Project(std::filesystem::path folder) : folder_(std::move(folder)) {}
  const std::filesystem::path& folder() const noexcept { return folder_; }

  bool has(const std::string& name) const;
  bool has_folder(const std::string& name) const;
  /// The first of these names that exists; "" if none does.
  std::string first_of(std::initializer_list<const char*> names) const;
  /// The first file, by name, at the top that ends so; "" if none does.
  std::string first_ending(std::string_view ending) const;
  /// A file of at most 1 MiB; "" if there is none.
  std::string text(const std::string& name) const;
  /// Whether one of these files has the word anywhere in its text.
  bool mentions(std::initializer_list<const char*> names, std::string_view word) const;
  /// "NAME/**" of each of these that is a folder.
  std::vector<std::string> patterns_of(std::initializer_list<const char*> folders) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace sortie
