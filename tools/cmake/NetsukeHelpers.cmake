# Shared by tools, tests, examples and benchmarks: warnings, sanitizers, sources by folder.

add_library(nsk_options INTERFACE)
target_compile_options(nsk_options INTERFACE $<$<CXX_COMPILER_ID:GNU,Clang,AppleClang>:-Wall -Wextra>)
if(NSK_SANITIZE)
  target_compile_options(nsk_options INTERFACE -fsanitize=${NSK_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(nsk_options INTERFACE -fsanitize=${NSK_SANITIZE})
endif()

find_program(NSK_CCACHE ccache)
mark_as_advanced(NSK_CCACHE)
if(NSK_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${NSK_CCACHE}")
endif()

# What the headers promise to compile with.
set(NSK_STRICT_FLAGS -fno-exceptions -fno-rtti -Wall -Wextra -Wconversion -Wshadow -Werror)

# nsk_sources(<variable> <folder>...): every .cpp of the folders and of those inside them, in a stable order; folders may be absent.
function(nsk_sources variable)
  set(found "")
  foreach(folder IN LISTS ARGN)
    file(GLOB_RECURSE files CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp")
    list(APPEND found ${files})
  endforeach()
  list(SORT found)
  set(${variable} "${found}" PARENT_SCOPE)
endfunction()

# Headers of GPU devices, where they are: the targets nsk_vulkan_headers and nsk_gl_headers. Drivers are opened when a program runs.
find_path(NSK_VULKAN_INCLUDE_DIR vulkan/vulkan.h DOC "Directory that holds vulkan/vulkan.h")
find_path(NSK_GL_INCLUDE_DIR GL/glcorearb.h DOC "Directory that holds GL/glcorearb.h and EGL/egl.h")
mark_as_advanced(NSK_VULKAN_INCLUDE_DIR NSK_GL_INCLUDE_DIR)
if(NSK_VULKAN_INCLUDE_DIR)
  add_library(nsk_vulkan_headers INTERFACE)
  target_include_directories(nsk_vulkan_headers SYSTEM INTERFACE "${NSK_VULKAN_INCLUDE_DIR}")
  # Vulkan's structs are set by member after their first: the rest is zero.
  target_compile_options(nsk_vulkan_headers INTERFACE $<$<CXX_COMPILER_ID:GNU,Clang,AppleClang>:-Wno-missing-field-initializers>)
endif()
if(NSK_GL_INCLUDE_DIR AND EXISTS "${NSK_GL_INCLUDE_DIR}/EGL/egl.h")
  add_library(nsk_gl_headers INTERFACE)
  target_include_directories(nsk_gl_headers SYSTEM INTERFACE "${NSK_GL_INCLUDE_DIR}")
endif()
