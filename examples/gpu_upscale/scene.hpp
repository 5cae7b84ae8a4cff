// SPDX-License-Identifier: MIT
#pragma once
/// The game: a moving scene that OpenGL renders into a texture, and a texture that it shows in a window. No assets: one
/// triangle over the whole target, whose fragments compute shapes, a floor and signs like those of a text.
#include <string>
#include "devices/gl.hpp"
#include "support/file.hpp"

// clang-format off
#define SCENE_FUNCTIONS(X) \
  X(ActiveTexture) X(AttachShader) X(BindFramebuffer) X(BindSampler) X(BindTexture) X(BindVertexArray) \
  X(CheckFramebufferStatus) X(CompileShader) X(CreateProgram) X(CreateShader) X(DeleteFramebuffers) X(DeleteProgram) \
  X(DeleteSamplers) X(DeleteShader) X(DeleteVertexArrays) X(DrawArrays) X(FramebufferTexture2D) X(GenFramebuffers) \
  X(GenSamplers) X(GenVertexArrays) X(GetProgramInfoLog) X(GetProgramiv) X(GetShaderInfoLog) X(GetUniformLocation) \
  X(LinkProgram) X(SamplerParameteri) X(ShaderSource) X(Uniform1f) X(Uniform2f) X(UseProgram) X(Viewport)
// clang-format on

class scene {
 public:
  /// Compiles the shaders for the current context, whose functions `find` returns.
  scene(gl_functions::finder find, gl_language language) {
    load(find);
    m_heading = language == gl_language::glsl_430 ? "#version 430 core\n"
                                                  : "#version 310 es\nprecision highp float;\nprecision highp int;\n";
    m_render = program_of(k_scene);
    m_show = program_of(k_show);
    gl.GenVertexArrays(1, &m_no_vertices);
    gl.GenFramebuffers(1, &m_frame);
    gl.GenSamplers(1, &m_linear);
    for (const GLenum filter : {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER})
      gl.SamplerParameteri(m_linear, filter, GL_LINEAR);
    for (const GLenum wrap : {GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T})
      gl.SamplerParameteri(m_linear, wrap, GL_CLAMP_TO_EDGE);
  }
  ~scene() {
    gl.DeleteProgram(m_render);
    gl.DeleteProgram(m_show);
    gl.DeleteVertexArrays(1, &m_no_vertices);
    gl.DeleteFramebuffers(1, &m_frame);
    gl.DeleteSamplers(1, &m_linear);
  }
  scene(const scene&) = delete;
  scene& operator=(const scene&) = delete;

  /// Renders the scene at a time into a texture, its upper row first.
  void render(const gl_device::texture& to, double seconds) {
    gl.BindFramebuffer(GL_FRAMEBUFFER, m_frame);
    gl.FramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, to.handle, 0);
    if (gl.CheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
      example::fail("OpenGL cannot render into a texture of RGBA bytes");
    cover(m_render, static_cast<int>(to.width), static_cast<int>(to.height));
    gl.Uniform1f(gl.GetUniformLocation(m_render, "seconds"), static_cast<float>(seconds));
    gl.DrawArrays(GL_TRIANGLES, 0, 3);
  }
  /// Fills the window of width x height pixels with a texture, bilinear.
  void show(const gl_device::texture& from, int width, int height) {
    gl.BindFramebuffer(GL_FRAMEBUFFER, 0);
    cover(m_show, width, height);
    gl.ActiveTexture(GL_TEXTURE0);
    gl.BindTexture(GL_TEXTURE_2D, from.handle);
    gl.BindSampler(0, m_linear);
    gl.DrawArrays(GL_TRIANGLES, 0, 3);
    gl.BindSampler(0, 0);
  }

 private:
  struct functions {
#define SCENE_POINTER(name) decltype(&::gl##name) name = nullptr;
    SCENE_FUNCTIONS(SCENE_POINTER)
#undef SCENE_POINTER
  } gl;

  void load(gl_functions::finder find) {
#define SCENE_LOAD(name)                                           \
  gl.name = reinterpret_cast<decltype(gl.name)>(find("gl" #name)); \
  if (!gl.name) example::fail("the context lacks gl" #name);
    SCENE_FUNCTIONS(SCENE_LOAD)
#undef SCENE_LOAD
  }
  /// Sets what both draws need: the program, the target's size, one triangle that covers it.
  void cover(GLuint program, int width, int height) {
    gl.Viewport(0, 0, width, height);
    gl.UseProgram(program);
    gl.Uniform2f(gl.GetUniformLocation(program, "size"), static_cast<float>(width), static_cast<float>(height));
    gl.BindVertexArray(m_no_vertices);
  }
  GLuint program_of(const char* fragment) {
    const GLuint program = gl.CreateProgram();
    for (const auto& [kind, text] :
         {std::pair{GL_VERTEX_SHADER, k_triangle}, std::pair{GL_FRAGMENT_SHADER, fragment}}) {
      const GLuint shader = gl.CreateShader(static_cast<GLenum>(kind));
      const char* const source[] = {m_heading, text};
      gl.ShaderSource(shader, 2, source, nullptr);
      gl.CompileShader(shader);
      gl.AttachShader(program, shader);
      char log[1000] = "";
      gl.GetShaderInfoLog(shader, sizeof log, nullptr, log);
      m_log += log;
      gl.DeleteShader(shader);
    }
    gl.LinkProgram(program);
    GLint linked = 0;
    gl.GetProgramiv(program, GL_LINK_STATUS, &linked);
    if (!linked) example::fail("the driver refuses a shader of the scene: " + m_log);
    return program;
  }

  static constexpr const char* k_triangle = R"(
void main() { gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0); }
)";
  static constexpr const char* k_show = R"(
uniform vec2 size;
uniform sampler2D shown;
out vec4 color;
void main() { color = texture(shown, vec2(gl_FragCoord.x, size.y - gl_FragCoord.y) / size); }
)";
  /// Coordinates p: 0 in the middle, 1 is the height, y down.
  static constexpr const char* k_scene = R"(
uniform vec2 size;
uniform float seconds;
out vec4 color;
vec2 rotate(vec2 p, float a) { return vec2(cos(a) * p.x - sin(a) * p.y, sin(a) * p.x + cos(a) * p.y); }
float polygon(vec2 p, float sides, float radius) {
  float angle = atan(p.y, p.x), part = 6.2831853 / sides;
  return cos(floor(0.5 + angle / part) * part - angle) * length(p) - radius;
}
uint mixed(uint x) {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}
/// A line of signs of 5 x 7 dots, each another one, which moves to the left.
float sign_at(vec2 p) {
  vec2 dots = vec2(p.x / 0.0125 + seconds * 12.0 + 6000.0, p.y / 0.0125);
  ivec2 dot_at = ivec2(floor(dots));
  int column = dot_at.x % 6;
  if (column == 5 || dot_at.y < 0 || dot_at.y >= 7) return 0.0;
  uint bits = mixed(uint(dot_at.x / 6) * 8u + uint(dot_at.y));
  return float((bits >> uint(column < 3 ? column : 4 - column)) & 1u);
}
void main() {
  vec2 p = (gl_FragCoord.xy - 0.5 * size) / size.y;
  vec3 c = mix(vec3(0.09, 0.12, 0.20), vec3(0.45, 0.55, 0.68), p.y + 0.5);
  if (p.y > 0.18) {
    vec2 floor_at = vec2(p.x, 0.35) / (p.y - 0.12) + vec2(0.3 * seconds, seconds);
    float square = mod(floor(4.0 * floor_at.x) + floor(4.0 * floor_at.y), 2.0);
    c = mix(c, mix(vec3(0.16, 0.20, 0.17), vec3(0.80, 0.78, 0.66), square), smoothstep(0.18, 0.30, p.y));
  }
  for (int i = 0; i < 3; ++i) {
    float k = float(i), turn = seconds * (0.7 + 0.35 * k);
    vec2 at = vec2(0.55 * (k - 1.0), 0.09 * sin(1.7 * seconds + 2.1 * k));
    float away = polygon(rotate(p - at, turn), 3.0 + k * (k + 1.0) / 2.0, 0.13 + 0.02 * k);
    vec3 fill = i == 0 ? vec3(0.92, 0.36, 0.24) : i == 1 ? vec3(0.98, 0.77, 0.22) : vec3(0.25, 0.66, 0.60);
    if (away < 0.0) c = fill * (0.75 + 0.25 * step(0.5, fract(40.0 * away)));
    if (abs(away) < 0.005) c = vec3(0.97);
  }
  if (p.y < -0.26) c = mix(0.5 * c, vec3(0.95, 0.93, 0.80), max(sign_at(p + vec2(0.0, 0.475)), sign_at(p + vec2(3.1, 0.365))));
  color = vec4(c, 1.0);
}
)";

  const char* m_heading = "";
  std::string m_log;
  GLuint m_render = 0, m_show = 0, m_no_vertices = 0, m_frame = 0, m_linear = 0;
};
