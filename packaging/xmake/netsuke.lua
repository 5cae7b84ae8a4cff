-- SPDX-License-Identifier: MIT
-- includes("packaging/xmake/netsuke.lua"), then add_packages("netsuke") in a target.
package("netsuke")
    set_kind("library", {headeronly = true})
    set_description("Header-only inference engine for games")
    set_license("MIT")
    add_deps("flatbuffers")
    set_sourcedir(path.join(os.scriptdir(), "..", ".."))
    on_load("windows", function (package)
        if package:has_tool("cxx", "clang_cl") then
            package:add("cxxflags", "/Zc:twoPhase")
        elseif package:is_arch("x64", "x86_64") then
            package:add("cxxflags", "/arch:AVX2")
        end
    end)
    on_install(function (package)
        os.cp("include/netsuke", package:installdir("include"))
    end)
    on_test(function (package)
        assert(package:has_cxxincludes("netsuke/netsuke.hpp", {configs = {languages = "c++17"}}))
    end)
package_end()
