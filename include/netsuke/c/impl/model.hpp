// SPDX-License-Identifier: MIT
#pragma once
/// Models through the C interface: every argument is checked, then the C++ library answers.
#include <netsuke/core/hide_macros.hpp>
#include <cstddef>
#include <cstring>
#include <limits>
#include <netsuke/c/impl/library.hpp>
#include <netsuke/prepare.hpp>

#if defined(NSK_C_IMPLEMENTATION)
NSK_BEGIN
namespace impl {

inline bool c_has_variant(const nsk_model* m, std::int32_t variant) {
  return c_is_handle(m) && variant >= 0 && variant < m->view.variant_count();
}

inline nsk_status c_check_variant(const nsk_model* m, std::int32_t variant) {
  if (!c_is_handle(m)) return c_bad_handle();
  if (!c_has_variant(m, variant)) return {nsk_status_bad_variant, variant};
  return {nsk_status_ok, -1};
}

/// Names for status::format. A status of this interface does not say whether a port is an input or an output: the names
/// of both are written.
struct c_names {
  variant_view variant;

  void add_name(text_writer& text, const status& s) const {
    variant.add_name(text, s);
    if (s.place() != status_place::port) return;
    const int i = s.where();
    const bool is_input = i < variant.input_count(), is_output = i < variant.output_count();
    if (is_input) text.add(" (input "), text.add_quoted(variant.input(i).name());
    if (is_output) text.add(is_input ? " or output " : " (output "), text.add_quoted(variant.output(i).name());
    if (is_input || is_output) text.add(')');
  }
  void add_choices(text_writer& text, const status& s) const {
    if (s.code() != status_code::no_such_port) return;
    text.add(" (inputs:");
    for (int i = 0; i < variant.input_count(); ++i) add_choice(text, i, variant.input(i).name());
    text.add("; outputs:");
    for (int i = 0; i < variant.output_count(); ++i) add_choice(text, i, variant.output(i).name());
    text.add(')');
  }

 private:
  static void add_choice(text_writer& text, int i, const char* name) {
    text.add(i > 0 ? ", " : " ");
    text.add(i);
    text.add(' ');
    text.add_quoted(name);
  }
};

/// Fills as much of the caller's struct as both sides know; what only the caller knows becomes 0.
inline nsk_status c_describe(const variant_view& v, const port_view& from, nsk_port* port, std::size_t port_bytes) {
  nsk_port p = {};
  constexpr std::size_t first_version_bytes = offsetof(nsk_port, rows) + sizeof p.rows;
  if (port == nullptr) return c_bad_argument(3);
  if (port_bytes < first_version_bytes) return c_bad_argument(4);
  p.name = from.name();
  p.shape = from.shape().data();
  p.rank = static_cast<std::int32_t>(from.shape().size());
  p.source_shape = from.source_shape().data();
  p.source_rank = static_cast<std::int32_t>(from.source_shape().size());
  const std::size_t means = from.mean().size(), deviations = from.deviation().size();
  p.mean = from.mean().data();
  p.deviation = from.deviation().data();
  p.normalisation_count = static_cast<std::int32_t>(means < deviations ? means : deviations);
  p.color = from.color();
  p.elements = static_cast<std::uint64_t>(from.elements());
  p.bytes = from.bytes();
  p.type = static_cast<std::int32_t>(from.type());
  p.label_count = from.label_count();
  p.rows = from.tensor().batch() > 0 ? v.batch() : 0;
  std::memset(static_cast<void*>(port), 0, port_bytes);
  std::memcpy(port, &p, port_bytes < sizeof p ? port_bytes : sizeof p);
  return {nsk_status_ok, -1};
}

}
NSK_END

extern "C" {
size_t nsk_prepare_required_bytes(const void* file, size_t file_bytes) noexcept {
  return file == nullptr ? 0 : nsk::required_bytes({static_cast<const std::byte*>(file), file_bytes});
}
nsk_status nsk_prepare(const void* file, size_t file_bytes, void* memory, size_t memory_bytes) noexcept {
  if (file == nullptr) return nsk::impl::c_bad_argument(0);
  if (memory == nullptr) return nsk::impl::c_bad_argument(2);
  return nsk::impl::c_status(
      nsk::prepare({static_cast<const std::byte*>(file), file_bytes}, {static_cast<std::byte*>(memory), memory_bytes}));
}

size_t nsk_model_required_bytes(void) noexcept { return sizeof(nsk_model); }
nsk_status nsk_model_open(void* memory, size_t memory_bytes, const void* file, size_t file_bytes, uint32_t options,
                          nsk_model** model) noexcept {
  if (model == nullptr) return nsk::impl::c_bad_argument(5);
  *model = nullptr;
  if (const nsk_status s = nsk::impl::c_check_memory<nsk_model>(memory, memory_bytes); s.code != 0) return s;
  if (file == nullptr) return nsk::impl::c_bad_argument(2);
  if ((options & ~static_cast<uint32_t>(nsk_open_check_hash)) != 0) return nsk::impl::c_bad_argument(4);
  nsk_model opened = {};
  nsk::open_options how;
  how.check_hash = (options & nsk_open_check_hash) != 0;
  const nsk::span<const std::byte> bytes(static_cast<const std::byte*>(file), file_bytes);
  if (const nsk::status s = nsk::open<NSK_C_IMPLEMENTATION>(bytes, opened.view, how); !s) return nsk::impl::c_status(s);
  *model = nsk::impl::c_make_handle(memory, opened);
  return {nsk_status_ok, -1};
}
nsk_status nsk_model_close(nsk_model* model) noexcept { return nsk::impl::c_close(model); }
const char* nsk_model_name(const nsk_model* model) noexcept {
  return nsk::impl::c_is_handle(model) ? model->view.name() : "";
}
const char* nsk_model_producer(const nsk_model* model) noexcept {
  return nsk::impl::c_is_handle(model) ? model->view.producer() : "";
}
uint64_t nsk_model_signature(const nsk_model* model) noexcept {
  return nsk::impl::c_is_handle(model) ? model->view.signature() : 0;
}
int32_t nsk_model_variant_count(const nsk_model* model) noexcept {
  return nsk::impl::c_is_handle(model) ? model->view.variant_count() : -1;
}
int32_t nsk_model_find_variant(const nsk_model* model, const char* name) noexcept {
  return nsk::impl::c_is_handle(model) && name != nullptr ? model->view.find_variant(name) : -1;
}
int32_t nsk_model_input_count(const nsk_model* model, int32_t variant) noexcept {
  return nsk::impl::c_has_variant(model, variant) ? model->view.input_count(variant) : -1;
}
int32_t nsk_model_output_count(const nsk_model* model, int32_t variant) noexcept {
  return nsk::impl::c_has_variant(model, variant) ? model->view.output_count(variant) : -1;
}
int32_t nsk_model_find_input(const nsk_model* model, int32_t variant, const char* name) noexcept {
  if (!nsk::impl::c_has_variant(model, variant) || name == nullptr) return -1;
  return model->view.variant(variant).find_input(name);
}
int32_t nsk_model_find_output(const nsk_model* model, int32_t variant, const char* name) noexcept {
  if (!nsk::impl::c_has_variant(model, variant) || name == nullptr) return -1;
  return model->view.variant(variant).find_output(name);
}
int32_t nsk_model_max_batch(const nsk_model* model, int32_t variant) noexcept {
  return nsk::impl::c_has_variant(model, variant) ? model->view.variant(variant).batch() : -1;
}
nsk_status nsk_model_length(const nsk_model* model, int32_t variant, int32_t number, nsk_length* length,
                            size_t length_bytes) noexcept {
  if (const nsk_status s = nsk::impl::c_check_variant(model, variant); s.code != 0) return s;
  if (length == nullptr) return nsk::impl::c_bad_argument(3);
  if (length_bytes < sizeof *length) return nsk::impl::c_bad_argument(4);
  const nsk::variant_view v = model->view.variant(variant);
  for (int i = 0; number >= 0 && i < v.length_count(); ++i) {
    const nsk::length_view l = v.length(i);
    if (!l.is_chosen() || number-- > 0) continue;
    *length = {l.name(), l.minimum(), l.bound(), l.step(), 0};
    return {nsk_status_ok, -1};
  }
  return {nsk_status_no_such_length, -1};
}
nsk_status nsk_model_input(const nsk_model* model, int32_t variant, int32_t input, nsk_port* port,
                           size_t port_bytes) noexcept {
  if (const nsk_status s = nsk::impl::c_check_variant(model, variant); s.code != 0) return s;
  if (input < 0 || input >= model->view.input_count(variant)) return {nsk_status_no_such_port, input};
  return nsk::impl::c_describe(model->view.variant(variant), model->view.input(input, variant), port, port_bytes);
}
nsk_status nsk_model_output(const nsk_model* model, int32_t variant, int32_t output, nsk_port* port,
                            size_t port_bytes) noexcept {
  if (const nsk_status s = nsk::impl::c_check_variant(model, variant); s.code != 0) return s;
  if (output < 0 || output >= model->view.output_count(variant)) return {nsk_status_no_such_port, output};
  return nsk::impl::c_describe(model->view.variant(variant), model->view.output(output, variant), port, port_bytes);
}
const char* nsk_model_label(const nsk_model* model, int32_t variant, int32_t output, int32_t label) noexcept {
  if (!nsk::impl::c_has_variant(model, variant) || output < 0 || output >= model->view.output_count(variant)) return "";
  const nsk::port_view port = model->view.output(output, variant);
  return label >= 0 && label < port.label_count() ? port.label(label) : "";
}
const char* nsk_model_metadata(const nsk_model* model, const char* key) noexcept {
  if (!nsk::impl::c_is_handle(model) || key == nullptr) return nullptr;
  for (int i = 0; i < model->view.metadata_count(); ++i) {
    if (std::strcmp(model->view.metadata_key(i), key) == 0) return model->view.metadata_value(i);
  }
  return nullptr;
}
size_t nsk_status_format(nsk_status status, const nsk_model* model, int32_t variant, char* text,
                         size_t text_bytes) noexcept {
  if (text == nullptr) return 0;
  const nsk::span<char> to(text, text_bytes);
  if (nsk::impl::c_is_engine_code(status.code)) {
    const nsk::status s(static_cast<nsk::status_code>(status.code), status.where);
    if (!nsk::impl::c_has_variant(model, variant)) return s.format(to);
    return s.format(to, nsk::impl::c_names{model->view.variant(variant)});
  }
  nsk::text_writer line(text, text_bytes);
  if (status.where >= 0) {
    line.add(nsk_status_place(status.code)), line.add(' '), line.add(status.where);
    const nsk::status named(nsk::status_code::ok, nsk::impl::c_own_words_of(status.code).place, status.where);
    if (nsk::impl::c_has_variant(model, variant))
      nsk::impl::c_names{model->view.variant(variant)}.add_name(line, named);
    line.add(": ");
  }
  line.add(nsk_status_text(status.code));
  return line.size();
}
nsk_status nsk_arena_required_bytes(const nsk_model* model, int32_t variant, int32_t lanes, uint64_t* bytes) noexcept {
  if (const nsk_status s = nsk::impl::c_check_variant(model, variant); s.code != 0) return s;
  const nsk::variant_view v = model->view.variant(variant);
  const std::size_t maximum = std::numeric_limits<std::size_t>::max() - v.shared_bytes();
  if (lanes < 1 || (v.lane_bytes() != 0 && static_cast<std::size_t>(lanes) > maximum / v.lane_bytes()))
    return nsk::impl::c_bad_argument(2);
  if (bytes == nullptr) return nsk::impl::c_bad_argument(3);
  *bytes = v.required_bytes(lanes);
  return {nsk_status_ok, -1};
}
}
#endif
#include <netsuke/core/restore_macros.hpp>
