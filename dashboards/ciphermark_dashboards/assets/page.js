// Draws the page's charts, stores the theme, and applies choices without loading scripts again.
"use strict";

const root = document.documentElement;
const NARROW = 640;
const LABEL = 20; // pixels of a row's label above its marks
const MARKS = 28; // pixels of a row's marks on a line
const MARK = 14; // pixels of a mark, of several below each other
const CHARACTER = 7.6; // pixels of a note's character
const TOUCH = 2; // pixels above and below a label's letters, where another one may be
const NUDGES = [0, -7, 7, -14, 14]; // pixels that a label moves up or down where another one is
const MAX_COLUMNS = 3;
const NARROWEST = 120;
const SHORT = "_short"; // ending of columns with the short forms of texts
const ROOM_FOR_AXES = 70;
const SETTLED = 8; // pixels by which a small chart may be too narrow
const ATTEMPTS = 4;
const PAUSE_MS = 200;
const ERRORS = 1; // what Vega logs: a part of a chart without marks in one panel is none
const ROW_MS = 700; // maximum pause between keys or ticks of a series
const NEAR_PX = 300; // below the screen: charts there are drawn first
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
  // The page has one legend of libraries for all charts.
  drawn.config = { ...drawn.config, background: "transparent", legend: { ...drawn.config.legend, disable: true } };
  return drawn;
}

// Small charts are in as many columns as fit the page, and fill its width.
function fit(specification, width) {
  if (Array.isArray(specification.title)) specification.title = specification.title.flatMap((line) => wrapped(line, width / CHARACTER));
  if (width < NARROW) stack(specification, width);
  if (specification.facet === undefined) return;
  const charts = new Set(specification.data.values.map((row) => row[specification.facet.field])).size;
  const room = width < NARROW ? 1 : Math.floor(width / (specification.spec.width * 0.8 + ROOM_FOR_AXES));
  specification.columns = Math.max(1, Math.min(charts, MAX_COLUMNS, room));
  widen(specification, width / specification.columns - ROOM_FOR_AXES);
}

// On a phone, labels of rows are above their marks, a plot takes the whole width, and texts have their short forms.
function stack(specification, width) {
  const { config } = specification;
  for (const row of specification.data.values) {
    for (const name of Object.keys(row)) if (name.endsWith(SHORT) && row[name.slice(0, -SHORT.length)]) row[name.slice(0, -SHORT.length)] = row[name];
  }
  config.legend = { ...config.legend, columns: 2, titleOrient: "top" };
  const view = specification.spec ?? specification;
  const parts = view.layer ?? [view];
  const rows = parts.find((part) => part.encoding.y?.type === "nominal")?.encoding.y;
  if (!rows || parts.some((part) => part.mark.type === "rect" && part.encoding.y)) return;
  const isOffset = parts.some((part) => part.encoding.yOffset);
  const variants = new Set(specification.data.values.map((row) => row.variant)).size;
  const marks = isOffset ? MARK * variants : MARKS;
  const padding = LABEL / (LABEL + marks);
  const isFixed = view.height.step === undefined;
  if (isFixed) view.height = (rows.sort.length + (isOffset ? padding : 0)) * (LABEL + marks);
  else view.height = { step: isOffset ? MARK : LABEL + marks };
  const between = { bandWithNestedOffsetPaddingInner: padding, bandWithNestedOffsetPaddingOuter: padding };
  config.scale = { ...config.scale, ...(isOffset ? between : {}) };
  const above = isOffset ? (marks + LABEL) / 2 : (LABEL + MARKS) / 2 - 7;
  config.axisYBand = { labelAlign: "left", labelPadding: 0, labelOffset: -above, labelLimit: width, ticks: false, domain: false, tickSize: 0 };
  for (const part of parts) if (part.encoding.y?.axis) part.encoding.y.axis.zindex = 1; // above bands
  if (specification.facet) specification.resolve = { ...specification.resolve, axis: { ...specification.resolve?.axis, y: "independent" } };
}

function wrapped(text, characters) {
  const lines = [""];
  for (const word of text.split(" ")) {
    if (lines.at(-1) && lines.at(-1).length + word.length >= characters) lines.push(word);
    else lines.push([lines.pop(), word].filter(Boolean).join(" "));
  }
  return lines;
}

function widen(specification, width) {
  specification.spec.width = Math.max(NARROWEST, width);
}

// Vega is loaded when the first chart is drawn: a page is painted and can be used before.
async function embed(element, specification) {
  if (!window.vegaEmbed) await import(document.getElementById("vega").href);
  return vegaEmbed(element, specification, { ast: true, actions: false, renderer: "svg", logLevel: ERRORS, tooltip: { disableDefaultStyle: true } });
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
    separate(picture);
    picture.setAttribute("role", "img");
    picture.setAttribute("aria-label", element.dataset.label);
    // For screen readers and keyboards, the chart is one picture, and the table below has its text and links: it has
    // hundreds of marks.
    for (const part of picture.children) part.setAttribute("aria-hidden", "true");
    for (const link of picture.querySelectorAll("a")) link.setAttribute("tabindex", "-1");
  }
}

// No label covers another one, whatever width a chart got: it moves by up to a line, or is left out. Tooltips and the
// table below have it.
function separate(picture) {
  const taken = [];
  const isFree = (box) => taken.every((other) => box.right <= other.left || box.left >= other.right || box.bottom <= other.top || box.top >= other.bottom);
  for (const text of picture.querySelectorAll(".mark-text.role-mark text")) {
    if (!text.textContent.trim()) continue;
    const { left, right, top, bottom } = text.getBoundingClientRect();
    const moved = (by) => ({ left, right, top: top + TOUCH + by, bottom: bottom - TOUCH + by });
    const by = NUDGES.find((each) => isFree(moved(each)));
    if (by === undefined) text.remove();
    else taken.push(moved(by));
    if (by) text.setAttribute("dy", by);
  }
}

let drawing = 0; // the number of calls: a later one ends those before it

// Draws what is on the screen or near it, then everything else, a chart at a time: clicks are answered in between.
async function drawAll() {
  const own = ++drawing;
  root.dataset.busy = "charts";
  await painted();
  await document.fonts.ready; // Vega measures texts once
  const charts = [...document.querySelectorAll("[data-specification]")];
  const isNear = (chart) => chart.getBoundingClientRect().top < innerHeight + NEAR_PX;
  const near = charts.filter(isNear);
  for (const chart of [...near, ...charts.filter((each) => !near.includes(each))]) {
    if (own !== drawing) return;
    if (chart.isConnected) await draw(chart);
    await idle();
  }
  if (own === drawing) delete root.dataset.busy;
}

function painted() {
  return new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
}

function idle() {
  return new Promise((resolve) => setTimeout(resolve));
}

function setTheme(theme) {
  root.dataset.theme = theme;
  localStorage.setItem("theme", theme);
  document.getElementById("theme").setAttribute("aria-pressed", String(theme === "dark"));
  drawAll();
}

// What a page needs, whether loaded or shown in place of another one.
function begin() {
  const button = document.getElementById("theme");
  button.setAttribute("aria-pressed", String(isDark()));
  button.addEventListener("click", () => setTheme(isDark() ? "light" : "dark"));
  for (const form of document.querySelectorAll("form.question, form.filters[method=get]")) {
    applyAtOnce(form);
    form.addEventListener("formdata", (event) => shorten(form, event.formData));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      show(`${form.action.split("?")[0]}?${new URLSearchParams(new FormData(form))}`, true);
    });
  }
  focusAgain();
  for (const link of document.querySelectorAll("header nav a[aria-current]")) { // a phone's navigation shows where it is
    const list = link.closest("nav");
    list.scrollLeft = link.offsetLeft - list.offsetLeft - (list.clientWidth - link.offsetWidth) / 2;
  }
  drawAll();
}

// Keeps addresses short: one without values means all of them, and includes later ones.
function shorten(form, data) {
  // Another run may not have the values chosen for this one.
  const run = form.elements.namedItem("run");
  if (run?.selectedOptions && !run.selectedOptions[0].defaultSelected) {
    for (const field of form.elements) if (field.name !== "run" && field.type !== "hidden") data.delete(field.name);
  }
  for (const group of form.querySelectorAll("fieldset")) {
    const boxes = [...group.querySelectorAll("input[type=checkbox]")];
    if (boxes.every((box) => box.checked)) data.delete(boxes[0].name);
  }
  for (const select of form.querySelectorAll("select[data-unset]")) if (select.value === select.dataset.unset) data.delete(select.name);
  for (const [name, value] of [...data]) if (value === "") data.delete(name);
}

let asking = new AbortController();

// Shows another state of this page: the new content takes the place of the old one. Any other page is loaded.
async function show(address, isNew) {
  asking.abort();
  asking = new AbortController();
  let answer;
  try {
    answer = await fetch(address, { signal: asking.signal, headers: { Accept: "text/html" } });
  } catch (error) {
    if (error.name !== "AbortError") location.assign(address);
    return;
  }
  if (!answer.ok || new URL(answer.url).pathname !== location.pathname) return location.assign(address);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (isNew) history.pushState(null, "", answer.url);
  document.title = page.title;
  const vega = page.getElementById("vega");
  if (vega && !document.getElementById("vega")) document.head.append(vega);
  for (const part of ["header.site", "main"]) document.querySelector(part).replaceWith(page.querySelector(part));
  begin();
}

const remembered = localStorage.getItem("theme");
if (remembered) root.dataset.theme = remembered;

document.addEventListener("DOMContentLoaded", () => {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  let pause;
  let width = innerWidth;
  addEventListener("resize", () => { // of the width: a phone's bars change the height alone
    if (innerWidth === width) return;
    width = innerWidth;
    root.dataset.busy = "charts";
    clearTimeout(pause);
    pause = setTimeout(drawAll, PAUSE_MS);
  });
  addEventListener("popstate", () => show(location.href, false));
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[data-here]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    remember(link.dataset.here, link.textContent.trim());
    show(link.href, true).then(() => { if (link.dataset.here === "answer") scrollTo(0, 0); });
  });
  begin();
});

// Order and page of a table change in place; without scripts, the links load the page again.
async function rearrange(event) {
  const link = event.target.closest("a[data-rows]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const answer = await fetch(link.href);
  const id = `table-${link.dataset.rows}`;
  const table = answer.ok && new DOMParser().parseFromString(await answer.text(), "text/html").getElementById(id);
  if (!table) { location.assign(link.href); return; }
  const label = link.textContent;
  document.getElementById(id).replaceWith(table);
  history.replaceState(null, "", link.href);
  const links = [...table.querySelectorAll("a[data-rows]")];
  (links.find((each) => each.textContent === label) ?? links.at(-1))?.focus();
}

document.addEventListener("click", rearrange);

// A choice applies at once; keys and ticks, which come in series, apply after a pause. The next page keeps the focus.
function applyAtOnce(form) {
  let pressedAt = 0;
  let waiting;
  form.addEventListener("keydown", (event) => { pressedAt = event.key === "Enter" ? 0 : Date.now(); });
  form.addEventListener("change", (event) => {
    const field = event.target;
    const isOneOfSeveral = field.type === "checkbox" || Date.now() - pressedAt < ROW_MS;
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      remember(field.name, field.type === "checkbox" ? field.value : "");
      form.requestSubmit();
    }, isOneOfSeveral ? ROW_MS : 0);
  });
}

// The field or link that had the focus has it on the page that follows.
let focused = ["", ""];

function remember(name, value) {
  focused = [name, value];
}

function focusAgain() {
  const [name, value] = focused;
  focused = ["", ""];
  if (!name) return;
  const fields = [...document.querySelectorAll("form select, form input[type=checkbox], a[data-here]")].filter((field) => (field.name ?? field.dataset.here) === name);
  const field = fields.find((each) => each.matches("a") ? each.textContent.trim() === value : each.type !== "checkbox" || each.value === value);
  field?.closest("details")?.setAttribute("open", "");
  field?.focus({ preventScroll: true });
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
    text("run-stage", run.progress?.words ?? "");
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
