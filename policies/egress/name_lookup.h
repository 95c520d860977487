#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/fd.h"
#include "core/host/ip_address.h"
#include "core/names/host_resolver.h"

namespace sortie {

/// Looks names up in threads, for a loop that must not block. Lookups that are still running when
/// this object is destroyed are abandoned, since a lookup can't be interrupted.
class NameLookup {
 public:
  struct Answer {
    std::uint64_t id = 0;
    std::vector<IpAddress> addresses;
    std::string problem;
  };

  /// @param resolver  shared with the threads, which may outlive this object
  explicit NameLookup(std::shared_ptr<HostResolver> resolver);
  NameLookup(const NameLookup&) = delete;
  NameLookup& operator=(const NameLookup&) = delete;
  ~NameLookup();

  /// @param id  returned with the answer
  void start(std::uint64_t id, const std::string& name);
  /// Readable when there are answers.
  int descriptor() const noexcept;
  std::vector<Answer> take_answers();

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;  ///< with the threads
};

}  // namespace sortie
