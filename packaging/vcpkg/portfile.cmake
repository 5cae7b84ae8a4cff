# An overlay port of this checkout: vcpkg install netsuke --overlay-ports=packaging/vcpkg
set(VCPKG_BUILD_TYPE release)
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS -DNSK_BUILD_TOOLS=OFF -DNSK_BUILD_EXAMPLES=OFF -DNSK_BUILD_TESTS=OFF -DNSK_BUILD_BENCH=OFF -DNSK_BUILD_C=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/netsuke)
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug" "${CURRENT_PACKAGES_DIR}/lib")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
