// SPDX-License-Identifier: MIT
#pragma once
/// The second half of gl_device: what a renderer has already.

inline bool gl_device::is_software() const {
  for (const char* program : {"llvmpipe", "softpipe", "swrast", "SwiftShader", "Software"})
    if (m_name.find(program) != std::string::npos) return true;
  return false;
}

inline std::string gl_device::create_context() {
  if (!m_egl.load()) return "there is no EGL library (libEGL.so.1)";
  const char* const extensions = m_egl.QueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS);
  const bool surfaceless = extensions && std::strstr(extensions, "EGL_MESA_platform_surfaceless");
  const auto get_platform_display =
      reinterpret_cast<PFNEGLGETPLATFORMDISPLAYEXTPROC>(m_egl.GetProcAddress("eglGetPlatformDisplayEXT"));
  m_display = surfaceless && get_platform_display
                  ? get_platform_display(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr)
                  : m_egl.GetDisplay(EGL_DEFAULT_DISPLAY);
  if (m_display == EGL_NO_DISPLAY || !m_egl.Initialize(m_display, nullptr, nullptr)) return "EGL finds no display";
  const bool es = m_language == gl_language::essl_310;
  const char* const offered = m_egl.QueryString(m_display, EGL_EXTENSIONS);
  for (const char* needed : {"EGL_KHR_no_config_context", "EGL_KHR_surfaceless_context"})
    if (!offered || !std::strstr(offered, needed)) return std::string("EGL lacks ") + needed;
  const EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION, es ? 3 : 4, EGL_CONTEXT_MINOR_VERSION, es ? 1 : 3, EGL_NONE};
  if (!m_egl.BindAPI(es ? EGL_OPENGL_ES_API : EGL_OPENGL_API)) return "EGL does not know the language";
  m_context = m_egl.CreateContext(m_display, EGLConfig{}, EGL_NO_CONTEXT, version);
  if (m_context == EGL_NO_CONTEXT || !m_egl.MakeCurrent(m_display, EGL_NO_SURFACE, EGL_NO_SURFACE, m_context))
    return es ? "EGL makes no context of OpenGL ES 3.1" : "EGL makes no context of OpenGL 4.3";
  return {};
}

inline std::string gl_device::open() {
  if (std::string missing = create_context(); !missing.empty()) return missing;
  // A pointer to a function cannot capture; EGL's own is the same for every device of the process.
  static egl_functions egl;
  egl = m_egl;
  return start([](const char* name) { return reinterpret_cast<void*>(egl.GetProcAddress(name)); });
}
inline std::string gl_device::open_current(gl_functions::finder find) { return start(find); }

inline bool gl_device::has_extension(const char* name) const {
  GLint count = 0;
  gl.GetIntegerv(GL_NUM_EXTENSIONS, &count);
  for (GLint i = 0; i < count; ++i)
    if (std::strcmp(reinterpret_cast<const char*>(gl.GetStringi(GL_EXTENSIONS, static_cast<GLuint>(i))), name) == 0)
      return true;
  return false;
}

inline std::string gl_device::start(gl_functions::finder find) {
  if (!gl.load(find)) return "the context lacks functions of OpenGL 4.3 or OpenGL ES 3.1";
  const std::string version = reinterpret_cast<const char*>(gl.GetString(GL_VERSION));
  const bool es = version.rfind("OpenGL ES", 0) == 0;
  m_language = es ? gl_language::essl_310 : gl_language::glsl_430;
  GLint major = 0, minor = 0;
  gl.GetIntegerv(GL_MAJOR_VERSION, &major);
  gl.GetIntegerv(GL_MINOR_VERSION, &minor);
  if (major * 10 + minor < (es ? 31 : 43)) return "the context is older than OpenGL 4.3 or OpenGL ES 3.1: " + version;
  m_name = std::string(reinterpret_cast<const char*>(gl.GetString(GL_RENDERER))) + ", " + version;
  if (!es || has_extension("GL_EXT_disjoint_timer_query")) gl.load_timer(find, es);
  if (major * 10 + minor >= (es ? 32 : 45)) gl.load_reset_status(find);
  GLint64 bytes = 0;
  gl.GetInteger64v(GL_MAX_SHADER_STORAGE_BLOCK_SIZE, &bytes);
  m_max_binding_bytes = static_cast<std::uint64_t>(bytes);
  GLint alignment = 0;
  gl.GetIntegerv(GL_UNIFORM_BUFFER_OFFSET_ALIGNMENT, &alignment);
  const GLint minimum = static_cast<GLint>(constants_bytes);
  m_slot_bytes = alignment <= minimum ? minimum : (minimum + alignment - 1) / alignment * alignment;
  gl.GenBuffers(1, &m_constants);
  gl.BindBuffer(GL_UNIFORM_BUFFER, m_constants);
  renew_constants();
  gl.GenSamplers(1, &m_sampler);
  gl.SamplerParameteri(m_sampler, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  gl.SamplerParameteri(m_sampler, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  if (gl.QueryCounter) gl.GenQueries(2, m_query);
  return take_errors() ? std::string() : "the context is out of memory";
}

inline void gl_device::close() {
  if (gl.DeleteBuffers && m_constants) {
    gl.DeleteBuffers(1, &m_constants);
    gl.DeleteSamplers(1, &m_sampler);
    if (gl.QueryCounter) gl.DeleteQueries(2, m_query);
  }
  // The display stays: other contexts of the process may use it.
  if (m_context != EGL_NO_CONTEXT) {
    m_egl.MakeCurrent(m_display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    m_egl.DestroyContext(m_display, m_context);
  }
}

/// Empties the queue of errors; only out of memory and a lost context can happen to a correct program.
inline nsk::gpu::status gl_device::take_errors() {
  status result = m_lost ? status(code::device_lost) : status();
  for (int i = 0; i < 16; ++i) {
    const GLenum error = gl.GetError();
    if (error == GL_NO_ERROR) break;
    if (error == GL_CONTEXT_LOST) result = code::device_lost;
    if (error == GL_OUT_OF_MEMORY && result) result = code::out_of_memory;
    if (error != GL_CONTEXT_LOST && error != GL_OUT_OF_MEMORY)
      messages.push_back("glGetError returned " + std::to_string(error));
  }
  return result;
}

inline void gl_device::keep_logs(const nsk::gpu::pipeline_key& key, GLuint shader, GLuint program) {
  char log[2000] = "";
  gl.GetShaderInfoLog(shader, sizeof log, nullptr, log);
  messages.push_back(std::string(nsk::gpu::name_of(key.kernel)) + ": " + log);
  gl.GetProgramInfoLog(program, sizeof log, nullptr, log);
  messages.back() += log;
}

inline nsk::gpu::status gl_device::create_buffer(std::size_t bytes, bool, buffer& made) {
  made.bytes = bytes > 16 ? bytes : 16;
  gl.GenBuffers(1, &made.handle);
  gl.BindBuffer(GL_COPY_WRITE_BUFFER, made.handle);
  gl.BufferData(GL_COPY_WRITE_BUFFER, static_cast<GLsizeiptr>(made.bytes), nullptr, GL_DYNAMIC_COPY);
  const status s = take_errors();
  if (!s) destroy(made);
  return s;
}
inline void gl_device::destroy(buffer& b) {
  if (b.handle) gl.DeleteBuffers(1, &b.handle);
  b = {};
}

inline nsk::gpu::status gl_device::create_texture(std::uint32_t width, std::uint32_t height, texture& made) {
  made.width = width;
  made.height = height;
  gl.GenTextures(1, &made.handle);
  gl.ActiveTexture(GL_TEXTURE0);
  gl.BindTexture(GL_TEXTURE_2D, made.handle);
  gl.TexStorage2D(GL_TEXTURE_2D, 1, GL_RGBA8, static_cast<GLsizei>(width), static_cast<GLsizei>(height));
  const status s = take_errors();
  if (!s) destroy(made);
  return s;
}
inline void gl_device::destroy(texture& t) {
  if (t.handle) gl.DeleteTextures(1, &t.handle);
  t = {};
}

inline gl_device::list& gl_device::begin() {
  if (gl.QueryCounter) gl.QueryCounter(m_query[0], GL_TIMESTAMP);
  return m_list;
}
inline nsk::gpu::status gl_device::submit() {
  if (gl.QueryCounter) gl.QueryCounter(m_query[1], GL_TIMESTAMP);
  gl.MemoryBarrier(GL_ALL_BARRIER_BITS);
  gl.Finish();
  if (gl.QueryCounter) {
    GLuint64 ns[2] = {0, 0};
    for (int i = 0; i < 2; ++i) gl.GetQueryObjectui64v(m_query[i], GL_QUERY_RESULT, &ns[i]);
    m_microseconds = static_cast<double>(ns[1] - ns[0]) / 1000;
  }
  if (gl.GetGraphicsResetStatus && gl.GetGraphicsResetStatus() != GL_NO_ERROR) lose();
  return take_errors();
}

inline nsk::gpu::status gl_device::write(buffer& to, std::size_t offset, const void* from, std::size_t bytes) {
  if (bytes == 0) return {};
  gl.BindBuffer(GL_COPY_WRITE_BUFFER, to.handle);
  gl.MemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
  gl.BufferSubData(GL_COPY_WRITE_BUFFER, static_cast<GLintptr>(offset), static_cast<GLsizeiptr>(bytes), from);
  return take_errors();
}
inline nsk::gpu::status gl_device::read(const buffer& from, std::size_t offset, void* to, std::size_t bytes) {
  if (bytes == 0) return {};
  gl.BindBuffer(GL_COPY_READ_BUFFER, from.handle);
  gl.MemoryBarrier(GL_BUFFER_UPDATE_BARRIER_BIT);
  const void* const mapped = gl.MapBufferRange(GL_COPY_READ_BUFFER, static_cast<GLintptr>(offset),
                                               static_cast<GLsizeiptr>(bytes), GL_MAP_READ_BIT);
  if (mapped) {
    std::memcpy(to, mapped, bytes);
    gl.UnmapBuffer(GL_COPY_READ_BUFFER);
  }
  const status s = take_errors();
  return s && !mapped ? status(code::out_of_memory) : s;
}

inline nsk::gpu::status gl_device::write(texture& to, const void* rgba) {
  gl.ActiveTexture(GL_TEXTURE0);
  gl.BindTexture(GL_TEXTURE_2D, to.handle);
  gl.BindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
  for (const GLenum name : {GL_UNPACK_ROW_LENGTH, GL_UNPACK_SKIP_ROWS, GL_UNPACK_SKIP_PIXELS}) gl.PixelStorei(name, 0);
  gl.PixelStorei(GL_UNPACK_ALIGNMENT, 4);
  gl.MemoryBarrier(GL_TEXTURE_UPDATE_BARRIER_BIT);
  gl.TexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, static_cast<GLsizei>(to.width), static_cast<GLsizei>(to.height), GL_RGBA,
                   GL_UNSIGNED_BYTE, rgba);
  return take_errors();
}
/// By a framebuffer: OpenGL ES cannot read textures.
inline nsk::gpu::status gl_device::read(const texture& from, void* rgba) {
  GLint before = 0;
  gl.GetIntegerv(GL_READ_FRAMEBUFFER_BINDING, &before);
  GLuint frame = 0;
  gl.GenFramebuffers(1, &frame);
  gl.BindFramebuffer(GL_READ_FRAMEBUFFER, frame);
  gl.FramebufferTexture2D(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, from.handle, 0);
  gl.BindBuffer(GL_PIXEL_PACK_BUFFER, 0);
  for (const GLenum name : {GL_PACK_ROW_LENGTH, GL_PACK_SKIP_ROWS, GL_PACK_SKIP_PIXELS}) gl.PixelStorei(name, 0);
  gl.PixelStorei(GL_PACK_ALIGNMENT, 4);
  gl.MemoryBarrier(GL_FRAMEBUFFER_BARRIER_BIT | GL_PIXEL_BUFFER_BARRIER_BIT);
  const bool whole = gl.CheckFramebufferStatus(GL_READ_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
  if (whole)
    gl.ReadPixels(0, 0, static_cast<GLsizei>(from.width), static_cast<GLsizei>(from.height), GL_RGBA, GL_UNSIGNED_BYTE,
                  rgba);
  gl.BindFramebuffer(GL_READ_FRAMEBUFFER, static_cast<GLuint>(before));
  gl.DeleteFramebuffers(1, &frame);
  const status s = take_errors();
  return s && !whole ? status(code::out_of_memory) : s;
}
