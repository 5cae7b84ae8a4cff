// SPDX-License-Identifier: MIT
#include "passes/stream/rewrite.hpp"

#include <string>
#include <utility>

#include "passes/stream/stream.hpp"

namespace nsk::tool {
namespace {

constexpr std::size_t row_axis = 2;

const std::string band_mark = "/band", window_mark = "/window";

/// What is before the mark and a number at the end of a name; empty for other names.
std::string without(const std::string& mark, const std::string& name) {
  const std::size_t at = name.rfind(mark);
  const bool numbered = at != std::string::npos && at + mark.size() < name.size() &&
                        name.find_first_not_of("0123456789", at + mark.size()) == std::string::npos;
  return numbered ? name.substr(0, at) : std::string();
}

/// Rows of a value that are in a value of their own.
struct piece {
  int value = no_value;
  row_range rows;
};

class writer {
 public:
  writer(program& p, std::vector<operation>& to) : m_p(p), m_to(to) {}

  void write(const banded_run& r) {
    const std::vector<operation> source(m_p.operations.begin() + static_cast<std::ptrdiff_t>(r.run.first),
                                        m_p.operations.begin() + static_cast<std::ptrdiff_t>(r.run.end));
    const int result = source.back().output;
    std::vector<piece> parts;
    m_windows.clear();
    for (std::size_t k = 0; k < r.bands.size(); ++k)
      for (const operation& o : source) {
        const band_rows& rows = r.bands[k].at(o.output);
        if (rows.added.count() == 0) continue;
        const piece part = {computed(o, rows.added, k), rows.added};
        if (o.output == result)
          parts.push_back(part);
        else
          keep(o, part, rows.window, k);
      }
    join(source.back(), parts, result);
  }

 private:
  const std::string& name_of(int v) const { return m_p.values[static_cast<std::size_t>(v)].name; }
  int add_value(int of, std::int64_t rows, std::string name) {
    program_value v = m_p.values[static_cast<std::size_t>(of)];
    v.name = std::move(name);
    v.shape[row_axis] = rows;
    return m_p.add(std::move(v));
  }

  /// Rows of a value of the run, or of one from outside.
  int rows_of(int v, row_range rows, const operation& reader) {
    const auto window = m_windows.find(v);
    const piece from = window != m_windows.end() ? window->second : piece{v, {0, m_p.shape(v)[row_axis]}};
    if (from.rows == rows) return from.value;
    operation slice;
    slice.name = reader.name;
    slice.source = reader.source;
    slice.inputs = {from.value};
    slice_parameters s;
    s.starts = {0, 0, rows.first - from.rows.first, 0};
    s.steps = {1, 1, 1, 1};
    slice.p = s;
    slice.output = add_value(v, rows.count(), name_of(v) + "/rows" + std::to_string(rows.first));
    m_to.push_back(slice);
    return slice.output;
  }

  int computed(const operation& o, row_range rows, std::size_t k) {
    operation band = band_of(m_p, o, rows);
    const auto cut = [&](int v) {
      return v != no_value && is_read_by_rows(m_p, o, v) ? rows_of(v, rows_read(m_p, o, v, rows), o) : v;
    };
    for (int& v : band.inputs) v = cut(v);
    band.post.residual = cut(band.post.residual);
    band.output = add_value(o.output, rows.count(), name_of_band(name_of(o.output), k));
    m_to.push_back(std::move(band));
    return m_to.back().output;
  }

  /// Makes `window` of a value what is there of it: rows of before, then `part`.
  void keep(const operation& o, const piece& part, row_range window, std::size_t k) {
    const row_range kept = {window.first, part.rows.first};
    if (kept.count() == 0) {
      m_windows[o.output] = part;
      return;
    }
    const piece before = {rows_of(o.output, kept, o), kept};
    m_windows[o.output] = {add_value(o.output, window.count(), name_of_window(name_of(o.output), k)), window};
    join(o, {before, part}, m_windows[o.output].value);
  }

  void join(const operation& o, const std::vector<piece>& parts, int result) {
    operation concat;
    concat.name = o.name;
    concat.source = o.source;
    for (const piece& part : parts) concat.inputs.push_back(part.value);
    concat.p = concat_parameters{static_cast<int>(row_axis)};
    concat.output = result;
    m_to.push_back(std::move(concat));
  }

  program& m_p;
  std::vector<operation>& m_to;
  std::map<int, piece> m_windows;
};

}

std::string name_of_band(const std::string& value, std::size_t k) { return value + band_mark + std::to_string(k); }
std::string name_of_window(const std::string& value, std::size_t k) { return value + window_mark + std::to_string(k); }
std::string whole_of_band(const std::string& name) { return without(band_mark, name); }
bool is_window(const std::string& name) { return !without(window_mark, name).empty(); }

void put_into_bands(program& p, const std::vector<banded_run>& runs) {
  std::vector<operation> all;
  writer w(p, all);
  std::size_t at = 0;
  for (const banded_run& r : runs) {
    all.insert(all.end(), p.operations.begin() + static_cast<std::ptrdiff_t>(at),
               p.operations.begin() + static_cast<std::ptrdiff_t>(r.run.first));
    w.write(r);
    at = r.run.end;
  }
  all.insert(all.end(), p.operations.begin() + static_cast<std::ptrdiff_t>(at), p.operations.end());
  p.operations = std::move(all);
}

}
