#include "core/text/glob_list.h"

#include <atomic>
#include <cstddef>
#include <mutex>

#include "core/text/name_filter.h"

namespace sortie {
namespace {

/// As many paths as it takes until a filter has paid for itself.
constexpr std::size_t kManyPaths = 64;

}  // namespace

struct GlobList::Names {
  std::atomic<std::size_t> asked = 0;
  std::once_flag once{};
  std::unique_ptr<const NameFilter> filter{};
};

GlobList::GlobList() : names_(std::make_unique<Names>()) {}
GlobList::GlobList(GlobList&&) noexcept = default;
GlobList& GlobList::operator=(GlobList&&) noexcept = default;
GlobList::~GlobList() = default;

void GlobList::add(const std::string& glob, LetterCase letters) {
  patterns_.push_back(Pattern::path_glob(glob, letters));
  globs_.push_back(glob);
}

bool GlobList::matches(std::string_view path) const {
  if (patterns_.empty()) return false;
  if (++names_->asked > kManyPaths) {
    std::call_once(names_->once,
                   [&] { names_->filter = std::make_unique<const NameFilter>(globs_); });
    if (!names_->filter->may_match(path)) return false;
  }
  return any_matches(patterns_, path);
}

}  // namespace sortie
