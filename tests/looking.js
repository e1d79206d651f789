// What breaks the rules of pages in the page as it is laid out. A row counts as seen when all of it is on the screen, a
// chart with its first 64 pixels.
({width, limit, maxWords, leastTarget, leastFont, isPhone}) => {
  const faults = [];
  const root = document.documentElement, main = document.querySelector("main");
  const isShown = (item) => item.checkVisibility({visibilityProperty: true}) && item.getClientRects().length > 0;
  const name = (item) => {
    const classes = item.getAttribute("class");
    const text = (item.getAttribute("aria-label") ?? item.textContent).trim().replace(/\s+/g, " ");
    return item.tagName.toLowerCase() + (classes ? "." + classes.trim().replace(/\s+/g, ".") : "") + ` “${text.slice(0, 40)}”`;
  };
  const scaleOf = (item) => { // of a text in a picture, which may be turned
    const matrix = item.getScreenCTM?.();
    return matrix ? Math.hypot(matrix.a, matrix.b) : 1;
  };
  const results = [...main.querySelectorAll(".chart svg, svg.scatter, .board .row:not(.head), .result, table tbody tr")];
  const first = results.find((item) => isShown(item) && !item.closest("form"));
  if (first && limit) {
    const box = first.getBoundingClientRect();
    const end = scrollY + (first.tagName === "svg" ? box.top + Math.min(64, box.height) : box.bottom);
    if (end > limit) faults.push(`first result ends at ${Math.round(end)} px, not within ${limit}: ${name(first)}`);
  }
  const start = first?.closest(".board, table") ?? first; // a table's heads belong to it
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let words = 0;
  const tiny = new Set();
  while (texts.nextNode()) {
    const text = texts.currentNode, item = text.parentElement;
    if (!text.data.trim() || item.closest("script, style, noscript, option") || !isShown(item)) continue;
    const scale = scaleOf(item);
    const size = parseFloat(getComputedStyle(item).fontSize) * scale;
    if (size < leastFont - 0.01) tiny.add(`${size.toFixed(1)} px: ${name(item)}`);
    const isBefore = !start || start.compareDocumentPosition(item) & Node.DOCUMENT_POSITION_PRECEDING;
    if (main.contains(item) && isBefore && !item.closest("form")) words += (text.data.match(/\S*[\p{L}\p{N}]\S*/gu) ?? []).length;
  }
  if (first && words > maxWords) faults.push(`${words} words before the first result`);
  faults.push(...[...tiny].slice(0, 5));
  if (root.scrollWidth > root.clientWidth) faults.push(`the page is ${root.scrollWidth} px wide`);
  for (const item of document.querySelectorAll("body *")) {
    if (item.closest("svg svg, select, textarea") || !isShown(item)) continue;
    const style = getComputedStyle(item);
    const isCut = (overflow, inner, outer) => overflow !== "visible" && inner > outer + 1;
    if (item.matches("header nav") && isPhone || item.matches("svg, svg *, .skip")) continue;
    if (isCut(style.overflowX, item.scrollWidth, item.clientWidth)) faults.push(`${item.scrollWidth} px in ${item.clientWidth}: ${name(item)}`);
    else if (isCut(style.overflowY, item.scrollHeight, item.clientHeight)) faults.push(`${item.scrollHeight} px high in ${item.clientHeight}: ${name(item)}`);
    else if (item.getBoundingClientRect().right > width + 1 && !item.closest("header nav")) faults.push(`beyond the screen: ${name(item)}`);
  }
  for (const picture of document.querySelectorAll(".chart svg.marks")) {
    const labels = [...picture.querySelectorAll(".mark-text.role-mark text")].filter((item) => item.textContent.trim() && isShown(item));
    const boxes = labels.map((item) => item.getBoundingClientRect());
    boxes.forEach((box, at) => boxes.slice(0, at).forEach((other, before) => {
      const isApart = box.right <= other.left || box.left >= other.right || box.bottom - 2 <= other.top + 2 || box.top + 2 >= other.bottom - 2;
      if (!isApart) faults.push(`labels overlap: ${name(labels[before])}, ${name(labels[at])}`);
    }));
  }
  const tops = [...document.querySelectorAll("header.site > div nav li")].map((item) => Math.round(item.getBoundingClientRect().top));
  if (new Set(tops).size > 1) faults.push("the navigation takes several lines");
  const isInline = (item) => getComputedStyle(item).display === "inline" && item.parentElement.textContent.trim() !== item.textContent.trim();
  if (isPhone) for (const item of document.querySelectorAll("a[href], button, select, summary, textarea, input:not([type=hidden])")) {
    const target = item.matches("[type=checkbox], [type=radio]") ? item.closest("label") ?? item : item;
    if (!isShown(target) || item.closest("svg") || item.matches(".skip") || isInline(item)) continue;
    if (getComputedStyle(item).pointerEvents === "none") continue;
    // A link may cover what surrounds it.
    const isWide = getComputedStyle(item, "::after").position === "absolute";
    const height = (isWide ? item.offsetParent : target).getBoundingClientRect().height;
    if (height < leastTarget - 0.5) faults.push(`${height.toFixed(0)} px to touch: ${name(target)}`);
  }
  return faults.slice(0, 12);
}
