# SPDX-License-Identifier: MIT
"""Conan 2: the engine, headers alone. conan create packaging/conan"""
import os
import re

from conan import ConanFile
from conan.tools.files import copy, load
from conan.tools.layout import basic_layout


class Netsuke(ConanFile):
    name = "netsuke"
    description = "Header-only inference engine for games"
    license = "MIT"
    package_type = "header-library"
    settings = "os", "compiler", "build_type", "arch"
    options = {"system_flatbuffers": [True, False]}
    default_options = {"system_flatbuffers": False}
    no_copy_source = True

    @property
    def root(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        text = load(self, os.path.join(self.root, "include", "netsuke", "version.hpp"))
        self.version = re.search(r'NSK_VERSION_STRING "([^"]+)"', text).group(1)

    def export_sources(self):
        for pattern in ("include/*", "LICENSE"):
            copy(self, pattern, self.root, self.export_sources_folder)

    def layout(self):
        basic_layout(self)

    def requirements(self):
        if not self.options.system_flatbuffers:
            self.requires("flatbuffers/[>=2.0.8 <26]", transitive_headers=True)

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        copy(self, "include/*", self.source_folder, self.package_folder)

    def package_id(self):
        self.info.clear()

    def package_info(self):
        self.cpp_info.set_property("cmake_target_name", "netsuke::netsuke")
        self.cpp_info.bindirs = self.cpp_info.libdirs = []
        if self.settings.get_safe("compiler") == "msvc" and self.settings.arch == "x86_64":
            self.cpp_info.cxxflags = ["/arch:AVX2"]
