#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/rates/boot_time.h"
#include "core/rates/rate_state.h"
#include "core/rates/rate_state_bytes.h"

namespace sortie {

/// The state in a file that all runs of a machine share, of several users where its permissions let
/// them.
///
/// A lock (flock(2)) keeps others off for the moment of one change; the kernel frees it with its
/// process, however that ends. The file has two places: a change is written to the older one, so that a
/// process that is killed while it writes leaves the state before. The file is written in place and
/// never grows beyond them. What was written before the machine's last start does not count.
class RateStateFile : public RateStore {
 public:
  struct Parts {
    std::filesystem::path path;
    /// Whose file it may be, besides this process's user and root.
    std::optional<uid_t> owner{};
    const BootTime& time;
    Clock& clock;            ///< for pauses while another process has the lock
    std::stop_token stop{};  ///< ends them
    /// Gets a line for the operator when what is in the file can't be used.
    std::function<void(const std::string& line)> say{};
  };

  /// How long another process may have the lock.
  static constexpr std::chrono::seconds kPatience{10};

  /// Opens the file, or makes it (mode 600).
  /// @throws InputError  it is a link, no regular file, another user's, has another name, or holds
  ///                     something else: it is left as it is
  /// @throws Error       environment: the disk is full, say
  explicit RateStateFile(Parts parts);

  /// @throws Stopped  as RateStore: also if a stop is requested while another process has the lock
  void change(const Step& step) override;

 private:
  class Lock;
  void open();
  bool is_in_place() const;
  void check_file(int opened) const;
  void check_content(int opened) const;
  std::optional<StoredState> newest();
  StoredState read(std::chrono::nanoseconds now, bool& damaged);
  void write(StoredState& stored, std::chrono::nanoseconds now);

  Parts parts_;
  Fd file_;
  int place_ = 0;  ///< which of the two has the newest state
};

}  // namespace sortie
