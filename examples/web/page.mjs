// SPDX-License-Identifier: MIT
// The page: an image or the camera, faces on it, and its middle enlarged within a budget for each frame.
import { Networks } from './networks.mjs';

const element = (id) => document.getElementById(id);
const photo = element('photo').getContext('2d', { willReadFrequently: true }), enlarged = element('enlarged').getContext('2d');
const asked = new URLSearchParams(location.search).get('module');  // one of the modules alone
const networks = await Networks.open(asked ? [asked] : undefined);
const expected = await (await fetch('expected.json')).json();
const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));
const budget = () => Number(element('budget').value);
let shown = 0;  // the number of the image that is shown: an older one stops

function drawFaces(faces) {
  photo.lineWidth = Math.max(2, photo.canvas.width / 250);
  photo.strokeStyle = photo.fillStyle = '#3ce65a';
  photo.font = `${6 * photo.lineWidth}px sans-serif`;
  for (const { score, box: [left, top, right, bottom], keypoints } of faces) {
    photo.strokeRect(left, top, right - left, bottom - top);
    photo.fillText(`${Math.round(100 * score)} %`, left, top - photo.lineWidth);
    for (const [x, y] of keypoints) photo.fillRect(x - photo.lineWidth, y - photo.lineWidth, 2 * photo.lineWidth, 2 * photo.lineWidth);
  }
}

/** A hash, and how it compares with that of the machine that built the page where it is known. */
function judged(hash, wanted) {
  return `<code>${hash}</code>${wanted ? (hash === wanted ? ', equal to the CPU’s' : `, but the CPU has ${wanted}`) : ''}`;
}

/** Shows an image of any kind that a canvas takes; `wanted` holds the hashes that it must give. */
async function show(source, width, height, wanted = {}) {
  const mine = ++shown;
  photo.canvas.width = width;
  photo.canvas.height = height;
  photo.drawImage(source, 0, 0, width, height);
  const image = photo.getImageData(0, 0, width, height), begin = performance.now(), faces = networks.findFaces(image);
  const milliseconds = performance.now() - begin;
  drawFaces(faces);
  element('faces_text').textContent = `${faces.length} ${faces.length === 1 ? 'face' : 'faces'} in ${milliseconds.toFixed(1)} ms`;
  element('detector').innerHTML = judged(networks.detectorHash, wanted.detector);

  const small = await createImageBitmap(networks.beginFrame(image));
  enlarged.imageSmoothingEnabled = false;
  enlarged.drawImage(small, 0, 0, 640, 360);
  let frames = 1, result = null, longest = 0;
  for (; mine === shown; ++frames) {
    const start = performance.now();
    result = networks.enlargeFor(budget());
    longest = Math.max(longest, performance.now() - start);
    if (result) break;
    await nextFrame();
  }
  if (!result) return;
  enlarged.putImageData(result, 0, 360);
  element('upscaler').innerHTML = `${judged(networks.upscalerHash, wanted.upscaler)}; ${frames} frames of at most ${longest.toFixed(1)} ms`;
}

async function showCamera() {
  const video = document.createElement('video');
  video.srcObject = await navigator.mediaDevices.getUserMedia({ video: { width: 640, height: 480 } });
  await video.play();
  for (let goes_on = true; goes_on;) {
    const mine = shown + 1;
    await show(video, video.videoWidth, video.videoHeight);
    await nextFrame();
    goes_on = mine === shown;
  }
  video.srcObject.getTracks().forEach((track) => track.stop());
}

async function showFile(blob, wanted) {
  const bitmap = await createImageBitmap(blob, { colorSpaceConversion: 'none', premultiplyAlpha: 'none' });
  await show(bitmap, bitmap.width, bitmap.height, wanted);
}

element('file').addEventListener('change', ({ target }) => target.files[0] && showFile(target.files[0]));
element('camera').addEventListener('click', showCamera);
element('budget').addEventListener('input', () => { element('budget_text').textContent = `${budget()} ms`; });
element('budget_text').textContent = `${budget()} ms`;
element('module').textContent = networks.name;
await showFile(await (await fetch('photo.png')).blob(), expected);
document.body.dataset.state = 'done';
