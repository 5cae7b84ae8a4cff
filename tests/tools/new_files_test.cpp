// SPDX-License-Identifier: MIT
#include "io/new_files.hpp"

#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "errors.hpp"
#include "io/command_files.hpp"

namespace {

using namespace nsk::tool;
namespace fs = std::filesystem;

struct folder {
  fs::path path = fs::path(NSK_TEST_BINARY_DIR) / "new_files_test";
  folder() {
    fs::remove_all(path);
    fs::create_directories(path);
  }
  ~folder() { fs::remove_all(path); }
  std::string at(const char* name) const { return (path / name).string(); }
  std::set<std::string> names() const {
    std::set<std::string> result;
    for (const auto& entry : fs::directory_iterator(path)) result.insert(entry.path().filename().string());
    return result;
  }
};

void put(const std::string& path, const char* text) { std::ofstream(path) << text; }

std::string content(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

using names = std::set<std::string>;

}

TEST_CASE("files wait, under a name or without, and appear together") {
  for (const auto how : {new_files::waiting::unnamed, new_files::waiting::named}) {
    const folder f;
    put(f.at("a"), "older");
    {
      new_files dropped(how);
      dropped.add(f.at("a"), "new");
      dropped.add(f.at("b"), "new");
      dropped.make_directory(f.at("c/d"));
      CHECK(content(f.at("a")) == "older");
      if (how == new_files::waiting::named) CHECK(f.names().size() == 4);
    }
    CHECK(f.names() == names{"a"});
    new_files kept(how);
    kept.add(f.at("a"), "new");
    kept.add(f.at("b"), "newer");
    kept.make_directory(f.at("c"));
    kept.commit();
    CHECK(f.names() == names{"a", "b", "c"});
    CHECK(content(f.at("a")) == "new");
    CHECK(content(f.at("b")) == "newer");
  }
}

TEST_CASE("a rename that fails takes those before it back") {
  for (const auto how : {new_files::waiting::unnamed, new_files::waiting::named}) {
    const folder f;
    put(f.at("a"), "older");
    {
      new_files files(how);
      files.add(f.at("a"), "new");
      files.add(f.at("b"), "new");
      files.add(f.at("c"), "new");
      fs::create_directory(f.path / "c");
      CHECK_THROWS_AS(files.commit(), error);
    }
    CHECK(f.names() == names{"a", "c"});
    CHECK(content(f.at("a")) == "older");
  }
}

TEST_CASE("more files than descriptors") {
  const folder f;
  new_files files;
  for (int i = 0; i < 2000; ++i) files.add(f.at(std::to_string(i).c_str()), "x");
  files.commit();
  CHECK(f.names().size() == 2000);
}

TEST_CASE("a signal waits until nothing is half done") {
  enum class moment { before_another, before_commit, before_end };
  for (const auto how : {new_files::waiting::unnamed, new_files::waiting::named})
    for (const moment when : {moment::before_another, moment::before_commit, moment::before_end}) {
      const folder f;
      const pid_t child = ::fork();
      if (child == 0) {
        std::signal(SIGTERM, SIG_DFL);
        try {
          new_files files(how);
          files.add(f.at("a"), "new");
          files.add(f.at("b"), "new");
          ::raise(SIGTERM);
          if (when == moment::before_another) files.add(f.at("c"), "new");
          if (when == moment::before_commit) files.commit();
        } catch (const error&) {
        }
        ::_exit(0);
      }
      int status = 0;
      REQUIRE(::waitpid(child, &status, 0) == child);
      CHECK(WIFSIGNALED(status));
      CHECK(WTERMSIG(status) == SIGTERM);
      CHECK(f.names() == (when == moment::before_commit ? names{"a", "b"} : names{}));
    }
}

TEST_CASE("only declared outputs are written") {
  const folder f;
  command_files files;
  files.add_output("--json", f.at("a"));
  files.add_input("source", f.at("b"));
  CHECK_THROWS_AS(files.write(f.at("b"), "text"), std::logic_error);
  CHECK_THROWS_AS(files.write(f.at("c"), "text"), std::logic_error);
  CHECK_THROWS_AS(files.add_input("--profile", f.at("a")), error);
  CHECK_THROWS_AS(files.add_output("--report", f.at("b")), error);
  CHECK_THROWS_AS(files.add_output("--report", f.at("./a")), error);
}
