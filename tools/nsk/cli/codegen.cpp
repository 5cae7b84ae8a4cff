// SPDX-License-Identifier: MIT
#include <cstdio>
#include <filesystem>

#include "cli/commands.hpp"
#include "cli/length_options.hpp"
#include "codegen/identifiers.hpp"
#include "codegen/network_source.hpp"
#include "engine/model_file.hpp"
#include "io/system/paths.hpp"
#include "io/text.hpp"

namespace nsk::tool {
namespace {

/// Weights up to this many bytes are embedded where the options do not say.
constexpr std::size_t max_embedded = std::size_t{1} << 20;

}

exit_code codegen(const codegen_options& o, command_files& files) {
  if (!o.weights.empty() && o.weights != "embed" && o.weights != "file")
    misuse("codegen: --weights is embed or file, not '" + o.weights + "'.");
  const std::string wanted = o.name.empty() ? utf8_of(path_of(o.model).stem()) : o.name;
  const std::string name = namespace_of(wanted, "network");
  if (!o.name.empty() && name != o.name)
    misuse("codegen: --name '" + o.name + "' is no name for a namespace; '" + name + "' would be one.");
  const model_file file = without_branches(open_model_at(o.model, o.lengths), o.model);
  const int variant = variant_of(file.view, o.variant);
  if (file.view.variant(variant).length_count() > 0)
    refuse("'" + o.model + "' has lengths that a run chooses, and a header computes one shape. Give each of them: " +
           "--length " + file.view.variant(variant).length(0).name() + "=N");
  const std::size_t bytes = constant_bytes(file.view.variant(variant));
  const bool embed = o.weights.empty() ? bytes <= max_embedded : o.weights == "embed";
  const source_files source = network_source(file.view, {name, utf8_of(path_of(o.model).filename()), variant, embed});
  const std::string weights = beside(o.output, ".weights");
  if (!embed) {
    files.add_output_beside("-o", o.output, ".weights");
    files.write(weights, source.weights.data(), source.weights.size());
  }
  files.write(o.output, source.header);
  files.commit();
  if (!o.quiet)
    std::printf("%s: %s::net, %d steps, arena %s, weights %s %s\n", o.output.c_str(), name.c_str(),
                file.view.variant(variant).step_count(),
                bytes_text(static_cast<double>(file.view.variant(variant).required_bytes(1))).c_str(),
                bytes_text(static_cast<double>(bytes)).c_str(), embed ? "embedded" : ("in " + weights).c_str());
  return exit_code::good;
}

}
