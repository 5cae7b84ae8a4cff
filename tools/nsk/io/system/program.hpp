// SPDX-License-Identifier: MIT
#pragma once
/// What a program asks the operating system for as a whole: its words, its terminal, large memory, the machine's name.
#include <cstddef>
#include <string>
#include <vector>

namespace nsk::tool {

/// Returns the words of the command line behind the program's name, as UTF-8. Call it once, first: it also prepares
/// output, which is bytes as they are printed, in UTF-8, and lets a full disk become an error of the write.
std::vector<std::string> begin_program(int argc, char** argv);

enum class console { output, error };
/// Whether an output is a terminal that takes escape sequences.
bool is_terminal(console which);
/// Whether colours may be written to a terminal: it is not a "dumb" one.
bool terminal_has_colours();

/// Returns memory of at least `bytes` bytes that begins at a multiple of 64, in large pages where that is possible and
/// worthwhile; null where there is none. free_pages gives it back.
void* allocate_pages(std::size_t bytes);
void free_pages(void* memory);

/// Returns the name of the processor, or "this machine".
std::string processor_name();

}
