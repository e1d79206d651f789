// Converts a drawing, or a picture of a digit, to the network's input: 28 × 28 pixels from 0 to 1. As in MNIST, the
// digit fits a square of 20, and its centre of mass is in the middle.
"use strict";

const FAINT = 20; // a smaller alpha counts as empty
const STROKE = 22;
const BOX = 20 / 28;

const form = document.getElementById("drawing");
if (form) start(form);

function start(form) {
  const side = Number(form.dataset.side);
  const pad = document.getElementById("pad");
  const pen = pad.getContext("2d", { willReadFrequently: true });
  const tell = (text) => { document.getElementById("told").textContent = text; };
  pen.lineWidth = STROKE;
  pen.lineCap = pen.lineJoin = "round";
  pen.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--text").trim();

  const place = (event) => {
    const box = pad.getBoundingClientRect();
    return [(event.clientX - box.left) * pad.width / box.width, (event.clientY - box.top) * pad.height / box.height];
  };
  pad.addEventListener("pointerdown", (event) => {
    pad.setPointerCapture(event.pointerId);
    pen.beginPath();
    pen.moveTo(...place(event));
    pen.lineTo(...place(event));
    pen.stroke();
  });
  pad.addEventListener("pointermove", (event) => {
    if (!pad.hasPointerCapture(event.pointerId)) return;
    pen.lineTo(...place(event));
    pen.stroke();
  });

  form.addEventListener("reset", () => {
    pen.clearRect(0, 0, pad.width, pad.height);
    tell("");
  });
  document.getElementById("picture").addEventListener("change", async (event) => {
    const [file] = event.target.files;
    if (!file) return;
    try {
      show(await createImageBitmap(file), pen);
      tell("");
    } catch {
      tell("That file is no picture that this browser can read.");
    }
  });
  form.addEventListener("submit", (event) => {
    const pixels = centred(inkOf(pen), pad.width, side);
    if (pixels === null) {
      event.preventDefault();
      tell("Draw a digit first.");
      return;
    }
    form.elements.namedItem("pixels").value = Array.from(pixels, (value) => +value.toFixed(3)).join(",");
    tell("The client makes keys, which takes a second or more …");
  });
}

// Converts a picture to ink: its light parts on a dark ground, else its dark parts. The corners determine the ground.
function show(picture, pen) {
  const { width, height } = pen.canvas;
  const scale = Math.min(width / picture.width, height / picture.height);
  const [w, h] = [picture.width * scale, picture.height * scale];
  pen.clearRect(0, 0, width, height);
  const probe = new OffscreenCanvas(width, height).getContext("2d");
  probe.fillStyle = "#fff";
  probe.fillRect(0, 0, width, height);
  probe.drawImage(picture, (width - w) / 2, (height - h) / 2, w, h);
  const [left, top] = [Math.ceil((width - w) / 2), Math.ceil((height - h) / 2)];
  const shown = probe.getImageData(0, 0, width, height);
  const light = (x, y) => {
    const at = 4 * (y * width + x);
    return (299 * shown.data[at] + 587 * shown.data[at + 1] + 114 * shown.data[at + 2]) / 1000;
  };
  const [right, bottom] = [Math.floor((width + w) / 2) - 1, Math.floor((height + h) / 2) - 1];
  const edge = [light(left, top), light(right, top), light(left, bottom), light(right, bottom)];
  const isDark = edge.reduce((sum, value) => sum + value) < 2 * 255;
  const made = pen.createImageData(width, height);
  for (let y = top; y <= bottom; y++) {
    for (let x = left; x <= right; x++) {
      made.data[4 * (y * width + x) + 3] = isDark ? light(x, y) : 255 - light(x, y);
    }
  }
  pen.putImageData(made, 0, 0);
}

function inkOf(pen) {
  const { width, height } = pen.canvas;
  const { data } = pen.getImageData(0, 0, width, height);
  return Float64Array.from({ length: width * height }, (_, i) => (data[4 * i + 3] < FAINT ? 0 : data[4 * i + 3] / 255));
}

// The ink of a square of `width`, scaled by means over areas and centred; null where there is none.
function centred(ink, width, side) {
  let [left, right, top, bottom] = [width, -1, width, -1];
  ink.forEach((value, i) => {
    if (value === 0) return;
    const [x, y] = [i % width, Math.floor(i / width)];
    [left, right, top, bottom] = [Math.min(left, x), Math.max(right, x), Math.min(top, y), Math.max(bottom, y)];
  });
  if (right < 0) return null;
  const unit = Math.max(right - left, bottom - top, BOX * side) / (BOX * side); // pad pixels per result pixel
  let [mass, sumX, sumY] = [0, 0, 0];
  ink.forEach((value, i) => {
    mass += value;
    sumX += value * (i % width + 0.5);
    sumY += value * (Math.floor(i / width) + 0.5);
  });
  const [originX, originY] = [sumX / mass - unit * side / 2, sumY / mass - unit * side / 2];
  const pixels = new Float64Array(side * side);
  ink.forEach((value, i) => {
    if (value === 0) return;
    const x = Math.floor((i % width + 0.5 - originX) / unit);
    const y = Math.floor((Math.floor(i / width) + 0.5 - originY) / unit);
    if (x >= 0 && x < side && y >= 0 && y < side) pixels[y * side + x] += value / (unit * unit);
  });
  return pixels.map((value) => Math.min(1, value));
}
