// SPDX-License-Identifier: MIT
// Doubles a frame with a network and shows it beside the frame and its bicubic enlargement.
//   upscale MODEL.nsk FRAME.png [-o OUT.png] [--truth FULL.png] [--frame NETWORK.png]
// The model's input must have the frame's size: nsk convert upscaler_x2.onnx -o m.nsk --input frame=1x3xHEIGHTxWIDTH
// It holds colours from 0 to 1, behind tone mapping. For a frame before it, add --hdr frame: otherwise a bright pixel
// changes others up to five pixels away. The network was trained on colours from 0 to 1 all the same.
#include <chrono>
#include <netsuke/netsuke.hpp>
#include "support/image.hpp"

using namespace example;

/// Just what the network needs: printed by `nsk inspect --settings`.
struct upscaler_settings : nsk::default_settings {
  using ops = nsk::op_list<nsk::op::conv_2d, nsk::op::binary, nsk::op::copy, nsk::op::resize_2d>;
  using functions = nsk::function_list<nsk::function::identity, nsk::function::clip>;
};

struct options {
  std::string model, frame, out = "upscale.png", truth, network_only;
};

static options read_options(int argc, char** argv) {
  options o;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    std::string* value = word == "-o"        ? &o.out
                         : word == "--truth" ? &o.truth
                         : word == "--frame" ? &o.network_only
                                             : nullptr;
    if (value != nullptr && i + 1 < argc)
      *value = argv[++i];
    else if (value == nullptr && o.model.empty())
      o.model = word;
    else if (value == nullptr && o.frame.empty())
      o.frame = word;
    else
      fail("upscale: what is '" + word + "'?");
  }
  if (o.frame.empty()) fail("usage: upscale MODEL.nsk FRAME.png [-o OUT.png] [--truth FULL.png] [--frame NETWORK.png]");
  return o;
}

/// Runs the network on a frame; the best of three runs' time goes to `milliseconds`.
static image enlarge(const nsk::model& model, const image& frame, double& milliseconds) {
  if (model.input_count() != 1 || model.output_count() != 1)
    fail("upscale: the model is not one RGB image in, one RGB image out");
  const nsk::port_view in = model.input(0);
  const nsk::port_view out = model.output(0);
  const auto is_image = [](const nsk::port_view& p) {
    return p.shape().size() == 4 && p.shape()[0] == 1 && p.shape()[3] == 3 && p.type() == nsk::dtype::float32;
  };
  if (!is_image(in) || !is_image(out)) fail("upscale: the model is not one RGB image in, one RGB image out");
  if (in.shape()[1] != frame.height || in.shape()[2] != frame.width) {
    const auto size = [](auto w, auto h) { return std::to_string(w) + " x " + std::to_string(h); };
    fail("upscale: the frame is " + size(frame.width, frame.height) + " but the model takes " +
         size(in.shape()[2], in.shape()[1]) + "; convert it again with --input " + in.name() + "=1x3x" +
         std::to_string(frame.height) + "x" + std::to_string(frame.width));
  }
  const memory_block memory(model.required_bytes());
  nsk::session<upscaler_settings> net(model, memory);
  if (!net.status()) fail(net.status().message());

  nsk::image_to_tensor(view_of(frame), {}, net.input<float>(0), frame.height, frame.width);
  milliseconds = 1e9;
  for (int i = 0; i < 3; ++i) {
    const auto start = std::chrono::steady_clock::now();
    net.run();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    milliseconds = std::min(milliseconds, took.count());
  }
  image result(out.shape()[2], out.shape()[1]);
  nsk::tensor_to_image(net.output<float>(0), {}, target_of(result));
  return result;
}

/// The window of w x h pixels, in steps of 8, in which the two images differ most.
static void find_difference(const image& a, const image& b, int w, int h, int& left, int& top) {
  std::int64_t maximum = -1;
  for (int y = 0; y + h <= a.height; y += 8) {
    for (int x = 0; x + w <= a.width; x += 8) {
      std::int64_t sum = 0;
      for (int j = 0; j < h; j += 2) {
        for (int i = 0; i < 3 * w; ++i) {
          const int d = a.at(x, y + j)[i] - b.at(x, y + j)[i];
          sum += d * d;
        }
      }
      if (sum > maximum) {
        maximum = sum;
        left = x;
        top = y;
      }
    }
  }
}

/// Three columns: the whole image, below it four times enlarged the part where the last two columns differ most.
static image side_by_side(const image (&columns)[3], const std::string (&captions)[3]) {
  constexpr int bar = 28;
  constexpr int gap = 8;
  const color ink{235, 235, 235};
  const int width = columns[0].width;
  const int height = columns[0].height;
  const int part_width = width / 4;
  const int part_height = height / 4;
  int left = 0;
  int top = 0;
  find_difference(columns[1], columns[2], part_width, part_height, left, top);
  image sheet(3 * width + 4 * gap, bar + height + gap + 4 * part_height + gap, {24, 24, 28});
  for (int i = 0; i < 3; ++i) {
    const int x = gap + i * (width + gap);
    const int dot = static_cast<int>(captions[i].size()) * 12 < width ? 2 : 1;
    draw_text(sheet, x, (bar - 7 * dot) / 2, captions[i], dot, ink);
    image whole = columns[i];
    draw_rectangle(whole, left, top, left + part_width - 1, top + part_height - 1, 1, {255, 210, 60});
    paste(sheet, whole, x, bar);
    paste(sheet, magnify(crop(columns[i], left, top, part_width, part_height), 4), x, bar + height + gap);
  }
  return sheet;
}

int main(int argc, char** argv) {
  const options o = read_options(argc, argv);
  const memory_block file = read_file(o.model);
  nsk::model model;
  if (nsk::status s = nsk::open(file, model); !s) fail(o.model + ": " + s.message());
  const image frame = load_image(o.frame);

  double milliseconds = 0;
  const image network = enlarge(model, frame, milliseconds);
  const image bicubic = resize(frame, 2 * frame.width, 2 * frame.height, filter::cubic);
  const auto text = [](const char* format, double value) {
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, format, value);
    return std::string(buffer);
  };
  std::string captions[3] = {"low resolution " + std::to_string(frame.width) + "x" + std::to_string(frame.height),
                             "bicubic", "netsuke " + text("%.1f ms", milliseconds)};
  if (!o.truth.empty()) {
    const image truth = load_image(o.truth);
    if (truth.width != network.width || truth.height != network.height)
      fail("upscale: " + o.truth + " is not twice as large as the frame");
    captions[1] += text("  %.2f dB", psnr(bicubic, truth));
    captions[2] += text("  %.2f dB", psnr(network, truth));
  }
  if (!o.network_only.empty()) save_png(o.network_only, network);
  save_png(o.out, side_by_side({magnify(frame, 2), bicubic, network}, captions));
  for (const std::string& caption : captions) std::printf("%s\n", caption.c_str());
  std::printf("%s\n", o.out.c_str());
}
