// Draws the page's charts, stores the theme, and keeps the addresses of filters short.
"use strict";

const root = document.documentElement;
const NARROW = 640;
const LABELS_SHARE = 0.56;
const MAX_COLUMNS = 3;
const NARROWEST = 120;
const ROOM_FOR_AXES = 70;
const SETTLED = 8; // pixels by which a small chart may be too narrow
const ATTEMPTS = 4;
const PAUSE_MS = 200;
const ROW_MS = 700; // maximum pause between keys or ticks of a series
const SHOWN_CHARACTERS = 300; // of an error's text; the page shows all of it after the run's end

function isDark() {
  const chosen = root.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

// A chart in the theme's colours, on the page's ground.
function themed(text) {
  const chart = JSON.parse(text);
  const dark = chart.usermeta.dark;
  const drawn = isDark()
    ? { ...JSON.parse(text.replace(/#[0-9A-Fa-f]{6}/g, (colour) => dark.colours[colour] ?? colour)), config: dark.config }
    : chart;
  drawn.config = { ...drawn.config, background: "transparent" };
  return drawn;
}

// Small charts are in as many columns as fit the page, and fill its width.
function fit(specification, width) {
  if (width < NARROW) {
    const columns = specification.facet === undefined ? 1 : 2;
    const legend = { ...specification.config?.legend, columns, titleOrient: "top" };
    const axisY = { labelLimit: LABELS_SHARE * width };
    specification.config = { ...specification.config, legend, axisY };
  }
  if (specification.facet === undefined) return;
  const charts = new Set(specification.data.values.map((row) => row[specification.facet.field])).size;
  const room = Math.floor(width / (specification.spec.width * 0.8 + ROOM_FOR_AXES));
  specification.columns = Math.max(1, Math.min(charts, MAX_COLUMNS, room));
  widen(specification, width / specification.columns - ROOM_FOR_AXES);
}

function widen(specification, width) {
  specification.spec.width = Math.max(NARROWEST, width);
}

function embed(element, specification) {
  return vegaEmbed(element, specification, { ast: true, actions: false, renderer: "svg", tooltip: { disableDefaultStyle: true } });
}

async function draw(element) {
  const specification = themed(document.getElementById(element.dataset.specification).textContent);
  const width = element.clientWidth;
  fit(specification, width);
  await embed(element, specification);
  // The widths of labels are known only after drawing, and a narrower chart may have other labels.
  for (let attempt = 0; specification.facet !== undefined && attempt < ATTEMPTS; attempt++) {
    const before = specification.spec.width;
    const excess = (element.querySelector("svg")?.width.baseVal.value ?? width) - width;
    widen(specification, before - Math.ceil(excess / specification.columns));
    if (specification.spec.width === before || (excess <= 0 && -excess < SETTLED * specification.columns)) break;
    await embed(element, specification);
  }
  const picture = element.querySelector("svg");
  if (picture) {
    picture.setAttribute("role", "img");
    picture.setAttribute("aria-label", element.dataset.label);
    // For screen readers, the chart is one picture, and the table below has its text: it has hundreds of marks.
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
  let pause;
  let width = innerWidth;
  addEventListener("resize", () => { // of the width: a phone's bars change the height alone
    if (innerWidth === width) return;
    width = innerWidth;
    clearTimeout(pause);
    pause = setTimeout(drawAll, PAUSE_MS);
  });
  for (const form of document.querySelectorAll("form.question, form.filters[method=get]")) applyAtOnce(form);
  focusAgain();
  for (const form of document.querySelectorAll("form.filters[method=get]")) {
    form.addEventListener("formdata", (event) => {
      // Another run may not have the values chosen for this one.
      const run = form.elements.namedItem("run");
      if (run && !run.selectedOptions[0].defaultSelected) {
        for (const field of form.elements) if (field.name !== "run" && field.type !== "hidden") event.formData.delete(field.name);
      }
      // An address without values means all of them: it stays short, and includes later values.
      for (const group of form.querySelectorAll("fieldset")) {
        const boxes = [...group.querySelectorAll("input[type=checkbox]")];
        if (boxes.every((box) => box.checked)) event.formData.delete(boxes[0].name);
      }
    });
  }
  drawAll();
});

// A choice applies at once; keys and ticks, which come in series, apply after a pause. The next page keeps the focus.
function applyAtOnce(form) {
  if (form.querySelector("button[type=submit]:not(noscript *)")) return; // choose both runs, then compare
  let pressedAt = 0;
  let waiting;
  form.addEventListener("keydown", (event) => { pressedAt = event.key === "Enter" ? 0 : Date.now(); });
  form.addEventListener("change", (event) => {
    const field = event.target;
    const isOneOfSeveral = field.type === "checkbox" || Date.now() - pressedAt < ROW_MS;
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      sessionStorage.setItem("focus", JSON.stringify([location.pathname, field.name, field.type === "checkbox" ? field.value : ""]));
      form.requestSubmit();
    }, isOneOfSeveral ? ROW_MS : 0);
  });
}

function focusAgain() {
  const [path, name, value] = JSON.parse(sessionStorage.getItem("focus") ?? "[]");
  sessionStorage.removeItem("focus");
  if (path !== location.pathname) return;
  const fields = [...document.querySelectorAll("form select, form input[type=checkbox]")].filter((field) => field.name === name);
  const field = fields.find((each) => each.type !== "checkbox" || each.value === value);
  field?.closest("details")?.setAttribute("open", "");
  field?.focus();
}

// A run in progress: every recorded trial and every change of state arrives as a server-sent event.
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
    const told = `${trial.variant}, ${trial.scheme} ${trial.operation}, N = ${trial.ring_dimension}: ${trial.status}`;
    text("run-last", told);
    if (trial.error) {
      const rest = trial.error.length > SHOWN_CHARACTERS ? "…" : "";
      text("run-failure", `${told}: ${trial.error.slice(0, SHOWN_CHARACTERS)}${rest}`);
      document.getElementById("run-failure").hidden = false;
    }
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
