// SPDX-License-Identifier: MIT
// The nsk command line: options in, exit code out. 0 good, 1 usage, 2 input refused, 3 numeric check failed.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <netsuke/version.hpp>

#include "cli/command_line.hpp"
#include "cli/common_options.hpp"
#include "cli/deprecated.hpp"
#include "cli/usage.hpp"
#include "io/system/program.hpp"

namespace {
using namespace nsk::tool;

exit_code dispatch(const std::vector<std::string>& given) {
  file_options files;
  CLI::App app("nsk: converts neural networks for the netsuke engine, runs, inspects, checks and measures them.",
               "nsk");
  app.footer(
      "\nExample:\n"
      "  nsk convert model.onnx -o model.nsk --check && nsk bench model.nsk\n\n"
      "`nsk COMMAND --help` tells more. Results go to standard output, progress and errors to standard error.\n"
      "Exit codes: 0 good, 1 usage, 2 input refused, 3 numeric check failed.");
  app.get_formatter()->column_width(option_column);
  app.set_version_flag("--version", "nsk " NSK_VERSION_STRING);
  app.require_subcommand(1);
  convert_options convert_with;
  quantize_options quantize_with;
  run_options run_with;
  inspect_options inspect_with;
  check_options check_with;
  bench_options bench_with;
  profile_options profile_with;
  prepare_options prepare_with;
  selftest_options selftest_with;
  json_options json_with;
  from_json_options from_json_with;
  codegen_options codegen_with;
  const CLI::App* converting = add_convert(app, files, convert_with);
  const CLI::App* quantizing = add_quantize(app, files, quantize_with);
  const CLI::App* running = add_run(app, files, run_with);
  const CLI::App* inspecting = add_inspect(app, files, inspect_with);
  const CLI::App* checking = add_check(app, files, check_with);
  const CLI::App* profiling = add_profile(app, files, profile_with);
  const CLI::App* preparing = add_prepare(app, files, prepare_with);
  const CLI::App* replaying = add_selftest(app, files, selftest_with);
  const CLI::App* writing_json = add_json(app, files, json_with);
  const CLI::App* reading_json = add_from_json(app, files, from_json_with);
  const CLI::App* generating = add_codegen(app, files, codegen_with);
  const CLI::App* listing =
      add_command(app, "operators", "List the ONNX operators that import, as Markdown", "  nsk operators");
  add_bench(app, files, bench_with);
  for (CLI::App* command : app.get_subcommands(nullptr)) files.explain(command);
  try {
    std::vector<std::string> words = without_deprecated(given);
    std::reverse(words.begin(), words.end());  // as CLI11 takes them
    app.parse(std::move(words));
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e) == 0 ? exit_code::good : exit_code::usage;  // help and version
    misuse(usage_message(app, e, given.empty() ? nullptr : given.front().c_str()));
  }
  command_files declared;
  files.declare(app.get_subcommands().front(), declared);
  if (converting->parsed()) return convert(convert_with, declared);
  if (quantizing->parsed()) return quantize(quantize_with, declared);
  if (running->parsed()) return run(run_with, declared);
  if (inspecting->parsed()) return inspect(inspect_with, declared);
  if (checking->parsed()) return check(check_with, declared);
  if (listing->parsed()) return operators();
  if (profiling->parsed()) return profile(profile_with, declared);
  if (preparing->parsed()) return prepare(prepare_with, declared);
  if (replaying->parsed()) return selftest(selftest_with);
  if (writing_json->parsed()) return to_json(json_with, declared);
  if (reading_json->parsed()) return from_json(from_json_with, declared);
  if (generating->parsed()) return codegen(codegen_with, declared);
  return bench(bench_with, declared);
}

int fail(exit_code code, const char* message) {
  std::fprintf(stderr, "nsk: %s\n", message);
  return static_cast<int>(code);
}

}

int main(int argc, char** argv) {
  try {
    const exit_code code = dispatch(begin_program(argc, argv));
    if (std::fflush(stdout) != 0 || std::ferror(stdout))
      return fail(exit_code::refused, "cannot write to standard output (is the disk full?).");
    return static_cast<int>(code);
  } catch (const error& e) {
    return fail(e.code, e.what());
  } catch (const std::bad_alloc&) {
    return fail(exit_code::refused, "not enough memory for this model.");
  } catch (const std::exception& e) {
    return fail(exit_code::refused, e.what());
  }
}
