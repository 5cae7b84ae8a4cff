# nsk_add_network(<target> <FILE.nsk> [NAME <name>])
#
# Gives the target the network of a file: `#include "<name>.hpp"` has the type <name>_session, which knows the operators of that file and no others. Its
# kernels are compiled in a file of their own, optimised in every configuration, so that debug builds of a game stay fast. <name> is the file's name
# unless NAME says otherwise; of several targets with one name, the first says which file it is. The build may make FILE.nsk itself. What the network needs
# is asked of nsk: the target of that name, or the program NSK_PROGRAM, which is searched where it is not set and comes first when cross-compiling.

function(nsk_add_network target file)
  cmake_parse_arguments(PARSE_ARGV 2 network "" "NAME" "")
  if(network_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "nsk_add_network: what is ${network_UNPARSED_ARGUMENTS}? It takes a target, a file and NAME.")
  endif()
  get_filename_component(NSK_NETWORK_FILE "${file}" ABSOLUTE)
  get_filename_component(NSK_NETWORK "${file}" NAME_WE)
  if(network_NAME)
    set(NSK_NETWORK "${network_NAME}")
  endif()
  string(MAKE_C_IDENTIFIER "${NSK_NETWORK}" NSK_NETWORK)
  if(NOT TARGET nsk_network_${NSK_NETWORK})
    if(TARGET nsk AND NOT (CMAKE_CROSSCOMPILING AND NSK_PROGRAM))
      set(NSK_NETWORK_PROGRAM nsk)
    else()
      find_program(NSK_PROGRAM nsk DOC "The program nsk, which nsk_add_network asks what a network needs")
      if(NOT NSK_PROGRAM)
        message(FATAL_ERROR "nsk_add_network: nsk was not found. Build it with NSK_BUILD_TOOLS=ON, or set NSK_PROGRAM to its path.")
      endif()
      set(NSK_NETWORK_PROGRAM "${NSK_PROGRAM}")
    endif()
    add_subdirectory("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/network" "${CMAKE_CURRENT_BINARY_DIR}/nsk_networks/${NSK_NETWORK}")
  endif()
  target_link_libraries(${target} PRIVATE nsk_network_${NSK_NETWORK})
endfunction()
