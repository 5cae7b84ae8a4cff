// SPDX-License-Identifier: MIT
#pragma once
/// A device for nsk::gpu on OpenGL 4.3 or OpenGL ES 3.1, and the headless program around it. The first half of the
/// class is what a renderer writes; the second half it has already: a context, buffers, textures.
///
/// OpenGL has no command lists: what is recorded runs in the current context at once, in order. `list` is therefore
/// empty.
///
/// State of the context that recording changes, and that the game sets again before it draws: the program; the storage
/// buffers 0 to 3; the uniform buffer 0; image unit 0; texture unit 0: its 2D texture, its sampler, and that it is the
/// active one; the buffers bound to GL_UNIFORM_BUFFER, GL_SHADER_STORAGE_BUFFER, GL_COPY_READ_BUFFER and
/// GL_COPY_WRITE_BUFFER. Making pipelines, buffers and textures, and reading and writing them, also empties the queue
/// of glGetError. Nothing else is changed, and nothing that the game has set is relied on. The game in turn changes
/// none of this within one call of the session.
#include <cstring>
#include <string>
#include <vector>

#include <netsuke/gpu.hpp>
#include <netsuke/gpu/generated/text.hpp>

#include "gl_functions.hpp"

enum class gl_language { glsl_430, essl_310 };

class gl_device {
 public:
  struct buffer {
    GLuint handle = 0;
    std::size_t bytes = 0;
  };
  /// A texture of format GL_RGBA8 without mipmaps; one that kernels write must have immutable storage (glTexStorage2D).
  struct texture {
    GLuint handle = 0;
    std::uint32_t width = 0, height = 0;
  };
  struct list {};
  using pipeline = GLuint;
  using status = nsk::gpu::status;
  using code = nsk::gpu::status_code;

  // --- what a session asks for ---

  nsk::gpu::limits limits() const { return {m_max_binding_bytes}; }

  /// Compiles the text of a kernel, after a heading that says the language and the permutation.
  status create_pipeline(const nsk::gpu::pipeline_key& key, pipeline& made) {
    const nsk::gpu::kernel_text text = nsk::gpu::text_of(key.kernel);
    const std::string head = heading_of(key, text.pixels);
    std::vector<const char*> source{head.c_str()};
    for (int i = 0; i < text.count; ++i) source.push_back(text.piece[i]);
    const GLuint shader = gl.CreateShader(GL_COMPUTE_SHADER);
    gl.ShaderSource(shader, static_cast<GLsizei>(source.size()), source.data(), nullptr);
    gl.CompileShader(shader);
    const GLuint program = gl.CreateProgram();
    gl.AttachShader(program, shader);
    gl.LinkProgram(program);
    GLint linked = 0;
    gl.GetProgramiv(program, GL_LINK_STATUS, &linked);
    if (!linked) keep_logs(key, shader, program);
    gl.DeleteShader(shader);
    const status memory = take_errors();
    if (linked && memory) return made = program, status();
    gl.DeleteProgram(program);
    return memory ? status(code::pipeline_refused) : memory;
  }
  void destroy_pipeline(pipeline p) { gl.DeleteProgram(p); }

  /// The sampler is ours: one of the game's that filters by mipmaps would make a texture without them unreadable.
  void bind(list&, const nsk::gpu::bindings<gl_device>& b) {
    const GLuint buffers[] = {b.weights.handle, b.weights.handle, b.arena.handle, b.arena.handle};
    for (GLuint i = 0; i < 4; ++i) gl.BindBufferBase(GL_SHADER_STORAGE_BUFFER, i, buffers[i]);
    gl.ActiveTexture(GL_TEXTURE0);
    gl.BindTexture(GL_TEXTURE_2D, b.read_texture.handle);
    gl.BindSampler(0, m_sampler);
    if (b.written_texture.handle != 0)
      gl.BindImageTexture(0, b.written_texture.handle, 0, GL_FALSE, 0, GL_WRITE_ONLY, GL_RGBA8);
  }

  /// Constants go to the next slot of a buffer that no dispatch since the last new storage has read.
  void dispatch(list&, pipeline p, const std::uint32_t* constants, int count, const std::uint32_t (&groups)[3]) {
    gl.BindBuffer(GL_UNIFORM_BUFFER, m_constants);
    if (m_next_slot == slot_count) renew_constants();
    const GLintptr at = static_cast<GLintptr>(m_next_slot++) * m_slot_bytes;
    const GLbitfield access = GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_RANGE_BIT | GL_MAP_UNSYNCHRONIZED_BIT;
    void* const slot = gl.MapBufferRange(GL_UNIFORM_BUFFER, at, constants_bytes, access);
    if (!slot) return lose();
    std::memcpy(slot, constants, static_cast<std::size_t>(count) * 4);
    if (!gl.UnmapBuffer(GL_UNIFORM_BUFFER)) return lose();
    gl.BindBufferRange(GL_UNIFORM_BUFFER, 0, m_constants, at, constants_bytes);
    gl.UseProgram(p);
    gl.DispatchCompute(groups[0], groups[1], groups[2]);
  }

  /// Bits name what comes after it: storage, constants, texture reads and writes of kernels; copies of buffers and
  /// textures. Two dispatches that only read and then overwrite need no bit: OpenGL runs commands in order but for the
  /// writes of shaders.
  void barrier(list&) {
    gl.MemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT | GL_UNIFORM_BARRIER_BIT | GL_TEXTURE_FETCH_BARRIER_BIT |
                     GL_SHADER_IMAGE_ACCESS_BARRIER_BIT | GL_BUFFER_UPDATE_BARRIER_BIT | GL_TEXTURE_UPDATE_BARRIER_BIT);
  }

  void copy(list&, buffer from, std::size_t from_offset, buffer to, std::size_t to_offset, std::size_t bytes) {
    gl.BindBuffer(GL_COPY_READ_BUFFER, from.handle);
    gl.BindBuffer(GL_COPY_WRITE_BUFFER, to.handle);
    gl.CopyBufferSubData(GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, static_cast<GLintptr>(from_offset),
                         static_cast<GLintptr>(to_offset), static_cast<GLsizeiptr>(bytes));
  }

  // --- what a renderer has already ---

  explicit gl_device(gl_language language = gl_language::glsl_430) : m_language(language) {}
  gl_device(const gl_device&) = delete;
  gl_device& operator=(const gl_device&) = delete;
  ~gl_device() { close(); }

  std::vector<std::string> messages;  ///< of the compiler of refused pipelines

  /// Makes a context of the language without a window, by EGL, and makes it current. Returns what is missing, "" where
  /// nothing is.
  std::string open();
  /// Uses the context that the game has made current, whose functions `find` returns; its language counts.
  std::string open_current(gl_functions::finder find);
  const char* name() const { return m_name.c_str(); }
  /// Whether the device is a program on the CPU, whose times say nothing about GPUs.
  bool is_software() const;
  gl_language language() const { return m_language; }

  /// A buffer that shaders and copies use. `seen`, whether the CPU sees it, is the driver's business in OpenGL.
  status create_buffer(std::size_t bytes, bool seen, buffer& made);
  void destroy(buffer& b);
  /// A texture of RGBA bytes that shaders read and write.
  status create_texture(std::uint32_t width, std::uint32_t height, texture& made);
  void destroy(texture& t);
  /// Copy between memory and buffers or textures at once: reading waits.
  status write(buffer& to, std::size_t offset, const void* from, std::size_t bytes);
  status read(const buffer& from, std::size_t offset, void* to, std::size_t bytes);
  status write(texture& to, const void* rgba);
  status read(const texture& from, void* rgba);

  /// Opens the command list; waits until everything recorded since is done. Between the two, sessions record.
  list& begin();
  status submit();
  /// Microseconds that the device took for the last list, where it can tell; 0 elsewhere.
  double microseconds() const { return m_microseconds; }

 private:
  static constexpr GLsizeiptr constants_bytes = 128;
  static constexpr GLint slot_count = 1024;
  void close();
  std::string create_context();
  std::string start(gl_functions::finder find);
  bool has_extension(const char* name) const;
  status take_errors();
  void keep_logs(const nsk::gpu::pipeline_key& key, GLuint shader, GLuint program);
  void lose() { m_lost = true; }
  /// New storage for the constants: the driver keeps the old one for the dispatches that still read it.
  void renew_constants() {
    gl.BufferData(GL_UNIFORM_BUFFER, GLsizeiptr{slot_count} * m_slot_bytes, nullptr, GL_STREAM_DRAW);
    m_next_slot = 0;
  }
  std::string heading_of(const nsk::gpu::pipeline_key& key, int pixels) const {
    std::string s = m_language == gl_language::glsl_430 ? "#version 430 core\n#define NSK_GLSL\n"
                                                        : "#version 310 es\n#define NSK_ESSL\n";
    for (int i = 0; i < nsk::gpu::specialization_count; ++i)
      s += std::string("#define ") + nsk::gpu::specialization_names[i] + " " + std::to_string(key.specialization[i]) +
           "u\n";
    return s + "#define PIXELS " + std::to_string(pixels) + "\n";
  }

  gl_functions gl{};
  egl_functions m_egl{};
  EGLDisplay m_display = EGL_NO_DISPLAY;
  EGLContext m_context = EGL_NO_CONTEXT;
  gl_language m_language;
  std::string m_name;
  std::uint64_t m_max_binding_bytes = 0;
  GLuint m_constants = 0, m_sampler = 0, m_query[2] = {0, 0};
  GLint m_next_slot = 0, m_slot_bytes = 256;
  list m_list;
  bool m_lost = false;
  double m_microseconds = 0;
};

#include "gl_host.hpp"
