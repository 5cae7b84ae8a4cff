// SPDX-License-Identifier: MIT
// Runs a network in a module of network.cpp and in onnxruntime-web, one thread each, in turns; prints a line of JSON.
//   compare.mjs MODULE.wasm MODEL.nsk MODEL.onnx FOLDER_OF_ONNXRUNTIME_WEB LAYOUT ROUNDS
// LAYOUT: JSON list of the source's inputs and outputs, {name, shape, permute}; permute of what the engine stores as NHWC.
import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';

const [, , modulePath, nskPath, onnxPath, ortFolder, layoutText, roundsText] = process.argv;
const layout = JSON.parse(layoutText), rounds = Number(roundsText);

/** The network in its module: {input(i), output(i), run()}, typed arrays over the module's memory. */
async function openNetwork() {
  const { instance } = await WebAssembly.instantiate(await readFile(modulePath));
  const e = instance.exports, file = await readFile(nskPath);
  e._initialize?.();
  if (!e.supported()) throw new Error('this engine does not fuse multiply-adds');
  const reach = (end) => {
    const missing = end - e.memory.buffer.byteLength;
    if (missing > 0) e.memory.grow(Math.ceil(missing / 65536));
  };
  reach(e.heap() + file.length);
  new Uint8Array(e.memory.buffer, e.heap(), file.length).set(file);
  const end = e.required(file.length);
  if (!end) throw new Error('the file is refused');
  reach(end);
  const status = e.begin(file.length);
  if (status) throw new Error(`the session is refused: ${status}`);
  return { run: e.run, input: (i) => new Float32Array(e.memory.buffer, e.input(i), e.input_bytes(i) / 4),
    output: (i) => new Float32Array(e.memory.buffer, e.output(i), e.output_bytes(i) / 4) };
}

/** NCHW to NHWC, or back. */
function permuted(from, [n, c, h, w], back) {
  const to = new Float32Array(from.length);
  for (let i = 0, k = 0; i < n; ++i)
    for (let j = 0; j < c; ++j)
      for (let p = 0; p < h * w; ++p, ++k) {
        const last = (i * h * w + p) * c + j;
        if (back) to[k] = from[last];
        else to[last] = from[k];
      }
  return to;
}

function samples(count) {
  let state = 1;
  return Float32Array.from({ length: count }, () => (state = Math.imul(state, 1664525) + 1013904223 | 0) / 2 ** 31);
}

const median = (list) => list.slice().sort((a, b) => a - b)[list.length >> 1];

const net = await openNetwork();
const ort = await import(pathToFileURL(`${ortFolder}/dist/ort.wasm.min.mjs`));
ort.env.wasm.numThreads = 1;
ort.env.logLevel = 'error';
const session = await ort.InferenceSession.create(new Uint8Array(await readFile(onnxPath)), { executionProviders: ['wasm'], graphOptimizationLevel: 'all' });
const feeds = {};
layout.inputs.forEach(({ name, shape, permute }, i) => {
  const x = samples(shape.reduce((a, b) => a * b));
  feeds[name] = new ort.Tensor('float32', x, shape);
  net.input(i).set(permute ? permuted(x, shape, false) : x);
});

const runs = { netsuke: async () => net.run(), onnxruntime: async () => session.run(feeds) };
const results = await session.run(feeds);
net.run();
let error = 0;
layout.outputs.forEach(({ name, shape, permute }, i) => {
  const want = results[name].data, have = permute ? permuted(net.output(i), shape, true) : net.output(i);
  const largest = want.reduce((a, b) => Math.max(a, Math.abs(b)), 0);
  want.forEach((x, k) => { error = Math.max(error, Math.abs(x - have[k]) / largest); });
});

// As many runs in a measurement as take 50 ms; before them, until the engine has optimised the code.
const milliseconds = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000; };
const times = {}, repeats = {};
for (const [name, run] of Object.entries(runs)) {
  const begin = milliseconds();
  let count = 0;
  for (; milliseconds() - begin < 1000; ++count) await run();
  repeats[name] = Math.max(1, Math.round(count / 20));
  times[name] = [];
}
for (let r = 0; r < rounds; ++r)
  for (const [name, run] of Object.entries(runs)) {
    const begin = milliseconds();
    for (let i = 0; i < repeats[name]; ++i) await run();
    times[name].push((milliseconds() - begin) / repeats[name]);
  }
console.log(JSON.stringify({ error, netsuke_ms: median(times.netsuke), onnxruntime_ms: median(times.onnxruntime),
  ratio: median(times.onnxruntime.map((t, i) => t / times.netsuke[i])), onnxruntime: ort.env.versions.web }));
process.exit(0);
