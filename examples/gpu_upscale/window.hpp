// SPDX-License-Identifier: MIT
#pragma once
/// A window with an OpenGL context, by SDL2: events, time, and what the GPU needs for a frame.
#include <SDL.h>
#include <cstdint>
#include <string>
#include "devices/gl.hpp"
#include "support/file.hpp"

class window {
 public:
  window(const std::string& title, int width, int height) {
    if (SDL_Init(SDL_INIT_VIDEO) != 0) example::fail(std::string("SDL: ") + SDL_GetError());
    SDL_GL_SetAttribute(SDL_GL_CONTEXT_MAJOR_VERSION, 4);
    SDL_GL_SetAttribute(SDL_GL_CONTEXT_MINOR_VERSION, 3);
    SDL_GL_SetAttribute(SDL_GL_CONTEXT_PROFILE_MASK, SDL_GL_CONTEXT_PROFILE_CORE);
    m_window = SDL_CreateWindow(title.c_str(), SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED, width, height,
                                SDL_WINDOW_OPENGL | SDL_WINDOW_RESIZABLE);
    m_context = m_window ? SDL_GL_CreateContext(m_window) : nullptr;
    if (!m_context) example::fail(std::string("there is no window with OpenGL 4.3: ") + SDL_GetError());
    SDL_GL_SetSwapInterval(1);
  }
  ~window() {
    SDL_GL_DeleteContext(m_context);
    SDL_DestroyWindow(m_window);
    SDL_Quit();
  }
  window(const window&) = delete;
  window& operator=(const window&) = delete;

  static void* find(const char* name) { return SDL_GL_GetProcAddress(name); }

  /// Handles events; false when the window is to close. Space sets `pressed`.
  bool handle_events(bool& pressed) {
    SDL_Event e;
    while (SDL_PollEvent(&e)) {
      if (e.type == SDL_QUIT || (e.type == SDL_KEYDOWN && e.key.keysym.sym == SDLK_ESCAPE)) return false;
      if (e.type == SDL_KEYDOWN && e.key.keysym.sym == SDLK_SPACE && e.key.repeat == 0) pressed = true;
    }
    return true;
  }
  void size(int& width, int& height) const { SDL_GL_GetDrawableSize(m_window, &width, &height); }
  void set_title(const std::string& title) { SDL_SetWindowTitle(m_window, title.c_str()); }
  void swap() { SDL_GL_SwapWindow(m_window); }
  static double seconds() { return SDL_GetTicks() / 1000.0; }

 private:
  SDL_Window* m_window = nullptr;
  SDL_GLContext m_context = nullptr;
};

/// Milliseconds of a part of each frame on the GPU, read some frames later, so that nothing waits.
class gpu_timer {
 public:
  explicit gpu_timer(gl_functions::finder find) {
    load(m_gen, find("glGenQueries"));
    load(m_delete, find("glDeleteQueries"));
    load(m_begin, find("glBeginQuery"));
    load(m_end, find("glEndQuery"));
    load(m_ready, find("glGetQueryObjectuiv"));
    load(m_result, find("glGetQueryObjectui64v"));
    m_gen(k_frames, m_query);
  }
  ~gpu_timer() { m_delete(k_frames, m_query); }
  gpu_timer(const gpu_timer&) = delete;
  gpu_timer& operator=(const gpu_timer&) = delete;

  void begin() {
    const GLuint query = m_query[m_frame % k_frames];
    GLuint ready = 0;
    if (m_frame >= k_frames) m_ready(query, GL_QUERY_RESULT_AVAILABLE, &ready);
    if (ready) {
      GLuint64 nanoseconds = 0;
      m_result(query, GL_QUERY_RESULT, &nanoseconds);
      const double now = static_cast<double>(nanoseconds) / 1e6;
      m_milliseconds = m_milliseconds < 0 ? now : 0.9 * m_milliseconds + 0.1 * now;
    }
    m_begin(GL_TIME_ELAPSED, query);
  }
  void end() {
    m_end(GL_TIME_ELAPSED);
    ++m_frame;
  }
  /// A running mean; negative while nothing is known.
  double milliseconds() const { return m_milliseconds; }

 private:
  template <class F>
  static void load(F& f, void* found) {
    f = reinterpret_cast<F>(found);
    if (!f) example::fail("the context lacks timer queries");
  }
  static constexpr int k_frames = 4;
  decltype(&::glGenQueries) m_gen = nullptr;
  decltype(&::glDeleteQueries) m_delete = nullptr;
  decltype(&::glBeginQuery) m_begin = nullptr;
  decltype(&::glEndQuery) m_end = nullptr;
  decltype(&::glGetQueryObjectuiv) m_ready = nullptr;
  decltype(&::glGetQueryObjectui64v) m_result = nullptr;
  GLuint m_query[k_frames] = {};
  int m_frame = 0;
  double m_milliseconds = -1;
};
