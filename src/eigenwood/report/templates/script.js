"use strict";
// Sorting: a click on a heading sorts its table, another click turns the order round.
function valueOf(row, column) {
  const cell = row.cells[column];
  return cell.dataset.value === undefined ? cell.textContent.trim() : cell.dataset.value;
}
function compared(a, b, sign) {
  if (a === "" || b === "") return (a === "") - (b === "");  // what is not known comes last, in both orders
  const x = Number(a), y = Number(b);
  return sign * (isNaN(x) || isNaN(y) ? a.localeCompare(b) : x - y);
}
for (const button of document.querySelectorAll("th button")) {
  button.addEventListener("click", () => {
    const heading = button.parentElement, body = heading.closest("table").tBodies[0];
    const first = heading.classList.contains("number") ? "descending" : "ascending";
    const other = first === "ascending" ? "descending" : "ascending";
    const order = heading.getAttribute("aria-sort") === first ? other : first;
    for (const one of heading.parentElement.cells) one.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", order);
    const sign = order === "ascending" ? 1 : -1, column = heading.cellIndex;
    const rows = [...body.rows].sort((a, b) => compared(valueOf(a, column), valueOf(b, column), sign));
    body.append(...rows);
  });
}

// Figures: drawn for the width of the page, in the colours of the reader's theme, and in light ones on paper.
const theme = matchMedia("(prefers-color-scheme: dark)");
const NARROW = 640, PRINT_WIDTH = 660;
function parts(colour) {
  const hex = /^#([0-9a-f]{6})$/i.exec(colour);
  if (hex) return [0, 2, 4].map(i => parseInt(hex[1].slice(i, i + 2), 16)).concat(1);
  const rgba = /^rgba?\(([^)]+)\)$/i.exec(colour);
  return rgba ? rgba[1].split(",").map(Number).concat(1).slice(0, 4) : colour === "white" ? [255, 255, 255, 1] : null;
}
function inTheDark(colour) {  // the same hue with the lightness turned round, in HSL
  const found = parts(colour);
  if (!found) return colour;
  const [r, g, b] = found.slice(0, 3).map(part => part / 255), high = Math.max(r, g, b), low = Math.min(r, g, b);
  const light = (high + low) / 2, span = high - low;
  const saturation = span === 0 ? 0 : span / (1 - Math.abs(2 * light - 1));
  const hue = span === 0 ? 0 : high === r ? ((g - b) / span + 6) % 6 : high === g ? (b - r) / span + 2 : (r - g) / span + 4;
  return `hsla(${60 * hue}, ${80 * saturation}%, ${95 - 84 * light}%, ${found[3]})`;
}
function recoloured(value, isColour) {
  if (typeof value === "string") {
    if (isColour) return inTheDark(value);
    return value.replace(/(<span style='[^']*color:)(#[0-9a-f]{6})/gi, (_, start, colour) => start + inTheDark(colour));
  }
  if (Array.isArray(value)) return value.map(part => recoloured(part, isColour));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, recoloured(part, isColour || /color/i.test(key))]));
}
function draw(forPrint) {
  const styles = getComputedStyle(document.documentElement);
  for (const place of document.querySelectorAll(".drawn")) {
    const kept = JSON.parse(place.nextElementSibling.textContent);
    const figure = theme.matches && !forPrint ? recoloured(kept, false) : kept, layout = figure.layout;
    layout.dragmode = false;
    layout.hoverlabel = { bgcolor: styles.getPropertyValue("--card"), bordercolor: styles.getPropertyValue("--line"),
      font: { color: styles.getPropertyValue("--ink") }, align: "left", ...(layout.hoverlabel || {}) };
    for (const name of Object.keys(layout).filter(key => /^[xy]axis/.test(key))) {
      const axis = layout[name] = { zeroline: false, ticks: "", ...layout[name], fixedrange: true };
      if (axis.title) axis.title = { ...axis.title, font: { size: 13, ...axis.title.font } };
    }
    if (innerWidth < NARROW && !layout.width) layout.font = { ...layout.font, size: 12 };
    if (forPrint) layout.width = place.closest(".pair") ? PRINT_WIDTH / 2 - 16 : Math.min(layout.width || PRINT_WIDTH, PRINT_WIDTH);
    Plotly.react(place, figure.data, layout, { displayModeBar: false, responsive: !layout.width, showTips: false });
  }
}
async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}
async function start() {
  const script = document.createElement("script");
  script.textContent = await unpacked(document.getElementById("plotly").textContent.trim());
  document.head.append(script);
  draw(false);
  theme.addEventListener("change", () => draw(false));
  addEventListener("beforeprint", () => draw(true));
  addEventListener("afterprint", () => draw(false));
  document.documentElement.dataset.drawn = "yes";
}
if (document.getElementById("plotly")) {
  if ("DecompressionStream" in window) start();
  else for (const place of document.querySelectorAll(".drawn")) place.textContent = "This figure needs a browser of 2023 or later.";
}
