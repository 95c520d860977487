#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sortie {

/// A place in a source text. Lines and columns count from 1, columns in characters; line 0 means
/// the source as a whole.
struct TextPlace {
  std::size_t source = 0;  ///< from Diagnostics::add_source()
  int line = 0;
  int column = 0;
  int length = 1;  ///< characters to underline, on that line
  bool operator==(const TextPlace&) const = default;
};

enum class Severity { error, note };

/// An error in a source text, or a note that belongs to one.
struct Finding {
  TextPlace place;
  Severity severity = Severity::error;
  std::string message;
  std::string nearest;         ///< the name that was probably meant, or ""
  std::vector<Finding> notes;  ///< "the first one is here"
};

/// Collects the errors of one or more source texts, and shows them all at once, as compilers do:
///
///     task.yaml:12:3: error: unknown key 'verifi' in task; did you mean 'verify'?
///        12 |   verifi:
///           |   ^~~~~~
class Diagnostics {
 public:
  /// @param name  as the user wrote it
  /// @param text  the whole text, for the lines shown; "" where there is none
  std::size_t add_source(std::string name, std::string text);
  const std::string& name(std::size_t source) const { return sources_.at(source).name; }
  const std::string& text(std::size_t source) const { return sources_.at(source).text; }

  void add(Finding finding);
  void error(const TextPlace& place, std::string message, std::string nearest = {});

  bool empty() const noexcept { return findings_.empty(); }
  /// In the order of sources, lines and columns; notes follow their error.
  std::vector<Finding> findings() const;
  /// All findings (if there are over 200, the first ones and a count), without a final newline.
  std::string render() const;
  /// @throws InputError  with render(), when there is any finding
  void throw_if_any() const;

 private:
  struct Source {
    std::string name;
    std::string text;
  };
  void render(const Finding& finding, std::string& to) const;

  std::vector<Source> sources_;
  std::vector<Finding> findings_;
};

/// The place of a byte of the text, on its line.
/// @param length  bytes to underline; cut at the line's end
TextPlace place_at(std::string_view text, std::size_t source, std::size_t offset,
                   std::size_t length = 1);

}  // namespace sortie
