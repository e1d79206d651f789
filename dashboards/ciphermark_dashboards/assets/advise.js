// Sliders of limits, on a logarithmic scale: each writes a number with a unit into the field above it. The form applies
// the field (page.js). A slider at its free end sets no limit, unless it always has a value.
"use strict";

const UNITS = { s: [["s", 1], ["ms", 1e-3], ["us", 1e-6]], B: [["GB", 1e9], ["MB", 1e6], ["kB", 1e3], ["B", 1]], "B/s": [["TB/s", 1e12], ["GB/s", 1e9], ["MB/s", 1e6]], "": [["", 1]] };

// A value with three digits and a unit, rounded so that the value itself keeps the limit.
function written(value, kind, isFloor) {
  const [unit, factor] = UNITS[kind].find(([, each]) => value >= each) ?? UNITS[kind].at(-1);
  const number = value / factor;
  const step = 10 ** (Math.floor(Math.log10(number)) - 2);
  const steps = isFloor ? Math.floor(number / step + 1e-6) : Math.ceil(number / step - 1e-6);
  return `${Number((steps * step).toPrecision(3))}${unit}`;
}

let moved = ""; // the slider that has the focus on the page that follows

document.addEventListener("input", (event) => {
  const slider = event.target;
  if (!slider.matches("input[type=range][data-field]")) return;
  const isFloor = "floor" in slider.dataset;
  const isFree = !("always" in slider.dataset) && Number(slider.value) === Number(isFloor ? slider.min : slider.max);
  const field = slider.form.elements.namedItem(slider.dataset.field);
  field.value = isFree ? "" : written(10 ** Number(slider.value), slider.dataset.unit, isFloor);
  moved = slider.id;
});

new MutationObserver(() => {
  const slider = moved && document.getElementById(moved);
  if (slider && document.activeElement !== slider) slider.focus({ preventScroll: true });
  moved = "";
}).observe(document.body, { childList: true });
