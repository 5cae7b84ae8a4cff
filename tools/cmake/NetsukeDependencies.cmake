# Where the dependencies come from. The engine needs FlatBuffers' headers only: those of the system, of a target that the parent
# project already has, or the pinned release. The tools' header-only dependencies come from the system.

set(NSK_FLATBUFFERS_URL "https://github.com/google/flatbuffers/archive/refs/tags/v23.5.26.tar.gz"
    CACHE STRING "FlatBuffers source, fetched where the system has no headers; a URL or an archive on this machine")
mark_as_advanced(NSK_FLATBUFFERS_URL)

# Sets <variable> to the include directory of the pinned FlatBuffers, fetched into the build directory; one clear stop where that fails.
function(nsk_fetch_flatbuffers variable)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/_deps/flatbuffers")
  set(archive "${folder}.tar.gz")
  message(STATUS "FlatBuffers headers not found on the system: fetching ${NSK_FLATBUFFERS_URL}")
  set(url "${NSK_FLATBUFFERS_URL}")
  if(EXISTS "${url}")
    set(url "file://${url}")
  endif()
  file(DOWNLOAD "${url}" "${archive}" STATUS status TIMEOUT 300 INACTIVITY_TIMEOUT 20)
  list(GET status 0 code)
  list(GET status 1 reason)
  if(code EQUAL 0)
    file(ARCHIVE_EXTRACT INPUT "${archive}" DESTINATION "${folder}")
    file(GLOB headers LIST_DIRECTORIES true "${folder}/*/include")
  endif()
  file(REMOVE "${archive}")
  if(NOT headers)
    message(FATAL_ERROR "FlatBuffers' headers are not on this machine and cannot be fetched (${reason}): install them (Debian and Ubuntu: "
                        "apt-get install libflatbuffers-dev), or set NSK_FLATBUFFERS_INCLUDE_DIR to the folder that holds flatbuffers/base.h.")
  endif()
  set(${variable} "${headers}" PARENT_SCOPE)
endfunction()

# Defines netsuke_flatbuffers, an interface target with the include directory of flatbuffers/base.h.
function(nsk_find_flatbuffers)
  add_library(netsuke_flatbuffers INTERFACE)
  if(TARGET flatbuffers)
    target_link_libraries(netsuke_flatbuffers INTERFACE $<BUILD_INTERFACE:flatbuffers>)
    return()
  endif()
  find_path(NSK_FLATBUFFERS_INCLUDE_DIR flatbuffers/base.h DOC "Directory that holds flatbuffers/base.h")
  if(NOT NSK_FLATBUFFERS_INCLUDE_DIR)
    nsk_fetch_flatbuffers(fetched)
    set(NSK_FLATBUFFERS_INCLUDE_DIR "${fetched}" CACHE PATH "" FORCE)
  endif()
  target_include_directories(netsuke_flatbuffers SYSTEM INTERFACE $<BUILD_INTERFACE:${NSK_FLATBUFFERS_INCLUDE_DIR}>)
endfunction()

# nsk_find_header(<variable> <header> <Debian package>): include directory of a header-only dependency, or a clear stop.
function(nsk_find_header variable header package)
  find_path(${variable} ${header} DOC "Directory that holds ${header}")
  mark_as_advanced(${variable})
  if(NOT ${variable})
    message(FATAL_ERROR "${header} not found. Install it (Debian and Ubuntu: apt-get install ${package}), or set ${variable}, "
                        "or switch off what needs it with -DNSK_BUILD_TOOLS=OFF -DNSK_BUILD_TESTS=OFF.")
  endif()
endfunction()
