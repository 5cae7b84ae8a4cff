// SPDX-License-Identifier: MIT
// One face detector in several formats (float32, fp16, int8), side by side in one image: the faces that each finds, the
// size of its file, its time, and how much its boxes overlap those of the first.
//   compare_formats MODEL.nsk MODEL.nsk ... PHOTO.jpg [-o OUT.png] [--score 0.5] [--rounds 51]
// docs/measurements/quantisation.md has the commands that make the models.
#include <memory>
#include <netsuke/all_ops.hpp>
#include "support/command_line.hpp"
#include "support/faces.hpp"
#include "support/timing.hpp"

using namespace example;

/// A detector in any format. A game lists what its models need: nsk inspect --settings.
class any_detector {
 public:
  explicit any_detector(const std::string& path)
      : m_net(path), m_decoder(m_net.model.variant(), path, {k_face_detector, k_far_face_detector}) {
    m_session = nsk::session<nsk::all_settings>(m_net.model, m_net.memory);
    if (!m_session) fail(path + ": " + m_session.status().message());
  }
  std::size_t file_bytes() const { return m_net.stored_bytes; }
  std::size_t arena_bytes() const { return m_net.model.required_bytes(); }

  /// Returns the milliseconds that the network takes to see a photo.
  double run(const pyramid& photo) {
    m_map = photo.read(m_decoder.settings(), m_session.input<float>(0), m_decoder.size(), m_decoder.size());
    return milliseconds([&] { m_session.run(); });
  }
  /// Returns the faces that the last run saw, best first.
  std::vector<detection> faces(float minimum) const {
    return m_decoder.find([&](int i) { return m_session.output<float>(i); }, m_map, minimum);
  }

 private:
  network m_net;
  box_decoder m_decoder;
  nsk::session<nsk::all_settings> m_session;
  nsk::image_map m_map;
};

/// Returns the median milliseconds of each network. They take turns, so that a busy machine slows all of them.
std::vector<double> median_times(std::vector<std::unique_ptr<any_detector>>& nets, const pyramid& photo, int rounds) {
  std::vector<std::vector<double>> times(nets.size());
  for (int i = 0; i < rounds; ++i)
    for (std::size_t k = 0; k < nets.size(); ++k) times[k].push_back(nets[k]->run(photo));
  std::vector<double> medians;
  for (std::vector<double>& t : times) {
    std::sort(t.begin(), t.end());
    medians.push_back(t[t.size() / 2]);
  }
  return medians;
}

/// Returns the smallest overlap of a face with the one that it should be; 0 where a face has no partner.
float smallest_overlap(const std::vector<detection>& wanted, const std::vector<detection>& found) {
  if (wanted.size() != found.size()) return 0;
  float smallest = 1;
  for (const detection& w : wanted) {
    float best = 0;
    for (const detection& f : found) best = std::max(best, overlap(w.around, f.around));
    smallest = std::min(smallest, best);
  }
  return smallest;
}

/// Returns the file's name without its folders and its ending.
std::string title_of(const std::string& path) { return std::filesystem::path(path).stem().string(); }

/// Writes lines of text on a dark strip under a photo.
image captioned(const image& photo, const std::vector<std::string>& lines) {
  constexpr int dot = 2, height = 10 * dot;
  image out(photo.width, photo.height + height * static_cast<int>(lines.size()) + dot, {24, 26, 30});
  paste(out, photo, 0, 0);
  int top = photo.height + 2 * dot;
  for (const std::string& line : lines) {
    draw_text(out, 2 * dot, top, line, dot, {230, 230, 230});
    top += height;
  }
  return out;
}

int main(int argc, char** argv) {
  const command_line given(argc, argv,
                           "compare_formats MODEL.nsk MODEL.nsk ... PHOTO.jpg [-o OUT.png] [--score 0.5] [--rounds 51]",
                           {"-o", "--score", "--rounds"}, 2, 9);
  const auto minimum = static_cast<float>(std::atof(given.value("--score", "0.5").c_str()));
  const int rounds = std::clamp(std::atoi(given.value("--rounds", "51").c_str()), 1, 10000);
  const std::vector<std::string> paths(given.words().begin(), given.words().end() - 1);
  const pyramid photo(load_image(given.words().back()));

  std::vector<std::unique_ptr<any_detector>> nets;
  for (const std::string& path : paths) nets.push_back(std::make_unique<any_detector>(path));
  const std::vector<double> times = median_times(nets, photo, rounds);

  const std::vector<detection> wanted = nets[0]->faces(minimum);
  std::vector<image> panels;
  for (std::size_t k = 0; k < nets.size(); ++k) {
    const std::vector<detection> found = nets[k]->faces(minimum);
    char line[160];
    std::snprintf(line, sizeof line, "%.1f kB, %.2f ms", static_cast<double>(nets[k]->file_bytes()) / 1000, times[k]);
    panels.push_back(captioned(show_faces(photo.photo(), found), {title_of(paths[k]), line}));
    std::printf("%s: %s, arena %.1f kB, %zu faces, overlap %.3f at least\n", title_of(paths[k]).c_str(), line,
                static_cast<double>(nets[k]->arena_bytes()) / 1000, found.size(),
                static_cast<double>(smallest_overlap(wanted, found)));
  }

  constexpr int gap = 4;
  const int width = panels[0].width + gap;
  image all(width * static_cast<int>(panels.size()) - gap, panels[0].height, {24, 26, 30});
  for (std::size_t k = 0; k < panels.size(); ++k) paste(all, panels[k], width * static_cast<int>(k), 0);
  const std::string out = given.value("-o", "formats.png");
  save_png(out, all);
  std::printf("%s\n", out.c_str());
}
