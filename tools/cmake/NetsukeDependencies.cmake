# Where the dependencies come from. The engine needs FlatBuffers' headers only: those of the system, of a target that the parent
# project already has, or the pinned release. The tools' header-only dependencies come from the system.

set(NSK_FLATBUFFERS_URL "https://github.com/google/flatbuffers/archive/refs/tags/v23.5.26.tar.gz"
    CACHE STRING "FlatBuffers source, fetched where the system has no headers")
mark_as_advanced(NSK_FLATBUFFERS_URL)

# Defines netsuke_flatbuffers, an interface target with the include directory of flatbuffers/base.h.
function(nsk_find_flatbuffers)
  add_library(netsuke_flatbuffers INTERFACE)
  if(TARGET flatbuffers)
    target_link_libraries(netsuke_flatbuffers INTERFACE $<BUILD_INTERFACE:flatbuffers>)
    return()
  endif()
  find_path(NSK_FLATBUFFERS_INCLUDE_DIR flatbuffers/base.h DOC "Directory that holds flatbuffers/base.h")
  if(NOT NSK_FLATBUFFERS_INCLUDE_DIR)
    message(STATUS "FlatBuffers headers not found on the system: fetching ${NSK_FLATBUFFERS_URL}")
    include(FetchContent)
    if(POLICY CMP0135)
      cmake_policy(SET CMP0135 NEW)
    endif()
    FetchContent_Declare(nsk_flatbuffers_source URL "${NSK_FLATBUFFERS_URL}" SOURCE_SUBDIR headers-only)
    FetchContent_MakeAvailable(nsk_flatbuffers_source)
    set(NSK_FLATBUFFERS_INCLUDE_DIR "${nsk_flatbuffers_source_SOURCE_DIR}/include" CACHE PATH "" FORCE)
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
