// SPDX-License-Identifier: MIT
#pragma once
/// OpenGL and EGL without linking them: libraries are opened when the program runs, so that it starts where there are
/// none.
#if defined(_WIN32)
#include <windows.h>
#else
#include <dlfcn.h>
#endif
#define EGL_EGLEXT_PROTOTYPES
#include <EGL/egl.h>
#include <EGL/eglext.h>
#define GL_GLEXT_PROTOTYPES
#include <GL/glcorearb.h>

// clang-format off
#define EGL_FUNCTIONS(X) \
  X(BindAPI) X(CreateContext) X(DestroyContext) X(GetDisplay) X(Initialize) X(MakeCurrent) X(QueryString)
/// In OpenGL 4.3 and in OpenGL ES 3.1.
#define GL_FUNCTIONS(X) \
  X(ActiveTexture) X(AttachShader) X(BindBuffer) X(BindBufferBase) X(BindBufferRange) X(BindFramebuffer) \
  X(BindImageTexture) X(BindSampler) X(BindTexture) X(BufferData) X(BufferSubData) X(CheckFramebufferStatus) \
  X(CompileShader) X(CopyBufferSubData) X(CreateProgram) X(CreateShader) X(DeleteBuffers) X(DeleteFramebuffers) \
  X(DeleteProgram) X(DeleteQueries) X(DeleteSamplers) X(DeleteShader) X(DeleteTextures) X(DispatchCompute) X(Finish) \
  X(FramebufferTexture2D) X(GenBuffers) X(GenFramebuffers) X(GenQueries) X(GenSamplers) X(GenTextures) X(GetError) \
  X(GetInteger64v) X(GetIntegerv) X(GetProgramInfoLog) X(GetProgramiv) X(GetShaderInfoLog) X(GetShaderiv) X(GetString) \
  X(GetStringi) X(LinkProgram) X(MapBufferRange) X(MemoryBarrier) X(PixelStorei) X(ReadPixels) X(SamplerParameteri) \
  X(ShaderSource) X(TexStorage2D) X(TexSubImage2D) X(UnmapBuffer) X(UseProgram)
// clang-format on

/// Every function by its name without `gl`; null until loaded. The last two may stay null.
struct gl_functions {
#define GL_POINTER(name) decltype(&::gl##name) name = nullptr;
  GL_FUNCTIONS(GL_POINTER)
  GL_POINTER(GetGraphicsResetStatus)
  GL_POINTER(QueryCounter)
  GL_POINTER(GetQueryObjectui64v)
#undef GL_POINTER

  using finder = void* (*)(const char* name);

  /// Loads from the function of the window library (SDL_GL_GetProcAddress, eglGetProcAddress); false where one is
  /// missing.
  bool load(finder find) {
    bool whole = true;
#define GL_LOAD(name)                                        \
  name = reinterpret_cast<decltype(name)>(find("gl" #name)); \
  whole = whole && name;
    GL_FUNCTIONS(GL_LOAD)
#undef GL_LOAD
    return whole;
  }
  void load_timer(finder find, bool es) {
    QueryCounter = reinterpret_cast<decltype(QueryCounter)>(find(es ? "glQueryCounterEXT" : "glQueryCounter"));
    GetQueryObjectui64v = reinterpret_cast<decltype(GetQueryObjectui64v)>(
        find(es ? "glGetQueryObjectui64vEXT" : "glGetQueryObjectui64v"));
  }
  void load_reset_status(finder find) {
    GetGraphicsResetStatus = reinterpret_cast<decltype(GetGraphicsResetStatus)>(find("glGetGraphicsResetStatus"));
  }
};

/// Every function by its name without `egl`.
struct egl_functions {
#define EGL_POINTER(name) decltype(&::egl##name) name = nullptr;
  EGL_FUNCTIONS(EGL_POINTER)
  EGL_POINTER(GetProcAddress)
#undef EGL_POINTER

  /// Opens the library; false where this machine has none.
  bool load() {
#if defined(_WIN32)
    const HMODULE library = LoadLibraryA("libEGL.dll");
    if (!library) return false;
#define EGL_LOAD(name) \
  name = reinterpret_cast<decltype(name)>(reinterpret_cast<void*>(::GetProcAddress(library, "egl" #name)));
#else
    void* const library = dlopen("libEGL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return false;
#define EGL_LOAD(name) name = reinterpret_cast<decltype(name)>(dlsym(library, "egl" #name));
#endif
    EGL_FUNCTIONS(EGL_LOAD)
    EGL_LOAD(GetProcAddress)
#undef EGL_LOAD
    return GetProcAddress != nullptr && Initialize != nullptr;
  }
};
