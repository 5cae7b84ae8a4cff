// SPDX-License-Identifier: MIT
// The class NetsukeBatcher of Godot: rows of many agents, answered by one run.
#include "classes.hpp"

using namespace godot_api;

namespace {

batcher_object& of(void* self) { return *static_cast<batcher_object*>(self); }
void say(void* self, nsk_status s, void* result) { say(s, of(self).model(), result); }

void batcher_add_state(void* self, const void* const* arguments, void*) {
  of(self).states.emplace_back(text(arguments[0]), text(arguments[1]));
}
void batcher_start(void* self, const void* const* arguments, void* result) {
  const auto* const model = object_of<model_object>(arguments[0]);
  if (model == nullptr || !model->opened)
    return put(result, "bad_handle: start takes a NetsukeModel whose open() returned \"\"");
  say(self, of(self).start(model->opened, index(arguments[1]), index(arguments[2])), result);
}

// --- callers, on any thread ---

void batcher_row_size(void* self, const void* const*, void* result) {
  put(result, static_cast<std::int64_t>(nsk_batcher_row_bytes(of(self).batcher) / sizeof(float)));
}
void batcher_ask(void* self, const void* const* arguments, void* result) {
  const floats row(arguments[1]);
  static const float none = 0;  // an empty array has no address
  say(self,
      nsk_batcher_ask(of(self).batcher, index(arguments[0]), row.data != nullptr ? row.data : &none,
                      row.count * sizeof(float)),
      result);
}
void batcher_standing(void* self, const void* const* arguments, void* result) {
  put(result, std::int64_t{nsk_batcher_standing(of(self).batcher, index(arguments[0]))});
}
void batcher_read(void* self, const void* const* arguments, void* result) {
  const void* data = nullptr;
  std::uint64_t size = 0;
  nsk_port port = {};
  const std::int32_t output = index(arguments[1]);
  const bool good = nsk_batcher_output(of(self).batcher, index(arguments[0]), output, &data, &size).code == 0 &&
                    nsk_model_output(of(self).model(), 0, output, &port, sizeof port).code == 0 &&
                    port.type == nsk_type_float32;
  put_floats(result, data, good ? static_cast<std::size_t>(size) / sizeof(float) : 0);
}
void batcher_states(void* self, const void* const* arguments, void* result) {
  void* data = nullptr;
  std::uint64_t size = 0;
  const bool good = nsk_batcher_recurrent_states(of(self).batcher, index(arguments[0]), &data, &size).code == 0;
  put_bytes(result, data, good ? static_cast<std::size_t>(size) : 0);
}
void batcher_set_states(void* self, const void* const* arguments, void* result) {
  const bytes states(arguments[1]);
  void* data = nullptr;
  std::uint64_t size = 0;
  const nsk_status s = nsk_batcher_recurrent_states(of(self).batcher, index(arguments[0]), &data, &size);
  if (s.code == 0 && size != states.count) return put(result, "wrong_size: give back what states() of an agent gave");
  if (s.code == 0 && size > 0) std::memcpy(data, states.data, states.count);
  say(self, s, result);
}
void batcher_reset(void* self, const void* const* arguments, void* result) {
  say(self, nsk_batcher_reset(of(self).batcher, index(arguments[0])), result);
}

// --- the thread that runs ---

session_object* session_of(const void* argument, void* result) {
  auto* const net = object_of<session_object>(argument);
  if (net == nullptr) put(result, "bad_handle: a batcher runs a NetsukeSession of its model");
  return net;
}
void batcher_run(void* self, const void* const* arguments, void* result) {
  session_object* const net = session_of(arguments[0], result);
  if (net == nullptr) return;
  const nsk_status s = nsk_batcher_run(of(self).batcher, net->session, nullptr);
  net->complete = s.code == 0;
  say(self, s, result);
}
void batcher_gather(void* self, const void* const* arguments, void* result) {
  session_object* const net = session_of(arguments[0], result);
  if (net == nullptr) return;
  of(self).gathered = 0;
  say(self, nsk_batcher_gather(of(self).batcher, net->session, &of(self).gathered), result);
}
void batcher_gathered(void* self, const void* const*, void* result) { put(result, std::int64_t{of(self).gathered}); }
void batcher_scatter(void* self, const void* const* arguments, void* result) {
  session_object* const net = session_of(arguments[0], result);
  if (net != nullptr) say(self, nsk_batcher_scatter(of(self).batcher, net->session), result);
}
void batcher_served(void* self, const void* const*, void* result) {
  std::vector<std::int32_t> agents;
  const std::int32_t count = nsk_batcher_served(of(self).batcher);
  for (std::int32_t row = 0; row < count; ++row) agents.push_back(nsk_batcher_served_agent(of(self).batcher, row));
  put_ints(result, agents.data(), agents.size());
}

constexpr argument agent = {"agent", int_type, nullptr}, session = {"session", object_type, session_object::name};
const method methods[] = {
    {"add_state", no_type, {{"input", string_type, nullptr}, {"output", string_type, nullptr}}, batcher_add_state},
    {"start",
     string_type,
     {{"model", object_type, model_object::name}, {"agents", int_type, nullptr}, {"slots", int_type, nullptr}},
     batcher_start},
    {"row_size", int_type, {}, batcher_row_size},
    {"ask", string_type, {agent, {"row", floats_type, nullptr}}, batcher_ask},
    {"standing", int_type, {agent}, batcher_standing},
    {"read", floats_type, {agent, {"output", int_type, nullptr}}, batcher_read},
    {"states", bytes_type, {agent}, batcher_states},
    {"set_states", string_type, {agent, {"states", bytes_type, nullptr}}, batcher_set_states},
    {"reset", string_type, {agent}, batcher_reset},
    {"run", string_type, {session}, batcher_run},
    {"gather", string_type, {session}, batcher_gather},
    {"gathered", int_type, {}, batcher_gathered},
    {"scatter", string_type, {session}, batcher_scatter},
    {"served", ints_type, {}, batcher_served},
};

}

void register_batcher() { register_object<batcher_object>(methods); }
