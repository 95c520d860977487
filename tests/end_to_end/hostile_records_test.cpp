// `sortie verify`, `replay` and `land` of a folder that somebody has made to hurt them: they end, in
// bounded memory, and say what is wrong.
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

namespace {

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Makes another run of the folder, whose chain, digests and result fit together.
/// `lines` are the records' texts, `diff` the bytes of changes.diff, in Python.
constexpr const char* kForge = R"py(
import base64, hashlib, json, os, sys, zlib
folder, step = sys.argv[1:3]
count = int(os.environ.get('SORTIE_TEST_RECORDS', '20000'))
sha = lambda data: hashlib.sha256(data).hexdigest()
lines = open(folder + '/transcript.jsonl', 'rb').read().split(b'\n')[:-1]
diff = old_diff = open(folder + '/changes.diff', 'rb').read()
old_end = sha(lines[-1])
record = lambda kind, data: ('{"seq":0,"ts":"2026-11-21T03:14:15.926Z","type":"%s","turn":1,"prev":"%s","data":%s}'
                             % (kind, '0' * 64, data)).encode()
def insert(*more): lines[-1:-1] = more
def coded(data):
    out = b''
    for at in range(0, len(data), 52):
        part = data[at:at + 52]
        letter = chr(len(part) + (64 if len(part) <= 26 else 70)).encode()
        out += letter + base64.b85encode(part + b'\0' * (-len(part) % 4)) + b'\n'
    return out
def binary(size, says, kind=b'literal'):
    global diff
    content = b'\0' * size
    bid = hashlib.sha1(b'blob %d\0' % size + content).hexdigest().encode()
    diff = (b'diff --git a/x.bin b/x.bin\nnew file mode 100644\nindex ' + b'0' * 40 + b'..' + bid +
            b'\nGIT binary patch\n' + kind + b' %d\n' % says + coded(zlib.compress(content, 9)) +
            b'\nliteral 0\nHcmV?d00001\n\n')
    for at, line in enumerate(lines):
        if b'"type":"diff.written"' in line:
            whole = json.loads(line)
            whole['data']['files'] = [{'path': 'x.bin', 'after': {'mode': '100644', 'sha256': sha(content), 'bytes': size}}]
            lines[at] = json.dumps(whole, separators=(',', ':')).encode()
exec(step)
result = open(folder + '/result.json').read()
prev, number = '0' * 64, 0
with open(folder + '/transcript.jsonl', 'wb') as out:
    for line in lines:
        line = line.replace(sha(old_diff).encode(), sha(diff).encode())
        at = line.index(b',"prev":"') + 9
        line = line[:at] + prev.encode() + line[at + 64:]
        line = b'{"seq":%d' % number + line[line.index(b','):]
        prev, number = sha(line), number + 1
        out.write(line + b'\n')
open(folder + '/changes.diff', 'wb').write(diff)
open(folder + '/result.json', 'w').write(result.replace(old_end, prev).replace(sha(old_diff), sha(diff)))
if os.path.exists(folder + '/attestation.json'): os.remove(folder + '/attestation.json')
)py";

/// A finished run with a blob, and copies of its folder.
struct HostileRun : RunFolder {
  HostileRun() {
    write("work/a.txt", "one\n");
    commit_workspace();
    CassetteWriter cassette;
    cassette.shell({"sh", "-c", "echo two >> a.txt; seq 1 400000"}).next().message("done");
    write_task(cassette, "policy: auto\n");
    const ProgramEnd end = run();
    BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
    BOOST_REQUIRE(!fs::is_empty(out() / "blobs"));
    write("forge.py", kForge);
  }
  HostileRun(const HostileRun&) = delete;
  HostileRun& operator=(const HostileRun&) = delete;
  ~HostileRun() {
    std::error_code ignored;
    fs::remove_all(path("copy"), ignored);  // its records fit no schema
  }
  fs::path copy() const {
    const fs::path copied = path("copy");
    fs::remove_all(copied);
    fs::copy(out(), copied, fs::copy_options::recursive);
    return copied;
  }
  void forge(const fs::path& folder, const std::string& step) const {
    const ProgramEnd end =
        run_program({.argv = {"python3", path("forge.py").string(), folder.string(), step}});
    BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  }
  /// With at most 1 GiB of memory, where no sanitizer needs more.
  ProgramEnd bounded(const std::vector<std::string>& words) const {
    std::vector<std::string> argv = {
      "sh",
      "-c",
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
      "exec \"$0\" \"$@\"",
#else
      "ulimit -v 1048576; exec \"$0\" \"$@\"",
#endif
      sortie_binary()
    };
    argv.insert(argv.end(), words.begin(), words.end());
    return run_program({.argv = argv});
  }
  /// All commands that read another's run refuse it, and name the thing.
  void check_refused(const fs::path& folder, const std::string& said) const {
    const std::vector<std::vector<std::string>> commands = {
        {"verify", folder.string()},
        {"replay", folder.string(), "--tools", "recorded"},
        {"replay", folder.string()},
        {"land", folder.string(), "-C", workspace().string(), "--policy", "auto"}};
    for (const auto& command : commands) {
      BOOST_TEST_CONTEXT(command[0] << " " << command.back()) {
        const ProgramEnd end = bounded(command);
        BOOST_TEST((end.status == 8 || end.status == 2), end.status << " " << end.errors);
        BOOST_TEST(holds(end.errors, said), end.errors);
      }
    }
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(hostile_records)

BOOST_AUTO_TEST_CASE(a_record_made_to_hurt_its_reader_is_refused_in_bounded_memory) {
  const HostileRun run;
  const struct {
    const char* name;
    const char* step;
    const char* said;
  } rows[] = {
      {"a binary patch of a gigabyte", "binary(1 << 20, 1 << 30)",
       "'x.bin' is wrong: its binary part says that it has 1073741824 bytes"},
      {"a binary patch of nearly endless size", "binary(1000, 1 << 62)",
       "'x.bin' is wrong: its binary part says that it has 4611686018427387904 bytes"},
      {"a binary patch that inflates to more than it says", "binary(1 << 26, 100)",
       "inflates to more than the 100 bytes"},
      {"a delta that is none", "binary(1 << 20, 1 << 20, b'delta')", "its delta "},
      {"a record that is too long",
       "insert(record('plan.updated', '{\"explanation\":\"' + 'x' * (9 << 20) + '\"}'))",
       "is longer than 8 MiB, which no record is"},
      {"a record that is nested deeply",
       "insert(record('plan.updated', '{\"explanation\":\"\",\"steps\":' + '[' * 100000 + ']' * "
       "100000 + '}'))",
       "nested too deeply"},
      {"a record of a kind of its own that is nested deeply",
       "insert(record('own', '{\"blob\":\"sha256-x\",\"a\":' + '{\"a\":' * 100000 + '1' + '}' * "
       "100000 + '}'))",
       "nested too deeply"},
      {"a record of very many values",
       "insert(record('plan.updated', '{\"explanation\":\"\",\"steps\":[' + '1,' * 1100000 + "
       "'1]}'))",
       "more than a million values"},
      {"very many different diffs",
       "insert(*[record('diff.written', '{\"name\":\"changes.diff\",\"sha256\":\"%d\",\"base\":"
       "\"start\",\"files\":[]}' % n) for n in range(count)])",
       "has more different diffs than a run can have"},
      {"very many stages",
       "insert(*[record('stage.completed', '{\"name\":\"s%d\",\"reason\":\"\",\"turns\":1}' % n) for "
       "n in range(count)])",
       "has more stages than a run can have"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const fs::path folder = run.copy();
      run.forge(folder, row.step);

      run.check_refused(folder, row.said);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_transcript_of_very_many_records_is_read_in_bounded_memory) {
  const HostileRun run;
  for (const char* step :
       {"insert(*[record('plan.updated', '{\"explanation\":\"\",\"steps\":[]}')] * count)",
        "insert(*[record('own', '{}')] * count)",
        "insert(*[record('diff.written', '{\"name\":\"other.diff\",\"sha256\":\"a\",\"base\":"
        "\"start\",\"files\":[]}')] * count)"}) {
    BOOST_TEST_CONTEXT(step) {
      const fs::path folder = run.copy();
      run.forge(folder, step);

      const ProgramEnd verified = run.bounded({"verify", folder.string()});

      BOOST_TEST((verified.status == 0 || holds(verified.errors, "attestation")), verified.errors);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_no_file_or_folder_of_ours_is_named_and_not_waited_for) {
  const HostileRun run;
  const std::string blob = fs::directory_iterator(run.out() / "blobs")->path().filename().string();
  const auto fifo = [](const fs::path& path) {
    fs::remove_all(path);
    BOOST_REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  };
  const auto link = [](const char* to) {
    return [to](const fs::path& path) {
      fs::remove_all(path);
      fs::create_symlink(to, path);
    };
  };
  const auto folder = [](const fs::path& path) {
    fs::remove_all(path);
    fs::create_directory(path);
  };
  const std::pair<const char*, std::function<void(const fs::path&)>> kinds[] = {
      {"a pipe", fifo},
      {"a device", link("/dev/zero")},
      {"a loop", link(".")},
      {"a link to itself", link("transcript.jsonl")},
      {"a folder", folder}};
  const std::pair<std::string, std::string> names[] = {{"result.json", "result.json"},
                                                       {"transcript.jsonl", "transcript.jsonl"},
                                                       {"changes.diff", "changes.diff"},
                                                       {"blobs", "blobs"},
                                                       {"blobs/" + blob, "blobs/" + blob}};
  for (const auto& [kind, make] : kinds)
    for (const auto& [name, said] : names) {
      if (name == "blobs" && kind == std::string("a folder")) continue;
      BOOST_TEST_CONTEXT(name << " is " << kind) {
        const fs::path copy = run.copy();
        make(copy / name);

        run.check_refused(copy, said);
      }
    }
}

BOOST_AUTO_TEST_CASE(folders_that_never_end_are_named) {
  const HostileRun run;
  const fs::path copy = run.copy();
  fs::create_directories(copy / "kept/a");
  fs::create_directory_symlink("..", copy / "kept/a/up");
  run.check_refused(copy, "kept/a/up");

  fs::remove_all(copy / "kept");
  fs::path deep = copy / "kept";
  for (int i = 0; i < 300; ++i) deep /= "d";
  fs::create_directories(deep);
  run.check_refused(copy, "is nested too deeply");
}

BOOST_AUTO_TEST_SUITE_END()
