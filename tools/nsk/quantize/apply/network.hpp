// SPDX-License-Identifier: MIT
#pragma once
/// A network with the ranges that samples showed, of which any layers can be made integers.
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>
#include "quantize/choose/flow.hpp"
#include "quantize/layers.hpp"
#include "quantize/apply/quantize.hpp"

namespace nsk::tool {

using report_progress = std::function<void(const std::string& what, double share)>;

class network {
 public:
  /// `v`: biases and normalization are folded; `layers` are its layers; `files` are what the samples were read from.
  network(const variant_source& v, std::vector<float_layer> layers, const std::vector<sample>& samples,
          const std::vector<std::string>& files, const quantize_choices& how, const report_progress& progress);
  /// The network for other shapes than those of the samples, which `seen` is of.
  network(const variant_source& v, std::vector<float_layer> layers, calibration seen, const quantize_choices& how);

  const std::vector<float_layer>& layers() const { return m_layers; }
  const std::string& name_of(value_id v) const { return m_source.g.values[static_cast<std::size_t>(v)].name; }

  /// The network with integers in all layers but `kept`; `watched` become outputs as well. `floats` gets the names of
  /// layers whose sums int32 may not hold.
  variant_source without(const std::set<std::string>& kept, const std::vector<value_id>& watched = {},
                         std::vector<std::string>* floats = nullptr) const;
  variant_source with_only(const std::string& name) const;
  /// without() with the ports that the choices name as stored integers. `ports` gets what these mean.
  variant_source with_integer_ports(const std::set<std::string>& kept, std::map<std::string, stored_port>& ports) const;
  /// The float network, with more outputs.
  variant_source watched(const std::vector<value_id>& ids) const;

  const calibration& seen() const { return m_seen; }
  /// All choices, `integers` being the layers that are.
  overrides chosen(const std::vector<layer_result>& results) const;
  /// What samples showed of the results of layers, and of everything that is stored with integers in all layers but
  /// `kept`, in the order in which it is made.
  std::vector<seen_numbers> tensors(const std::set<std::string>& kept) const;

 private:
  /// Where the tensors have their channels: where the first layer that reads one has them, if there is any.
  std::map<std::string, std::size_t> axes_of(const std::set<std::string>& names) const;
  void require_same(const calibration& c, const std::map<std::string, std::size_t>& axes) const;
  /// Names of the tensors that any choice of layers may store.
  std::set<std::string> stored_names() const;
  void set_scales();
  std::vector<float_layer> layers_without(const std::set<std::string>& kept) const;
  bool is_integer_port(value_id id) const { return m_how.integer_ports.count(name_of(id)) != 0; }
  /// The network with integers in `layers`, before its shapes are inferred.
  variant_source stored(const std::vector<float_layer>& layers, const byte_flow& known,
                        const std::vector<value_id>& watched, std::vector<std::string>* floats) const;
  using remaking = std::function<variant_source(const network&)>;
  /// What `remake` makes of the network for other values of its lengths; null where it has none.
  std::function<variant_source(const length_choice&)> at_lengths(remaking remake) const;
  std::vector<value_id> ids_of(const std::vector<std::string>& names) const;
  std::vector<std::string> names_of(const std::vector<value_id>& ids) const;
  /// What is stored where `layers` are integers, of what samples have shown.
  byte_flow flow_of(const std::vector<float_layer>& layers) const;

  const variant_source m_source;
  const quantize_choices& m_how;
  const std::vector<float_layer> m_layers;
  calibration m_seen;
  std::map<std::string, byte_scale> m_scales;
};

}
