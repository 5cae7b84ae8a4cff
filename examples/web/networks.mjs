// SPDX-License-Identifier: MIT
// The module of module.cpp behind functions: memory, files, images.

/** Returns the first module that this engine runs with the bits of other machines: {name, exports}. */
async function load(names) {
  for (const name of names) {
    const bytes = await (await fetch(name)).arrayBuffer();
    if (!WebAssembly.validate(bytes)) continue;  // no relaxed SIMD here
    const { instance } = await WebAssembly.instantiate(bytes);
    instance.exports._initialize?.();
    if (instance.exports.supported()) return { name, exports: instance.exports };
  }
  throw new Error('this browser has no vectors');
}

/** Both networks, ready to run. */
export class Networks {
  /** `modules`: names of files, of which the first is taken that this engine runs. */
  static async open(modules = ['networks.wasm', 'networks_exact.wasm']) {
    const networks = new Networks();
    const { name, exports } = await load(modules);
    networks.name = name;
    networks.exports = exports;
    networks.end = exports.__heap_base.value;
    await networks.#begin('face.nsk', exports.open_detector, exports.begin_detector);
    await networks.#begin('upscaler.nsk', exports.open_upscaler, exports.begin_upscaler);
    networks.frame = networks.#allocate(640 * 360 * 4);
    networks.image = networks.#allocate(4);
    return networks;
  }

  /** Finds the faces in an ImageData, best first: {score, box: [left, top, right, bottom], keypoints: [[x, y], ...]}. */
  findFaces(image) {
    const count = this.exports.find_faces(this.#put(image), image.width, image.height, 0);
    const numbers = new Float32Array(this.#buffer, this.exports.faces(), count * 17);
    return Array.from({ length: count }, (_, i) => {
      const [score, ...rest] = numbers.slice(17 * i, 17 * (i + 1)), points = rest.slice(4);
      return { score: 1 / (1 + Math.exp(-score)), box: rest.slice(0, 4), keypoints: points.flatMap((x, k) => (k % 2 ? [] : [[x, points[k + 1]]])) };
    });
  }

  /** Begins to enlarge the middle of an ImageData. Returns the small frame. */
  beginFrame(image) {
    this.exports.show_frame(this.#put(image), image.width, image.height, this.frame);
    return this.#frame(320, 180);
  }
  /** Goes on for so many milliseconds. Returns the enlarged frame when it is complete, otherwise null. */
  enlargeFor(milliseconds) {
    const begin = performance.now();
    do {
      if (!this.exports.upscale_some(4e6)) continue;
      this.exports.take_frame(this.frame);
      return this.#frame(640, 360);
    } while (performance.now() - begin < milliseconds);
    return null;
  }

  /** Hashes of all that the networks computed last, as hexadecimal digits. */
  get detectorHash() { return hexadecimal(this.exports.detector_hash()); }
  get upscalerHash() { return hexadecimal(this.exports.upscaler_hash()); }

  get #buffer() { return this.exports.memory.buffer; }

  /** Takes `bytes` at a multiple of 64 behind everything else. Growing the memory replaces its buffer. */
  #allocate(bytes) {
    const begin = Math.ceil(this.end / 64) * 64;
    this.end = begin + bytes;
    const missing = this.end - this.#buffer.byteLength;
    if (missing > 0) this.exports.memory.grow(Math.ceil(missing / 65536));
    return begin;
  }

  async #begin(name, open, begin) {
    const file = new Uint8Array(await (await fetch(name)).arrayBuffer()), at = this.#allocate(file.length);
    new Uint8Array(this.#buffer, at).set(file);
    const bytes = open(at, file.length);
    if (!bytes || !begin(this.#allocate(bytes))) throw new Error(`${name} is refused`);
  }

  /** Copies an image behind everything else. */
  #put(image) {
    this.end = this.image;
    const at = this.#allocate(image.data.length);
    new Uint8Array(this.#buffer, at).set(image.data);
    return at;
  }
  #frame(width, height) {
    return new ImageData(new Uint8ClampedArray(this.#buffer, this.frame, 4 * width * height).slice(), width, height);
  }
}

function hexadecimal(hash) {
  return BigInt.asUintN(64, hash).toString(16).padStart(16, '0');
}
