# Install, find_package(netsuke) and pkg-config.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(DIRECTORY include/netsuke DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
install(FILES schema/netsuke.fbs schema/text.fbs LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/netsuke)
install(FILES tools/debug/netsuke.natvis tools/debug/netsuke_gdb.py DESTINATION ${CMAKE_INSTALL_DATADIR}/netsuke/debug)
install(TARGETS netsuke netsuke_flatbuffers EXPORT netsuke-targets)
if(TARGET netsuke_c)
  install(TARGETS netsuke_c EXPORT netsuke-targets)
endif()
if(TARGET nsk)
  install(TARGETS nsk RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

set(nsk_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/netsuke)
install(EXPORT netsuke-targets NAMESPACE netsuke:: DESTINATION ${nsk_cmake_dir})
configure_package_config_file(tools/cmake/netsuke-config.cmake.in "${CMAKE_CURRENT_BINARY_DIR}/netsuke-config.cmake"
                              INSTALL_DESTINATION ${nsk_cmake_dir})
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/netsuke-config-version.cmake"
                                 COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/netsuke-config.cmake" "${CMAKE_CURRENT_BINARY_DIR}/netsuke-config-version.cmake"
        DESTINATION ${nsk_cmake_dir})
install(FILES tools/cmake/NetsukeNetwork.cmake DESTINATION ${nsk_cmake_dir})
install(DIRECTORY tools/cmake/network DESTINATION ${nsk_cmake_dir})

# The prefix is found from the place of the file, so that an installation can be moved.
file(RELATIVE_PATH nsk_prefix "/${CMAKE_INSTALL_DATADIR}/pkgconfig" "/")
if(NSK_FLATBUFFERS_INCLUDE_DIR AND NOT NSK_FLATBUFFERS_INCLUDE_DIR MATCHES "^/usr/(local/)?include$")
  set(nsk_flatbuffers_flag " -I${NSK_FLATBUFFERS_INCLUDE_DIR}")
endif()
configure_file(tools/cmake/netsuke.pc.in "${CMAKE_CURRENT_BINARY_DIR}/netsuke.pc" @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/netsuke.pc" DESTINATION ${CMAKE_INSTALL_DATADIR}/pkgconfig)
