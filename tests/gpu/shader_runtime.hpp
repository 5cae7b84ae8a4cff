// SPDX-License-Identifier: MIT
#pragma once
/// What the texts in shaders/ need in order to be C++: types and functions of the shader languages, buffers and
/// textures whose every access is checked, and threads of a group that wait for each other. One processor thread at a
/// time.
///
/// Reported, in words, by memory_report(): accesses outside a buffer or texture; a word that one thread of a dispatch
/// writes and another one reads or writes; a thread that ends while others of its group wait. Arrays of threads and
/// groups are plain arrays, which AddressSanitizer checks. Vectors that nothing has set are NaN.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace nsk_shader {

using uint = std::uint32_t;
static_assert(sizeof(int) == 4, "shaders have 32-bit integers");

inline constexpr float unset = std::numeric_limits<float>::quiet_NaN();
struct float2 {
  float x = unset, y = unset;
  float2() = default;
  float2(float a, float b) : x(a), y(b) {}
};
struct float4 {
  float x = unset, y = unset, z = unset, w = unset;
  float4() = default;
  float4(float a, float b, float c, float d) : x(a), y(b), z(c), w(d) {}
};
struct int2 {
  int x = 0, y = 0;
  int2() = default;
  int2(int a, int b) : x(a), y(b) {}
};
struct uint2 {
  uint x = 0, y = 0;
  uint2() = default;
  uint2(uint a, uint b) : x(a), y(b) {}
};
struct uint3 {
  uint x = 0, y = 0, z = 0;
  uint3() = default;
  uint3(uint a, uint b, uint c) : x(a), y(b), z(c) {}
};
struct uint4 {
  uint x = 0, y = 0, z = 0, w = 0;
  uint4() = default;
  uint4(uint a, uint b, uint c, uint d) : x(a), y(b), z(c), w(d) {}
};

#define NSK_SHADER_OPERATOR(op)                                                                              \
  inline float4 operator op(float4 a, float4 b) { return {a.x op b.x, a.y op b.y, a.z op b.z, a.w op b.w}; } \
  inline float4 operator op(float4 a, float b) { return {a.x op b, a.y op b, a.z op b, a.w op b}; }          \
  inline float4 operator op(float a, float4 b) { return {a op b.x, a op b.y, a op b.z, a op b.w}; }          \
  inline float4& operator op##=(float4& a, float4 b) { return a = a op b; }                                  \
  inline float4& operator op##=(float4& a, float b) { return a = a op b; }
NSK_SHADER_OPERATOR(+)
NSK_SHADER_OPERATOR(-)
NSK_SHADER_OPERATOR(*)
NSK_SHADER_OPERATOR(/)
#undef NSK_SHADER_OPERATOR
inline float4 operator-(float4 a) { return {-a.x, -a.y, -a.z, -a.w}; }

#define NSK_SHADER_FUNCTION(name)                     \
  inline float name(float x) { return std::name(x); } \
  inline float4 name(float4 v) { return {std::name(v.x), std::name(v.y), std::name(v.z), std::name(v.w)}; }
NSK_SHADER_FUNCTION(exp)
NSK_SHADER_FUNCTION(exp2)
NSK_SHADER_FUNCTION(log)
NSK_SHADER_FUNCTION(log2)
NSK_SHADER_FUNCTION(sqrt)
NSK_SHADER_FUNCTION(floor)
NSK_SHADER_FUNCTION(ceil)
NSK_SHADER_FUNCTION(sin)
NSK_SHADER_FUNCTION(cos)
NSK_SHADER_FUNCTION(tan)
NSK_SHADER_FUNCTION(nearbyint)
#undef NSK_SHADER_FUNCTION
inline float abs(float x) { return std::fabs(x); }
inline int abs(int x) { return x < 0 ? -x : x; }
inline float4 abs(float4 v) { return {abs(v.x), abs(v.y), abs(v.z), abs(v.w)}; }
/// Undefined for negative x in the shader languages.
inline float pow(float x, float y) { return x < 0 ? unset : std::pow(x, y); }
inline float4 pow(float4 x, float4 y) { return {pow(x.x, y.x), pow(x.y, y.y), pow(x.z, y.z), pow(x.w, y.w)}; }

#define NSK_SHADER_ORDER(type)                              \
  inline type min(type a, type b) { return b < a ? b : a; } \
  inline type max(type a, type b) { return a < b ? b : a; } \
  inline type clamp(type v, type low, type high) { return min(max(v, low), high); }
NSK_SHADER_ORDER(float)
NSK_SHADER_ORDER(int)
NSK_SHADER_ORDER(uint)
#undef NSK_SHADER_ORDER
inline float4 min(float4 a, float4 b) { return {min(a.x, b.x), min(a.y, b.y), min(a.z, b.z), min(a.w, b.w)}; }
inline float4 max(float4 a, float4 b) { return {max(a.x, b.x), max(a.y, b.y), max(a.z, b.z), max(a.w, b.w)}; }
inline float4 clamp(float4 v, float4 low, float4 high) { return min(max(v, low), high); }
inline float multiply_add(float a, float b, float c) { return std::fma(a, b, c); }
inline float4 multiply_add(float4 a, float4 b, float4 c) {
  return {std::fma(a.x, b.x, c.x), std::fma(a.y, b.y, c.y), std::fma(a.z, b.z, c.z), std::fma(a.w, b.w, c.w)};
}

template <class To, class From>
To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

/// A number of 16 bits, in the low half of a word, and back: to nearest, ties to even.
inline float number_of_half(uint h) {
  const int exponent = static_cast<int>(h >> 10 & 31u), mantissa = static_cast<int>(h & 1023u);
  const float magnitude = exponent == 31  ? (mantissa == 0 ? std::numeric_limits<float>::infinity() : unset)
                          : exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -24)
                                          : std::ldexp(static_cast<float>(1024 + mantissa), exponent - 25);
  return (h >> 15 & 1u) != 0 ? -magnitude : magnitude;
}
inline uint half_of_number(float x) {
  const uint sign = std::signbit(x) ? 0x8000u : 0u;
  const float magnitude = std::fabs(x);
  if (std::isnan(x)) return sign | 0x7e00u;
  if (magnitude >= 65520.0f) return sign | 0x7c00u;
  if (magnitude < std::ldexp(1.0f, -14)) return sign | static_cast<uint>(std::nearbyint(std::ldexp(magnitude, 24)));
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  const uint mantissa = static_cast<uint>(std::nearbyint(std::ldexp(magnitude, 11 - exponent)));
  return sign + (static_cast<uint>(exponent + 14) << 10) + mantissa - 1024u;
}
inline float2 unpack_halves(uint pair) { return {number_of_half(pair & 65535u), number_of_half(pair >> 16)}; }
inline uint pack_halves(float low, float high) { return half_of_number(low) | half_of_number(high) << 16; }

/// The first reports since they were last cleared, at most ten, and how many there were in all.
struct report {
  std::vector<std::string> lines;
  int count = 0;
  void add(const std::string& line) {
    if (++count <= 10) lines.push_back(line);
  }
};
inline report& memory_report() {
  static report r;
  return r;
}

/// The thread that runs, counted through its dispatch, and the number of the dispatch.
inline int current_thread = 0, current_dispatch = 0;

/// Bytes of a buffer, and which thread touched each of their words last.
class memory {
 public:
  explicit memory(std::size_t bytes = 0) : m_bytes(bytes), m_words(bytes / 4) {}
  std::byte* data() { return m_bytes.data(); }
  const std::byte* data() const { return m_bytes.data(); }
  std::size_t size() const { return m_bytes.size(); }

  template <class T>
  T read(uint i, const char* name) {
    if (!holds<T>(i, name, "read")) return T();
    T value;
    std::memcpy(&value, data() + i * sizeof(T), sizeof value);
    for (std::size_t w = i * sizeof(T) / 4, end = w + sizeof(T) / 4; w < end; ++w) {
      word& touched = at(w);
      if (touched.writer >= 0 && touched.writer != current_thread) race(name, w, "reads what another one writes");
      touched.reader = touched.reader == none || touched.reader == current_thread ? current_thread : several;
    }
    return value;
  }
  template <class T>
  void write(uint i, const char* name, T value) {
    if (!holds<T>(i, name, "written")) return;
    std::memcpy(data() + i * sizeof(T), &value, sizeof value);
    for (std::size_t w = i * sizeof(T) / 4, end = w + sizeof(T) / 4; w < end; ++w) {
      word& touched = at(w);
      if (touched.writer >= 0 && touched.writer != current_thread) race(name, w, "writes what another one writes");
      if (touched.reader != none && touched.reader != current_thread) race(name, w, "writes what another one reads");
      touched.writer = current_thread;
    }
  }

 private:
  static constexpr int none = -1, several = -2;
  struct word {
    int dispatch = 0, reader = none, writer = none;
  };
  word& at(std::size_t w) {
    if (m_words[w].dispatch != current_dispatch) m_words[w] = {current_dispatch, none, none};
    return m_words[w];
  }
  template <class T>
  bool holds(uint i, const char* name, const char* how) {
    const std::size_t elements = m_bytes.size() / sizeof(T);
    if (i < elements) return true;
    memory_report().add(std::string(name) + "[" + std::to_string(i) + "] of " + std::to_string(elements) + " is " +
                        how);
    return false;
  }
  void race(const char* name, std::size_t w, const char* what) {
    memory_report().add("word " + std::to_string(w) + ", as " + name + ": thread " + std::to_string(current_thread) +
                        " " + what);
  }
  std::vector<std::byte> m_bytes;
  std::vector<word> m_words;
};

/// A buffer as the shader sees it: an array of T.
template <class T>
class view {
 public:
  constexpr explicit view(const char* name) : m_name(name) {}
  void bind(memory* m) { m_memory = m; }
  /// An element; assigning to it writes.
  class element {
   public:
    element(memory* m, uint i, const char* name) : m_memory(m), m_index(i), m_name(name) {}
    operator T() const { return m_memory->read<T>(m_index, m_name); }
    element& operator=(T value) {
      m_memory->write<T>(m_index, m_name, value);
      return *this;
    }
    element& operator=(const element& other) { return *this = static_cast<T>(other); }
    element(const element&) = default;

   private:
    memory* m_memory;
    uint m_index;
    const char* m_name;
  };
  element operator[](uint i) { return {m_memory, i, m_name}; }

 private:
  memory* m_memory = nullptr;
  const char* m_name;
};
/// A buffer that the shader only reads: an array of T.
template <class T>
class constant_view {
 public:
  constexpr explicit constant_view(const char* name) : m_name(name) {}
  void bind(memory* m) { m_memory = m; }
  T operator[](uint i) const { return m_memory->read<T>(i, m_name); }

 private:
  memory* m_memory = nullptr;
  const char* m_name;
};

inline constant_view<float4> W4("W4");
inline constant_view<uint> W("W");
inline view<float4> A4("A4");
inline view<uint> A("A");
inline uint FUNCTION = 0, RESIDUAL = 0, INPUT4 = 0, MODE = 0, OUTPUT4 = 0, WINDOW = 0, HALVES = 0;

/// RGBA bytes.
struct texture {
  uint width = 0, height = 0;
  std::vector<std::uint8_t> rgba;
  bool holds(int x, int y, const char* how) const {
    if (x >= 0 && y >= 0 && static_cast<uint>(x) < width && static_cast<uint>(y) < height) return true;
    memory_report().add("texel (" + std::to_string(x) + ", " + std::to_string(y) + ") is " + how);
    return false;
  }
  std::uint8_t* texel(int x, int y) { return rgba.data() + 4 * (static_cast<std::size_t>(y) * width + x); }
};
inline texture *read_texture = nullptr, *written_texture = nullptr;
inline float4 fetch(texture* t, int x, int y) {
  if (!t || !t->holds(x, y, "read")) return {};
  const std::uint8_t* const p = t->texel(x, y);
  return {p[0] / 255.0f, p[1] / 255.0f, p[2] / 255.0f, p[3] / 255.0f};
}
inline void store(texture* t, int x, int y, float4 color) {
  if (!t || !t->holds(x, y, "written")) return;
  const float level[] = {color.x, color.y, color.z, color.w};
  for (int c = 0; c < 4; ++c)
    t->texel(x, y)[c] = static_cast<std::uint8_t>(std::nearbyint(clamp(level[c], 0.0f, 1.0f) * 255.0f));
}

/// A kernel that was compiled as C++.
struct kernel_body {
  void (*run)(uint3 group, uint3 local) = nullptr;
  void* constants = nullptr;
  std::size_t constant_bytes = 0;
  bool waits = false;  ///< it has barriers
};
/// Runs a whole dispatch; `reversed`: groups, and threads between barriers, from the last to the first.
void run_dispatch(const kernel_body& kernel, const std::uint32_t* constants, int count, uint3 groups,
                  bool reversed = false);
/// Called by a thread: returns when every thread of its group is here.
void wait_for_group();

}

#define NSK_CPP
#define CONSTANTS(list)     \
  struct kernel_constants { \
    list                    \
  };                        \
  kernel_constants pc;
#define READ_TEXTURE(name) nsk_shader::texture*& name = nsk_shader::read_texture;
#define WRITE_TEXTURE(name) nsk_shader::texture*& name = nsk_shader::written_texture;
#define FETCH(name, x, y) nsk_shader::fetch(name, static_cast<int>(x), static_cast<int>(y))
#define STORE(name, x, y, color) nsk_shader::store(name, static_cast<int>(x), static_cast<int>(y), color)
#define KERNEL void run_thread([[maybe_unused]] nsk_shader::uint3 GROUP, [[maybe_unused]] nsk_shader::uint3 LOCAL)
#define GROUP_SHARED
#define FMA(a, b, c) nsk_shader::multiply_add(a, b, c)
#define AS_FLOAT(x) nsk_shader::bits_as<float>(static_cast<nsk_shader::uint>(x))
#define AS_UINT(x) nsk_shader::bits_as<nsk_shader::uint>(static_cast<float>(x))
#define AS_INT(x) static_cast<int>(x)
#define ROUND_EVEN(x) nsk_shader::nearbyint(x)
#define UNPACK_HALVES(x) nsk_shader::unpack_halves(x)
#define PACK_HALVES(x, y) nsk_shader::pack_halves(x, y)
