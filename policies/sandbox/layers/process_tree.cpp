#include "policies/sandbox/layers/process_tree.h"

#include <fcntl.h>
#include <linux/kcmp.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include "core/base/fd.h"
#include "core/files/folder_stream.h"

namespace sortie {
namespace {

std::string process_path(pid_t process, std::string_view rest) {
  return "/proc/" + std::to_string(process) + std::string(rest);
}

/// A file of /proc; "" if the process has ended or the file is not readable.
std::string read_proc(const std::string& path) {
  // What one read leaves room for is whole: the kernel goes on until a line does not fit (seq_read).
  constexpr std::size_t kLongestLine = 1024;
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  char buffer[4096];
  for (std::size_t count = sizeof buffer; file && count > sizeof buffer - kLongestLine;) {
    count =
        static_cast<std::size_t>(std::max<ssize_t>(::read(file.get(), buffer, sizeof buffer), 0));
    text.append(buffer, count);
  }
  return text;
}

/// The number after a name at a line's start: "write_bytes: 4096", "Pss:  12 kB".
std::uint64_t number_after(std::string_view text, std::string_view name) {
  std::size_t at = text.starts_with(name) ? 0 : text.find('\n' + std::string(name));
  if (at == std::string_view::npos) return 0;
  at = text.find_first_of("0123456789", at + name.size());
  std::uint64_t number = 0;
  if (at != std::string_view::npos)
    std::from_chars(text.data() + at, text.data() + text.size(), number);
  return number;
}

/// /proc/PID/stat from its third field on, since the second may hold any byte (proc(5)).
struct Stat {
  pid_t parent = 0;
  long threads = 0;
  std::uint64_t resident = 0;
  char state = '?';
};

Stat stat_in(const std::string& text) {
  Stat stat;
  const std::size_t end = text.rfind(')');
  if (end == std::string::npos || end + 2 >= text.size()) return stat;
  stat.state = text[end + 2];
  int field = 3;
  for (std::size_t at = end + 2; at < text.size(); ++field) {
    if (field == 4) stat.parent = std::atoi(text.c_str() + at);
    if (field == 20) stat.threads = std::atol(text.c_str() + at);
    if (field == 24) {
      stat.resident = std::strtoull(text.c_str() + at, nullptr, 10) *
                      static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
      break;
    }
    at = text.find(' ', at);
    if (at == std::string::npos) break;
    ++at;
  }
  return stat;
}

Stat read_stat(pid_t process) { return stat_in(read_proc(process_path(process, "/stat"))); }

void add_children(pid_t process, std::string_view thread, std::vector<pid_t>& to) {
  const std::string text =
      read_proc(process_path(process, "/task/" + std::string(thread) + "/children"));
  for (const char* at = text.c_str(); *at != '\0';) {
    char* end = nullptr;
    const long child = std::strtol(at, &end, 10);
    if (end == at) break;
    if (child > 0) to.push_back(static_cast<pid_t>(child));
    at = end;
  }
}

/// Of a thread; a process is over with all of its threads.
bool is_over(const Stat& stat) { return stat.state == 'Z' || stat.state == 'X'; }
bool is_process_over(const Stat& stat) { return is_over(stat) && stat.threads <= 1; }

/// A thread that has the process's memory: the first one, which is its leader, may end before the others,
/// and then has none. 0 if all have ended.
pid_t living_thread(pid_t process) {
  FolderStream tasks(process_path(process, "/task"));
  while (const dirent* entry = tasks.next()) {
    const pid_t thread = std::atoi(entry->d_name);
    if (thread <= 0) continue;
    const Stat stat = read_stat(thread);
    if (stat.state != '?' && !is_over(stat)) return thread;
  }
  return 0;
}

void kill_descendants(pid_t process) {
  for (const pid_t child : children_of(process)) {
    ::kill(child, SIGKILL);
    kill_descendants(child);
  }
}

}  // namespace

std::vector<pid_t> children_of(pid_t process) {
  std::vector<pid_t> children;
  FolderStream tasks(process_path(process, "/task"));
  while (const dirent* entry = tasks.next()) add_children(process, entry->d_name, children);
  return children;
}

namespace {

/// As children_of(), of a process that is known to have so many threads: the only one has its number.
std::vector<pid_t> children_of(pid_t process, long threads) {
  if (threads != 1) return sortie::children_of(process);
  std::vector<pid_t> children;
  add_children(process, std::to_string(process), children);
  return children;
}

void add(pid_t process, const Stat& stat, ProcessFiles& files, TreeUse& use) {
  use.all.push_back({process, stat.threads});
  if (stat.state == '?' || is_process_over(stat)) return;
  use.processes += 1;
  // Of an ended one nothing can be read; /proc/THREAD/io is of the whole process, too.
  const pid_t alive = is_over(stat) ? living_thread(process) : process;
  use.memory_bytes += alive == process ? stat.resident : read_stat(alive).resident;
  const std::string io = files.io(alive);
  const std::uint64_t written = number_after(io, "write_bytes:");
  use.written_bytes += written - std::min(written, number_after(io, "cancelled_write_bytes:"));
}

void add_descendants(const std::vector<pid_t>& children, ProcessFiles& files, TreeUse& use) {
  for (const pid_t child : children) {
    const Stat stat = stat_in(files.stat(child));
    add(child, stat, files, use);
    add_descendants(children_of(child, stat.threads), files, use);
  }
}

std::map<pid_t, Stat> listed_processes(ProcessFiles& files) {
  std::map<pid_t, Stat> all;
  FolderStream folder("/proc");
  while (const dirent* entry = folder.next()) {
    if (const int process = std::atoi(entry->d_name); process > 0)
      all.emplace(process, stat_in(files.stat(process)));
  }
  return all;
}

/// By its parents' numbers, which takes two thirds of the calls that asking for children takes.
std::vector<TreeUse> measure_listed(const std::vector<pid_t>& processes, ProcessFiles& files) {
  std::vector<TreeUse> uses(processes.size());
  const auto all = listed_processes(files);
  for (const auto& [process, stat] : all) {
    pid_t above = stat.parent;
    for (std::size_t steps = 0; steps < all.size(); ++steps) {
      const auto found = std::find(processes.begin(), processes.end(), above);
      if (found != processes.end()) {
        add(process, stat, files, uses[static_cast<std::size_t>(found - processes.begin())]);
        break;
      }
      const auto next = all.find(above);
      if (next == all.end()) break;  // ended meanwhile, or above this process
      above = next->second.parent;
    }
  }
  return uses;
}

}  // namespace

std::vector<TreeUse> measure_descendants(const std::vector<pid_t>& processes, Listed listed,
                                         ProcessFiles& files) {
  std::vector<TreeUse> uses(processes.size());
  if (listed == Listed::own) {
    uses = measure_listed(processes, files);
  } else {
    for (std::size_t i = 0; i < processes.size(); ++i)
      add_descendants(children_of(processes[i]), files, uses[i]);
  }
  files.close_unread();
  return uses;
}

namespace {

std::uint64_t proportional_share(pid_t thread) {
  return number_after(read_proc(process_path(thread, "/smaps_rollup")), "Pss:") * 1024;
}

/// Of one process, without its descendants.
std::uint64_t own_proportional_memory(pid_t process) {
  if (const std::uint64_t share = proportional_share(process); share > 0) return share;
  const pid_t thread = living_thread(process);
  if (thread == 0) return 0;
  const std::uint64_t share = proportional_share(thread);
  return share > 0 ? share : read_stat(thread).resident;
}

}  // namespace

std::uint64_t proportional_memory(pid_t process) {
  std::uint64_t sum = 0;
  for (const pid_t child : children_of(process)) {
    sum += own_proportional_memory(child);
    sum += proportional_memory(child);
  }
  return sum;
}

namespace {

constexpr int kMostDescriptors = 20'000;  ///< checked in one call

/// Threads whose descriptors are all that a process has: mostly its first one. A thread may have a
/// table of its own (unshare(2), CLONE_FILES), and one that has ended has none. All of them where the
/// kernel does not tell (kcmp(2)).
std::vector<pid_t> threads_with_tables(const TreeProcess& process) {
  if (process.threads <= 1) return {process.id};
  std::vector<pid_t> threads;
  FolderStream tasks(process_path(process.id, "/task"));
  while (const dirent* entry = tasks.next()) {
    const pid_t thread = std::atoi(entry->d_name);
    const auto shares_with = [thread](pid_t other) {
      return ::syscall(SYS_kcmp, thread, other, KCMP_FILES, 0, 0) == 0;
    };
    if (thread > 0 && (threads.empty() || !shares_with(threads.back()))) threads.push_back(thread);
  }
  return threads;
}

}  // namespace

DescriptorUse measure_descriptors(const std::vector<TreeProcess>& processes) {
  DescriptorUse use;
  std::set<ino_t> seen;
  int looked = 0;
  std::vector<pid_t> threads;
  for (const TreeProcess& process : processes) {
    const std::vector<pid_t> some = threads_with_tables(process);
    threads.insert(threads.end(), some.begin(), some.end());
  }
  for (const pid_t thread : threads) {
    FolderStream open(process_path(thread, "/fd"));
    while (const dirent* entry = open.next()) {
      if (++looked > kMostDescriptors) return use;
      char target[16];
      const ssize_t length = ::readlinkat(open.descriptor(), entry->d_name, target, sizeof target);
      const std::string_view name(target, static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
      if (name.starts_with("socket:")) ++use.sockets;
      if (!name.starts_with("/memfd:")) continue;
      struct stat status {};
      if (::fstatat(open.descriptor(), entry->d_name, &status, 0) == 0 &&
          seen.insert(status.st_ino).second)
        use.memory_files += static_cast<std::uint64_t>(status.st_blocks) * 512;
    }
  }
  return use;
}

namespace {

/// Adds up a column of a table in /proc/sysvipc, by the name in its first line.
std::uint64_t sum_of(const std::string& path, const std::string& column) {
  std::uint64_t sum = 0;
  std::size_t place = std::string::npos;
  std::istringstream lines(read_proc(path));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    const std::vector<std::string> columns{std::istream_iterator<std::string>(words), {}};
    if (place == std::string::npos)
      place = static_cast<std::size_t>(std::find(columns.begin(), columns.end(), column) -
                                       columns.begin());
    else if (place < columns.size())
      sum += std::strtoull(columns[place].c_str(), nullptr, 10);
  }
  return sum;
}

}  // namespace

std::uint64_t shared_segments() {
  return sum_of("/proc/sysvipc/shm", "rss") + sum_of("/proc/sysvipc/msg", "cbytes");
}

int kill_strays(const std::vector<pid_t>& spared) {
  int killed = 0;
  for (;;) {
    int strays = 0;
    for (const pid_t child : children_of(::getpid())) {
      if (std::find(spared.begin(), spared.end(), child) != spared.end()) continue;
      ++strays;
      if (!is_process_over(read_stat(child))) ++killed;
      ::kill(child, SIGKILL);
      kill_descendants(child);
      while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
      }
    }
    if (strays == 0) return killed;
  }
}

}  // namespace sortie
