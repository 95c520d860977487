#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>

#include "core/base/fd.h"

namespace sortie {

/// The text of a diff. A long one lies in a file without a name and is mapped: what nobody reads takes
/// no memory. Copies share it.
class DiffText {
 public:
  DiffText() = default;
  explicit DiffText(std::string text) : text_(std::move(text)) {}
  /// @param file  has these bytes, and nobody writes to it any more
  /// @throws Error  ExitCode::environment: it can't be mapped
  DiffText(const Fd& file, std::size_t bytes);

  std::string_view view() const noexcept;
  operator std::string_view() const noexcept { return view(); }
  bool empty() const noexcept { return view().empty(); }
  std::size_t size() const noexcept { return view().size(); }
  std::size_t find(std::string_view part) const noexcept { return view().find(part); }
  /// Gives back the memory of what was read. It is read again where somebody looks at it again.
  void give_back() const noexcept;

  friend bool operator==(const DiffText& one, std::string_view other) {
    return one.view() == other;
  }
  friend bool operator==(const DiffText& one, const DiffText& other) {
    return one.view() == other.view();
  }
  friend std::ostream& operator<<(std::ostream& out, const DiffText& text) {
    return out << text.view();
  }

 private:
  class Mapping;

  std::string text_;
  std::shared_ptr<const Mapping> mapping_;
};

/// Called every now and then while a long text is read, with nothing of it kept: for give_back(). Throws
/// nothing.
using ReadOn = std::function<void()>;
/// How much is read before it is called.
constexpr std::size_t kReadOnBytes = 1u << 20;

/// Writes the text of a diff, part by part.
class DiffTextWriter {
 public:
  /// @param folder  of the file of a long text; "": the text stays in memory, as it does where the file
  ///                can't be made or the disk is full
  explicit DiffTextWriter(std::filesystem::path folder = {}) : folder_(std::move(folder)) {}

  void add(std::string_view text);
  void add(char character);
  /// Tells that at most so many bytes follow: room in memory that is not used costs nothing.
  void expect(std::size_t bytes);
  DiffText take();

 private:
  bool stays_in_memory() const noexcept { return folder_.empty(); }
  bool write_out(std::string_view text);
  void come_back();

  std::filesystem::path folder_;
  Fd file_;
  std::size_t written_ = 0;
  std::string text_;  ///< what follows in the file, or all
};

}  // namespace sortie
