// Draws the page's charts, remembers the theme, and sends filters as soon as they change.
"use strict";

const root = document.documentElement;
const NARROW = 640;
const LABELS_SHARE = 0.4;
const NARROWEST = 120;
const ROOM_FOR_AXES = 70;
const ROOM_FOR_LEGEND = 110;

function isDark() {
  const chosen = root.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function configuration() {
  const colour = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const text = { labelColor: colour("--text"), titleColor: colour("--text") };
  return {
    background: "transparent",
    font: "system-ui, sans-serif",
    axis: { ...text, gridColor: colour("--line"), domainColor: colour("--muted"), tickColor: colour("--muted"), labelFontSize: 12, titleFontSize: 12 },
    legend: { ...text, labelFontSize: 12 },
    header: { ...text, labelFontSize: 13, labelFontWeight: 600 },
    title: { color: colour("--text") },
    text: { color: colour("--text") },
    view: { stroke: colour("--line") },
  };
}

// On a narrow screen small charts stand below each other, and none is wider than the page.
function fit(specification, width) {
  if (width < NARROW) {
    const legend = { ...specification.config?.legend, orient: "bottom", columns: 2 };
    specification.config = { ...specification.config, legend, axisY: { labelLimit: LABELS_SHARE * width } };
  }
  if (specification.facet === undefined) return;
  const room = width - ROOM_FOR_AXES;
  const own = specification.spec.width;
  if (typeof own !== "number") return;
  specification.columns = Math.max(1, Math.min(specification.columns ?? 2, Math.floor((width - ROOM_FOR_LEGEND) / (own + ROOM_FOR_AXES))));
  if (specification.columns === 1) specification.spec.width = Math.max(NARROWEST, Math.min(own, room));
}

function embed(element, specification) {
  return vegaEmbed(element, specification, { actions: false, renderer: "svg", config: configuration() });
}

async function draw(element) {
  const specification = JSON.parse(document.getElementById(element.dataset.specification).textContent);
  fit(specification, element.clientWidth);
  await embed(element, specification);
  const excess = (element.querySelector("svg")?.width.baseVal.value ?? 0) - element.clientWidth;
  if (excess > 0 && specification.columns === 1) { // its labels are longer than one could know before
    specification.spec.width = Math.max(NARROWEST, specification.spec.width - excess);
    await embed(element, specification);
  }
  const picture = element.querySelector("svg");
  if (picture) {
    picture.setAttribute("role", "img");
    picture.setAttribute("aria-label", element.dataset.label);
    // One picture, whose text is the table below: its hundreds of marks are nothing to read out.
    for (const part of picture.children) part.setAttribute("aria-hidden", "true");
  }
}

function drawAll() {
  for (const element of document.querySelectorAll("[data-specification]")) draw(element);
}

function setTheme(theme) {
  root.dataset.theme = theme;
  localStorage.setItem("theme", theme);
  document.getElementById("theme").setAttribute("aria-pressed", String(theme === "dark"));
  drawAll();
}

const remembered = localStorage.getItem("theme");
if (remembered) root.dataset.theme = remembered;

document.addEventListener("DOMContentLoaded", () => {
  const button = document.getElementById("theme");
  button.setAttribute("aria-pressed", String(isDark()));
  button.addEventListener("click", () => setTheme(isDark() ? "light" : "dark"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  for (const form of document.querySelectorAll("form.filters[method=get]")) {
    // Another run may not have what is chosen for this one.
    form.addEventListener("change", (event) => {
      if (event.target.name === "run") location.assign(`${form.getAttribute("action")}?run=${encodeURIComponent(event.target.value)}`);
      else form.requestSubmit();
    });
  }
  drawAll();
});

// A run in progress: every recorded trial and every change of state comes as a server-sent event.
function follow(section) {
  const text = (id, value) => { document.getElementById(id).textContent = value; };
  const bar = document.getElementById("progress");
  const known = new Set();
  const source = new EventSource(section.dataset.events);
  source.addEventListener("trial", (event) => {
    const trial = JSON.parse(event.data);
    known.add(trial.trial_id);
    bar.value = known.size;
    text("run-done", known.size);
    text("run-last", `${trial.variant}, ${trial.scheme} ${trial.operation}, N = ${trial.ring_dimension}: ${trial.status}`);
  });
  source.addEventListener("state", (event) => {
    const run = JSON.parse(event.data);
    text("run-state", run.state);
    text("run-reason", run.reason ?? "");
    if (run.trials !== null) {
      bar.max = run.trials;
      text("run-trials", run.trials);
    }
    if (run.state !== "queued" && run.state !== "running") {
      source.close();
      location.reload();
    }
  });
}

document.addEventListener("DOMContentLoaded", () => {
  for (const section of document.querySelectorAll("[data-events]")) follow(section);
});
