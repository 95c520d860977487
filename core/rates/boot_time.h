#pragma once

#include <chrono>
#include <string>

namespace sortie {

/// A time that all processes of a machine share, for as long as it is up.
class BootTime {
 public:
  virtual ~BootTime() = default;
  /// Since the machine was started; goes on while it sleeps. Never set back.
  virtual std::chrono::nanoseconds now() const = 0;
  /// Which start of the machine that is; "" if the kernel does not tell.
  virtual std::string boot() const = 0;
};

/// CLOCK_BOOTTIME (clock_gettime(2)) and the boot id of random(4).
class SystemBootTime : public BootTime {
 public:
  SystemBootTime();
  std::chrono::nanoseconds now() const override;
  std::string boot() const override { return boot_; }

 private:
  std::string boot_;
};

}  // namespace sortie
