// SPDX-License-Identifier: MIT
#include <cstdio>
#include <iostream>

#include <netsuke/text/decoder.hpp>

#include "cli/commands.hpp"
#include "io/files.hpp"
#include "io/text.hpp"
#include "text/import_text.hpp"

namespace nsk::tool {
namespace {

constexpr std::uint64_t max_words_bytes = std::uint64_t{1} << 30;

/// An open .nskt file with the memory that texts need.
class text_session {
 public:
  explicit text_session(const std::string& path)
      : m_file(read_file(path, "tokenizer", max_words_bytes)), m_words(m_file.size() / 16 + 1) {
    std::memcpy(m_words.data(), m_file.data(), m_file.size());
    const status s = text::open({m_words.data()->bytes, m_file.size()}, words);
    if (!s) refuse("'" + path + "': " + s.message() + ".");
  }
  std::vector<std::int32_t> encode(const std::string& line, text::around with) {
    m_memory.resize(std::max<std::size_t>(m_memory.size(), 4096 + 64 * line.size()));
    std::vector<std::int32_t> ids(64 + 4 * line.size());
    for (;;) {
      const text::encoded e = words.encode(line, ids, m_memory, with);
      if (e) {
        ids.resize(e.count());
        return ids;
      }
      if (e.status().code() == status_code::too_many_ids)
        ids.resize(e.count());
      else if (e.status().code() == status_code::text_memory_too_small &&
               m_memory.size() < words.memory_bytes(line.size()))
        m_memory.resize(words.memory_bytes(line.size()));
      else
        refuse(std::string(e.status().message()) + ".");
    }
  }
  std::string decode(const std::vector<std::int32_t>& ids, text::special_tokens specials) const {
    std::string text(1024 + 64 * ids.size(), ' ');
    for (;;) {
      const text::decoded d = text::decode(words, ids, span<char>(text.data(), text.size()), specials);
      if (d) return text.substr(0, d.text().size());
      if (d.status().code() != status_code::text_memory_too_small) refuse(std::string(d.status().message()) + ".");
      text.resize(text.size() * 4);
    }
  }
  text::tokenizer words;

 private:
  struct alignas(16) block {
    std::byte bytes[16];
  };
  std::vector<std::byte> m_file, m_memory;
  std::vector<block> m_words;
};

std::vector<std::int32_t> ids_of(const std::string& line) {
  std::vector<std::int32_t> ids;
  for (const char* p = line.c_str(); *p != '\0';) {
    char* end = nullptr;
    const long id = std::strtol(p, &end, 10);
    if (end == p) {
      if (std::string(p).find_first_not_of(" \t\r") == std::string::npos) break;
      refuse("'" + shortened(line, 60) + "' is no line of ids: give numbers with spaces between them.");
    }
    ids.push_back(static_cast<std::int32_t>(std::min(std::max(id, -1L), 0x7fffffffL)));
    p = end;
  }
  return ids;
}

std::string text_of_json(const std::string& line) {
  const text_json text = text_json::parse(line, nullptr, false);
  if (!text.is_string()) refuse("'" + shortened(line, 60) + "' is no JSON string, as the option for those wants it.");
  return text.get<std::string>();
}

void print_ids(const std::vector<std::int32_t>& ids) {
  std::string line;
  for (const std::int32_t id : ids) line += (line.empty() ? "" : " ") + std::to_string(id);
  print(line + "\n");
}

}

exit_code tokenizer(const tokenizer_options& o, command_files& files) {
  made_tokenizer made = read_tokenizer(o.source, o.pattern);
  const std::vector<std::byte> bytes = write_text(made);
  files.write(o.output, bytes.data(), bytes.size());
  files.commit();
  if (!o.quiet)
    std::printf("%s: %s, %u tokens, %zu of them looked for in the text itself\n", o.output.c_str(),
                bytes_text(static_cast<double>(bytes.size())).c_str(), made.token_count(), made.added.size());
  return exit_code::good;
}

exit_code tokenize(const tokenize_options& o, command_files&) {
  text_session session(o.words);
  const auto with = o.plain ? text::around::nothing : text::around::as_the_model_wants;
  const auto specials = o.special ? text::special_tokens::shown : text::special_tokens::left_out;
  for (std::string line; std::getline(std::cin, line);) {
    if (!o.decode) {
      print_ids(session.encode(o.json ? text_of_json(line) : line, with));
      continue;
    }
    const std::string text = session.decode(ids_of(line), specials);
    print((o.json ? text_json(text).dump(-1, ' ', true, text_json::error_handler_t::replace) : text) + "\n");
  }
  return exit_code::good;
}

}
