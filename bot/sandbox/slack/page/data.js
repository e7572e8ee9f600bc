// Draws figures: a table that sorts and pages, and bar charts. Text becomes text nodes, never markup.

const SVG = "http://www.w3.org/2000/svg";
const HUES = ["#c2410c", "#0f766e", "#6d5bd0", "#b45309", "#1264a3", "#74777f"];
const HEIGHT = 150;

/** `page` lends what it draws with: el, and rich for a cell of rich text. */
export function dataBlocks(page) {
  const { el, rich } = page;
  const shownAs = new Map();

  function svg(tag, properties, ...children) {
    const node = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(properties)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  }

  function sorted(rows, how) {
    if (how.by === null) return rows;
    const value = (row) => row[how.by].value ?? null;
    const text = (row) => row[how.by].text ?? "";
    const order = (a, b) => {
      if (value(a) !== null && value(b) !== null) return value(a) - value(b);
      if ((value(a) === null) !== (value(b) === null)) return value(a) === null ? -1 : 1;
      return text(a).localeCompare(text(b));
    };
    return [...rows].sort((a, b) => (how.down ? order(b, a) : order(a, b)));
  }

  function dataTable(block, place) {
    const key = `${place.key}/${block.block_id}`;
    const how = shownAs.get(key) ?? { by: null, down: true, page: 0 };
    shownAs.set(key, how);
    const size = block.page_size ?? 5;
    const [head, ...rows] = block.rows;
    const box = el("div", { class: "b-data" });
    const again = (changes) => {
      Object.assign(how, changes);
      box.replaceChildren(...drawn());
    };
    const cell = (each) => el("td", { class: each.type === "raw_number" ? "number" : "" }, each.type === "rich_text" ? each.elements.map(rich) : each.text);
    const heading = (each, index) =>
      el(
        "th",
        { scope: "col" },
        el(
          "button",
          { type: "button", onclick: () => again({ by: index, down: how.by === index ? !how.down : true, page: 0 }) },
          each.text,
          how.by === index ? (how.down ? " ▾" : " ▴") : "",
        ),
      );
    function drawn() {
      const pages = Math.max(1, Math.ceil(rows.length / size));
      const shown = sorted(rows, how).slice(how.page * size, (how.page + 1) * size);
      const table = el(
        "table",
        {},
        el("caption", {}, block.caption),
        el("thead", {}, el("tr", {}, head.map(heading))),
        el("tbody", {}, shown.map((row) => el("tr", {}, row.map(cell)))),
      );
      const turn = (by, words) => el("button", { type: "button", disabled: how.page + by < 0 || how.page + by >= pages, onclick: () => again({ page: how.page + by }) }, words);
      const pager = pages > 1 ? [el("div", { class: "pager" }, turn(-1, "‹"), ` ${how.page + 1} of ${pages} `, turn(1, "›"))] : [];
      return [el("div", { class: "b-table" }, table), ...pager];
    }
    box.append(...drawn());
    return box;
  }

  function chart(block) {
    const { chart: drawing, title } = block;
    if (drawing.type === "pie") return el("figure", { class: "b-chart" }, el("figcaption", {}, title), el("ul", {}, drawing.segments.map((each) => el("li", {}, `${each.label}: ${each.value}`))));
    const { categories, x_label: below } = drawing.axis_config;
    const most = Math.max(1, ...drawing.series.flatMap((each) => each.data.map((point) => point.value)));
    const step = Math.max(26, Math.min(92, 660 / categories.length));
    const width = Math.max(240, step * categories.length) + 34;
    const wide = (step - 8) / drawing.series.length;
    const bars = drawing.series.flatMap((each, row) =>
      each.data.map((point, index) => {
        const tall = Math.max(point.value > 0 ? 2 : 0, (point.value / most) * HEIGHT);
        const bar = svg("rect", { x: 34 + index * step + 4 + row * wide, y: 14 + HEIGHT - tall, width: Math.max(2, wide - 1), height: tall, rx: 2, fill: HUES[row % HUES.length] });
        bar.append(svg("title", {}, `${point.label}, ${each.name}: ${point.value}`));
        return bar;
      }),
    );
    const every = Math.ceil(46 / step);
    const labels = categories.map((each, index) => (index % every ? null : svg("text", { x: 34 + index * step + step / 2, y: HEIGHT + 30, "text-anchor": "middle", class: "label" }, each.length * 5.6 > step * every ? `${each.slice(0, (step * every) / 6)}…` : each))).filter(Boolean);
    const axis = [svg("line", { x1: 34, x2: width, y1: HEIGHT + 14, y2: HEIGHT + 14, class: "floor" }), svg("text", { x: 28, y: 20, "text-anchor": "end", class: "label" }, `${most}`), svg("text", { x: 28, y: HEIGHT + 16, "text-anchor": "end", class: "label" }, "0")];
    const key = drawing.series.map((each, row) => {
      const sign = el("i", {});
      sign.style.background = HUES[row % HUES.length];
      return el("span", {}, sign, each.name);
    });
    return el(
      "figure",
      { class: "b-chart" },
      el("figcaption", {}, title),
      svg("svg", { viewBox: `0 0 ${width} ${HEIGHT + 40}`, width, height: HEIGHT + 40, role: "img", "aria-label": title }, ...axis, ...bars, ...labels),
      el("div", { class: "key" }, key, below ? el("span", { class: "below" }, below) : ""),
    );
  }

  return { dataTable, chart };
}
