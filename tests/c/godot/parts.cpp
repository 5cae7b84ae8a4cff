// SPDX-License-Identifier: MIT
// Batchers, logs and traces of the extension, as scripts use them.
#include "script.hpp"

using namespace fake_godot;

namespace {

constexpr int answered = 2, waiting = 1, idle = 0, none = -1;  // what standing() returns

/// Calls a method with values of C++.
template <class... Arguments>
script_value get(object* on, const char* name, const Arguments&... given) {
  return call(on, name, nullptr, script_value(given)...);
}
template <class... Arguments>
void good(object* on, const char* name, const Arguments&... given) {
  must(on, name, script_value(given)...);
}
template <class... Arguments>
void bad(const char* begin, object* on, const char* name, const Arguments&... given) {
  refused(begin, on, name, script_value(given)...);
}

object* opened(const char* path) {
  object* const model = make_object("NetsukeModel");
  good(model, "open", file_of(path));
  return model;
}
object* started(object* model) {
  object* const net = make_object("NetsukeSession");
  good(net, "start", model);
  return net;
}
void free_all(std::initializer_list<object*> objects) {
  for (object* o : objects) free_object(o);
}

std::vector<std::int32_t> served(object* crowd) {
  script_value agents = get(crowd, "served");
  std::vector<std::int32_t> numbers(agents.items().size() / 4);
  if (!numbers.empty()) std::memcpy(numbers.data(), agents.items().data(), agents.items().size());
  return numbers;
}
bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
int count_of(const std::string& part, const std::string& text) {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

constexpr int agents = 11, batch = 8, output = 4;

/// A row of an agent; `rows` of them, the others zeros.
std::vector<float> seen(int agent, std::size_t rows = 1) {
  std::vector<float> row(13 * rows);
  for (int i = 0; i < 13; ++i)
    row[static_cast<std::size_t>(i)] = static_cast<float>((agent * 13 + i) * 37 % 101) / 101 - 0.5f;
  return row;
}

/// Rows are answered in the order of asking, with the bits of single runs.
void answers(const char* path) {
  object *const model = opened(path), *const net = started(model), *const one = started(model),
                *const crowd = make_object("NetsukeBatcher");
  good(crowd, "start", model, agents, agents - 1);
  free_object(model);  // the others keep the file
  good(one, "set_rows", 1);
  require(get(crowd, "row_size").number() == 13, "the size of a row");
  for (int agent = agents; agent-- > 1;) good(crowd, "ask", agent, seen(agent));
  bad("queue_full", crowd, "ask", 0, seen(0));
  bad("already_waiting", crowd, "ask", 3, seen(3));
  const auto standing = [crowd](int agent) { return get(crowd, "standing", agent).number(); };
  require(standing(3) == waiting && standing(0) == idle && standing(agents) == none, "standings before a run");
  good(crowd, "run", net);
  require(get(net, "is_complete").number() == 1, "the session of a batcher is complete");
  require(served(crowd) == std::vector<std::int32_t>{10, 9, 8, 7, 6, 5, 4, 3}, "who is served first");
  good(crowd, "gather", net);
  require(get(crowd, "gathered").number() == 2, "rows of a second run");
  int slices = 0;
  do good(net, "run_for", 0), ++slices;
  while (get(net, "is_complete").number() == 0);
  require(slices > 1 && standing(2) == waiting, "a run in slices");
  good(crowd, "scatter", net);
  require(served(crowd) == std::vector<std::int32_t>{2, 1}, "who is served last");
  object* const not_started = make_object("NetsukeSession");
  bad("bad_handle", crowd, "gather", not_started);
  require(get(crowd, "gathered").number() == 0, "rows that were not gathered");
  free_object(not_started);
  good(crowd, "run", net);
  require(served(crowd).empty(), "a run without rows");
  for (int agent = 1; agent < agents; ++agent) {
    good(one, "write", 0, seen(agent, batch));
    good(one, "run");
    std::vector<float> expected = get(one, "read", output).floats();
    expected.resize(2);
    require(standing(agent) == answered && get(crowd, "read", agent, output).floats() == expected,
            "the answer of agent " + std::to_string(agent));
  }
  require(get(crowd, "read", agents, output).items().empty() && get(crowd, "read", 1, 99).items().empty() &&
              get(crowd, "states", 1).items().empty(),
          "what is not there");
  free_all({net, one, crowd});
}

/// The states of an agent go from answer to answer: its inputs are summed up, and twice the sum is the answer.
void recurrent_states(object* model) {
  object *const net = started(model), *const crowd = make_object("NetsukeBatcher");
  good(crowd, "start", model, 2, 2);
  require(get(crowd, "row_size").number() == 8, "a row with its state");
  get(crowd, "add_state", "h", "h_next");
  good(crowd, "start", model, 2, 2);
  require(get(crowd, "row_size").number() == 4, "a row without its state");
  const auto answer = [net, crowd](int agent) {
    good(crowd, "ask", agent, std::vector<float>{1, 2, 3, 4});
    good(crowd, "run", net);
    const std::vector<float> values = get(crowd, "read", agent, 0).floats();
    return values.size() == 4 && values[3] == 4 * values[0] ? values[0] : -1.0f;
  };
  require(answer(0) == 2 && answer(0) == 4 && answer(1) == 2, "sums of two agents");
  const std::vector<std::uint8_t> states = get(crowd, "states", 0).items();
  require(states.size() == 16 && answer(0) == 6, "a third sum");
  good(crowd, "set_states", 0, states);
  require(answer(0) == 6, "a state that was put back");
  good(crowd, "reset", 0);
  require(answer(0) == 2 && answer(1) == 4, "a state that was reset");
  bad("wrong_size", crowd, "set_states", 0, std::vector<std::uint8_t>(15));
  bad("no_such_agent", crowd, "set_states", 2, states);
  free_all({net, crowd});
}

void misused_batcher(object* model, object* other) {
  object *const net = started(model), *const foreign = started(other), *const crowd = make_object("NetsukeBatcher");
  bad("bad_handle", crowd, "run", net);
  bad("bad_handle", crowd, "ask", 0, seen(0));
  bad("bad_handle", crowd, "start", net, 1, 1);
  bad("bad_handle", crowd, "reset", 0);
  require(get(crowd, "standing", 0).number() == none && get(crowd, "row_size").number() == 0 && served(crowd).empty() &&
              get(crowd, "read", 0, 0).items().empty(),
          "a batcher that was not started");
  bad("no_rows", crowd, "start", model, 0, 1);
  bad("no_rows", crowd, "start", model, 1, -1);
  bad("no_rows", crowd, "start", other, 1, 1);
  good(crowd, "start", model, 2, 2);
  bad("wrong_size", crowd, "ask", 0, std::vector<float>(3));
  bad("wrong_size", crowd, "ask", 0, std::vector<float>());
  bad("no_such_agent", crowd, "ask", 2, seen(0));
  bad("no_such_agent", crowd, "ask", -1, seen(0));
  bad("no_such_agent", crowd, "reset", 2);
  good(crowd, "ask", 0, seen(0));
  bad("other_ports", crowd, "run", foreign);
  bad("bad_handle", crowd, "run", model);
  bad("bad_handle", crowd, "gather", model);
  bad("bad_handle", crowd, "scatter", model);
  get(crowd, "add_state", "obs_0", "nothing");
  bad("no_such_port", crowd, "start", model, 1, 1);
  bad("bad_handle", crowd, "run", net);  // what failed to start is closed
  free_all({net, foreign, crowd});
}

/// Steps of a session that is watched: bars and times; bits stay.
void traces(object* model) {
  object *const net = started(model), *const trace = make_object("NetsukeTrace");
  bad("bad_handle", trace, "stage", 0, 1, 2);
  bad("bad_handle", net, "watch", trace);
  bad("bad_handle", net, "watch", net);
  require(get(trace, "finish").text().empty() && get(net, "step_nanoseconds", 0).number() == -1, "before the start");
  good(trace, "start", 1 << 16, "a \"test\"");
  const std::int64_t steps = get(model, "step_count").number();
  require(steps > 0 && get(model, "step_operator", 0).text().size() > 2 && !get(model, "step_name", 0).text().empty() &&
              get(model, "step_name", steps).text().empty() && get(model, "step_operator", steps).text().empty(),
          "steps of a model");
  good(net, "write", 0, inputs_of(elements(model, "input_shape"), 0));
  good(net, "run");
  const std::vector<float> expected = get(net, "read", 0).floats();
  good(net, "reset");
  good(net, "watch", trace);
  const std::int64_t begin = get(trace, "now").number();
  good(net, "run");
  const std::int64_t end = get(trace, "now").number();
  good(net, "unwatch");
  std::int64_t sum = 0;
  for (std::int64_t step = 0; step < steps; ++step) sum += get(net, "step_nanoseconds", step).number();
  require(sum > 0 && sum <= end - begin && get(net, "step_nanoseconds", steps).number() == -1, "times of steps");
  require(get(net, "read", 0).floats() == expected, "bits of a session that is watched");
  good(net, "run");
  std::int64_t later = 0;
  for (std::int64_t step = 0; step < steps; ++step) later += get(net, "step_nanoseconds", step).number();
  require(later == sum, "times of a session that is not watched any more");
  good(trace, "stage", 1, begin, end);
  good(trace, "add", "frame \"one\"", 9, 1, 2);
  good(trace, "name_track", 9, "ninth");
  bad("bad_argument", trace, "stage", 3, begin, end);
  const std::string json = get(trace, "finish").text();
  require(count_of("\"tid\":1,", json) == static_cast<int>(steps) && contains(json, "frame \\\"one\\\"") &&
              contains(json, "a \\\"test\\\"") && contains(json, "\"ninth\"") && contains(json, "\"dropped_events\":0"),
          "the trace: " + json);
  const std::string anew = get(trace, "finish").text();
  require(anew.size() < 300 && contains(anew, "a \\\"test\\\""), "a trace that begins anew: " + anew);
  for (int i = 0; i < 2000; ++i) good(trace, "add", "a bar", 0, i, i + 1);
  require(get(trace, "dropped").number() > 0, "a trace that is full");
  good(net, "watch", trace);
  free_object(trace);  // the session keeps it
  good(net, "run");
  free_object(net);
}

void run_logs(const char* path) {
  object *const model = opened(path), *const log = make_object("NetsukeRunLog");
  bad("bad_handle", log, "slice", 1, true);
  bad("bad_handle", log, "describe", model);
  bad("bad_handle", log, "describe", log);
  bad("bad_argument", log, "start", 0);
  bad("bad_argument", log, "start", -1);
  require(get(log, "line").text().empty() && get(log, "runs").number() == 0, "a log that was not started");
  good(log, "start", 8);
  for (int i = 1; i <= 10; ++i) good(log, "slice", 1000 * i, i != 10);
  require(get(log, "runs").number() == 9 && get(log, "percentile", 100).number() == 9000 &&
              get(log, "worst_slice").number() == 9000,
          "times of runs");
  require(contains(get(log, "line").text(), "\"model\":\"\""), "a line without a model");
  good(log, "describe", model);
  const std::string line = get(log, "line").text();
  free_object(model);  // the log keeps the file, which has its name
  require(get(log, "line").text() == line, "the line without the model's object");
  require(
      line.compare(0, 10, "{\"model\":\"") == 0 && contains(line, "\"p50_us\":5.000") && contains(line, "\"runs\":9"),
      "the line: " + line);
  good(log, "clear");
  require(get(log, "runs").number() == 0, "a log without runs");
  free_object(log);
}

}  // namespace

void batches(const char* agents_path, const char* recurrent_path, const char* image_path) {
  object *const model = opened(agents_path), *const recurrent = opened(recurrent_path),
                *const image = opened(image_path);
  answers(agents_path);
  recurrent_states(recurrent);
  misused_batcher(model, image);
  free_all({model, recurrent, image});
}
void logs(const char* path) {
  object* const model = opened(path);
  traces(model);
  free_object(model);
  run_logs(path);
}
