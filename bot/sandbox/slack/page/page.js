// Draws the workspace and acts in it as one person. Text from messages becomes text nodes, never markup.

import { dataBlocks } from "/page/data.js";
import { mailClient } from "/page/mail.js";

const POLL_MS = 900;
const $ = (id) => document.getElementById(id);
const asked = new URLSearchParams(location.search);
const archive = location.pathname.match(/^\/archives\/([A-Z0-9]+)\/p(\d+)(\d{6})$/);

const seen = { n: -1, state: null };
const here = {
  user: asked.get("as"),
  room: archive?.[1] ?? asked.get("channel"),
  thread: asked.get("thread_ts") ?? asked.get("thread") ?? (archive && `${archive[2]}.${archive[3]}`),
  tab: asked.get("tab") ?? "home",
};
const opened = new Map();
const read = new Map(Object.entries(JSON.parse(sessionStorage.getItem("read") ?? "{}")));
let drawnView = null;

// ---- small helpers ------------------------------------------------------------------------------------------------

function el(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") node.className = value;
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name in node && name !== "list") node[name] = value;
    else node.setAttribute(name, value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

const userOf = (id) => people().find((each) => each.id === id) ?? seen.state.users.find((each) => each.id === id);
const roomOf = (id) => seen.state.channels.find((each) => each.id === id);
const groupOf = (id) => seen.state.usergroups.find((each) => each.id === id);
const plural = (count, word) => `${count} ${count === 1 ? word : word.replace(/y$/, "ie") + "s"}`;
const instant = (ts) => new Date(Number(ts) * 1000);
const clock = (at) => at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const dayName = (at) => {
  const days = Math.round((new Date().setHours(0, 0, 0, 0) - new Date(at).setHours(0, 0, 0, 0)) / 86400000);
  if (days === 0) return "Today";
  if (days === 1) return "Yesterday";
  return at.toLocaleDateString([], { weekday: "long", day: "numeric", month: "long" });
};
const inSentence = (day) => (["Today", "Yesterday"].includes(day) ? day.toLowerCase() : day);

function safeUrl(url) {
  return /^(https?:|mailto:)/i.test(url) ? url : null;
}

async function post(path, wish) {
  const answer = await fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(wish),
  });
  return answer.json();
}

function toast(words, bad = false) {
  const node = el("div", { class: bad ? "toast bad" : "toast" }, words);
  $("toasts").append(node);
  setTimeout(() => node.remove(), 6000);
}

function complain(answer) {
  if (answer.ok) return;
  if (answer.error === "slack_is_down") return toast("Slack is down: nobody can do anything here.", true);
  const why = answer.error ?? (answer.status ? `status ${answer.status}` : "no answer");
  toast(why === "timeout" ? "The app did not answer within three seconds." : `The app did not take it: ${why}`, true);
}

async function act(path, wish) {
  const answer = await post(path, { user: here.user, ...wish });
  await refresh();
  return answer;
}

// ---- mrkdwn ---------------------------------------------------------------------------------------------------------

const EMOJI = {
  white_check_mark: "✅", heavy_check_mark: "✔️", ballot_box_with_check: "☑️", x: "❌", warning: "⚠️", no_entry: "⛔",
  no_entry_sign: "🚫", red_circle: "🔴", large_red_circle: "🔴", large_green_circle: "🟢", large_yellow_circle: "🟡",
  large_orange_circle: "🟠", large_blue_circle: "🔵", large_purple_circle: "🟣", white_circle: "⚪", black_circle: "⚫",
  hourglass: "⌛", hourglass_flowing_sand: "⏳", repeat: "🔁", arrows_counterclockwise: "🔄", rotating_light: "🚨",
  eyes: "👀", zzz: "💤", double_vertical_bar: "⏸️", pause_button: "⏸️", arrow_forward: "▶️", black_square_for_stop: "⏹️",
  fast_forward: "⏩", bell: "🔔", no_bell: "🔕", alarm_clock: "⏰", stopwatch: "⏱️", timer_clock: "⏲️", calendar: "📆",
  date: "📅", spiral_calendar_pad: "🗓️", memo: "📝", mag: "🔍", link: "🔗", wrench: "🔧", hammer_and_wrench: "🛠️",
  gear: "⚙️", package: "📦", bulb: "💡", information_source: "ℹ️", grey_question: "❔", question: "❓",
  grey_exclamation: "❕", exclamation: "❗", fire: "🔥", tada: "🎉", lock: "🔒", unlock: "🔓", key: "🔑", moneybag: "💰",
  bar_chart: "📊", chart_with_upwards_trend: "📈", chart_with_downwards_trend: "📉", email: "✉️", envelope: "✉️",
  busts_in_silhouette: "👥", bust_in_silhouette: "👤", speech_balloon: "💬", wave: "👋", point_right: "👉",
  arrow_right: "➡️", arrow_up: "⬆️", arrow_down: "⬇️", arrow_right_hook: "↪️", leftwards_arrow_with_hook: "↩️",
  recycle: "♻️", snail: "🐌", turtle: "🐢", bug: "🐛", skull: "💀", construction: "🚧", checkered_flag: "🏁", hand: "✋",
  raised_hand: "✋", thumbsup: "👍", "+1": "👍", thumbsdown: "👎", "-1": "👎", pushpin: "📌", wastebasket: "🗑️",
  electric_plug: "🔌", lightning: "🌩️", zap: "⚡", rocket: "🚀", sos: "🆘", mega: "📣", loudspeaker: "📢", bookmark: "🔖",
  card_index_dividers: "🗂️", clipboard: "📋", page_facing_up: "📄", scroll: "📜", shield: "🛡️", thread: "🧵",
};

const TOKEN = new RegExp(
  [
    "`(?<code>[^`\\n]+)`",
    "<(?<entity>[^<>\\n]+)>",
    "(?<![\\p{L}\\p{N}*])\\*(?<bold>(?=\\S)[^*\\n]*?\\S)\\*(?![\\p{L}\\p{N}*])",
    "(?<![\\p{L}\\p{N}_])_(?<italic>(?=\\S)[^_\\n]*?\\S)_(?![\\p{L}\\p{N}_])",
    "(?<![\\p{L}\\p{N}~])~(?<strike>(?=\\S)[^~\\n]*?\\S)~(?![\\p{L}\\p{N}~])",
    ":(?<emoji>[a-z0-9_+-]+):",
  ].join("|"),
  "gu",
);

const unescaped = (text) => text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");

function emoji(name) {
  return EMOJI[name] ? el("i", { class: "emoji", title: `:${name}:` }, EMOJI[name]) : `:${name}:`;
}

function inline(text) {
  const nodes = [];
  let from = 0;
  for (const match of text.matchAll(TOKEN)) {
    const { code, entity: target, bold, italic, strike, emoji: name } = match.groups;
    nodes.push(unescaped(text.slice(from, match.index)));
    from = match.index + match[0].length;
    if (code !== undefined) nodes.push(el("code", {}, unescaped(code)));
    else if (target !== undefined) nodes.push(entity(target));
    else if (bold !== undefined) nodes.push(el("strong", {}, inline(bold)));
    else if (italic !== undefined) nodes.push(el("em", {}, inline(italic)));
    else if (strike !== undefined) nodes.push(el("s", {}, inline(strike)));
    else nodes.push(emoji(name));
  }
  nodes.push(unescaped(text.slice(from)));
  return nodes;
}

function mention(words, kind = "") {
  return el("span", { class: `mention ${kind}` }, words);
}

function person(id) {
  return mention(`@${userOf(id)?.profile.display_name ?? id}`, id === here.user ? "me" : "");
}

function group(id, label) {
  const found = groupOf(id);
  return mention(`@${found?.handle ?? label?.replace(/^@/, "") ?? id}`, found?.users.includes(here.user) ? "me" : "");
}

function entity(inside) {
  const bar = inside.indexOf("|");
  const target = bar < 0 ? inside : inside.slice(0, bar);
  const label = bar < 0 ? null : unescaped(inside.slice(bar + 1));
  if (target.startsWith("@")) return person(target.slice(1));
  if (target.startsWith("#")) return mention(`#${roomOf(target.slice(1))?.name ?? label ?? target.slice(1)}`);
  if (target.startsWith("!subteam^")) return group(target.slice(9), label);
  if (target.startsWith("!date^")) return dated(target, label);
  if (target.startsWith("!")) return mention(`@${target.slice(1)}`, "all");
  const url = safeUrl(unescaped(target));
  return url ? el("a", { href: url, target: "_blank", rel: "noreferrer" }, label ?? unescaped(target)) : unescaped(`<${inside}>`);
}

function dated(target, fallback) {
  const [, seconds, format, url] = target.split("^");
  const words = dateWords(new Date(Number(seconds) * 1000), format ?? "") || fallback || "";
  return url && safeUrl(url) ? el("a", { href: url, target: "_blank", rel: "noreferrer" }, words) : el("span", { title: fallback ?? "" }, words);
}

function dateWords(at, format) {
  if (Number.isNaN(at.getTime())) return "";
  const long = { year: "numeric", month: "long", day: "numeric" };
  const short = { year: "numeric", month: "short", day: "numeric" };
  const near = ["Today", "Yesterday"].includes(dayName(at)) ? inSentence(dayName(at)) : null;
  const ways = {
    date: () => at.toLocaleDateString([], long),
    date_num: () => at.toLocaleDateString("sv"),
    date_short: () => at.toLocaleDateString([], short),
    date_long: () => at.toLocaleDateString([], { weekday: "long", ...long }),
    date_pretty: () => near ?? at.toLocaleDateString([], long),
    date_short_pretty: () => near ?? at.toLocaleDateString([], short),
    date_long_pretty: () => near ?? at.toLocaleDateString([], { weekday: "long", ...long }),
    time: () => clock(at),
    time_secs: () => at.toLocaleTimeString([], { hourCycle: "h23" }),
    ago: () => ago(at),
  };
  return format.replace(/\{(\w+)\}/g, (whole, key) => (ways[key] ? ways[key]() : whole));
}

function ago(at) {
  const minutes = Math.round((Date.now() - at) / 60000);
  const size = Math.abs(minutes);
  const words = size < 60 ? plural(size, "minute") : size < 2880 ? plural(Math.round(size / 60), "hour") : plural(Math.round(size / 1440), "day");
  return minutes >= 0 ? `${words} ago` : `in ${words}`;
}

function mrkdwn(text) {
  return text.split("```").flatMap((part, index) => {
    if (index % 2) return [el("pre", {}, unescaped(part.replace(/^\n|\n$/g, "")))];
    return paragraphs(part.replace(index ? /^\n/ : /^$/, ""));
  });
}

function paragraphs(text) {
  const nodes = [];
  let quote = null;
  const lines = text.split("\n");
  lines.forEach((line, index) => {
    const quoted = line.match(/^(?:&gt;|>) ?(.*)$/);
    if (quoted) {
      quote ??= nodes[nodes.push(el("blockquote")) - 1];
      quote.append(el("div", {}, inline(quoted[1])));
      return;
    }
    if (index && !quote) nodes.push(el("br"));
    quote = null;
    nodes.push(...inline(line));
  });
  return nodes;
}

function words(text) {
  if (!text) return [];
  if (text.type === "mrkdwn") return mrkdwn(text.text);
  const parts = text.text.split(/:([a-z0-9_+-]+):/);
  return parts.flatMap((part, index) => (index % 2 ? [emoji(part)] : part.split("\n").flatMap((line, n) => (n ? [el("br"), line] : [line]))));
}

// ---- blocks ---------------------------------------------------------------------------------------------------------

function blocks(list, place, alone = false) {
  return el("div", { class: alone ? "blocks alone" : "blocks" }, list.map((block) => (DRAW[block.type] ?? unknown)(block, place)));
}

const figures = dataBlocks({ el, rich });
const unknown = (block) => el("div", { class: "b-context" }, `(${block.type})`);

const DRAW = {
  header: (block) => el("h3", { class: "b-header" }, words(block.text)),
  divider: () => el("hr", { class: "b-divider" }),
  section: (block, place) =>
    el(
      "div",
      { class: "b-section" },
      el(
        "div",
        { class: "body" },
        block.text && el("div", {}, words(block.text)),
        block.fields && el("div", { class: "b-fields" }, block.fields.map((field) => el("div", {}, words(field)))),
      ),
      block.accessory && el("div", { class: "accessory" }, element(block.accessory, block, place)),
    ),
  context: (block) =>
    el("div", { class: "b-context" }, block.elements.map((each) => (each.type === "image" ? picture(each) : el("span", {}, words(each))))),
  actions: (block, place) => el("div", { class: "b-actions" }, block.elements.map((each) => element(each, block, place))),
  image: (block) => el("figure", { class: "b-image" }, block.title && el("figcaption", {}, words(block.title)), picture(block)),
  rich_text: (block) => el("div", {}, block.elements.map(rich)),
  markdown: (block) => el("div", {}, mrkdwn(block.text.replace(/\*\*(.+?)\*\*/g, "*$1*").replace(/\[([^\]]+)\]\(([^)\s]+)\)/g, "<$2|$1>"))),
  table: (block) => table(block),
  data_table: (block, place) => figures.dataTable(block, place),
  data_visualization: (block) => figures.chart(block),
  container: (block, place) => container(block, place),
  plan: (block) => el("div", { class: "b-plan" }, el("b", {}, block.title), (block.tasks ?? []).map(task)),
  task_card: (block) => el("div", { class: "b-plan" }, task(block)),
  alert: (block) => el("div", { class: `b-alert ${block.level ?? ""}` }, words(block.text)),
  input: (block, place) => field(block, place),
};

function picture(image) {
  const url = safeUrl(image.image_url ?? "");
  return url ? el("img", { src: url, alt: image.alt_text }) : el("span", {}, `[${image.alt_text}]`);
}

function rich(part) {
  if (part.type === "rich_text_list") {
    const list = el(part.style === "ordered" ? "ol" : "ul", { class: "rich" }, part.elements.map((item) => el("li", {}, spans(item.elements))));
    if (part.indent) list.style.marginLeft = `${part.indent * 24}px`;
    if (part.offset) list.start = part.offset + 1;
    return list;
  }
  if (part.type === "rich_text_preformatted") {
    const text = part.elements.map((span) => span.text ?? span.url).join("");
    return el("pre", {}, part.language === "diff" ? diffLines(text) : text);
  }
  return el(part.type === "rich_text_quote" ? "blockquote" : "div", {}, spans(part.elements));
}

function diffLines(text) {
  const kinds = { "+": "plus", "-": "minus", "@": "hunk" };
  return text.split("\n").map((line) => (kinds[line[0]] ? el("span", { class: kinds[line[0]] }, line) : `${line}\n`));
}

function spans(elements) {
  return elements.map((span) => {
    const drawn = spanOf(span);
    const style = span.style ?? {};
    const tags = { bold: "strong", italic: "em", strike: "s", code: "code", underline: "u" };
    return Object.keys(tags).reduce((node, key) => (style[key] ? el(tags[key], {}, node) : node), drawn);
  });
}

function spanOf(span) {
  switch (span.type) {
    case "text":
      return el("span", {}, span.text.split("\n").flatMap((line, index) => (index ? [el("br"), line] : [line])));
    case "link":
      return safeUrl(span.url) ? el("a", { href: span.url, target: "_blank", rel: "noreferrer" }, span.text ?? span.url) : el("span", {}, span.text ?? span.url);
    case "user":
      return person(span.user_id);
    case "usergroup":
      return group(span.usergroup_id);
    case "channel":
      return mention(`#${roomOf(span.channel_id)?.name ?? span.channel_id}`);
    case "broadcast":
      return mention(`@${span.range}`, "all");
    case "emoji":
      return el("span", {}, emoji(span.name));
    case "date":
      return el("span", {}, dateWords(new Date(span.timestamp * 1000), span.format) || span.fallback || "");
    default:
      return el("span", {}, span.value ?? "");
  }
}

function table(block) {
  const settings = block.column_settings ?? [];
  const cell = (tag) => (each, index) => {
    const node = el(tag, {}, each.type === "rich_text" ? each.elements.map(rich) : each.text);
    node.style.textAlign = settings[index]?.align ?? "";
    node.style.whiteSpace = settings[index]?.is_wrapped === false ? "nowrap" : "";
    return node;
  };
  const [head, ...rest] = block.rows;
  return el(
    "div",
    { class: "b-table" },
    el("table", {}, el("thead", {}, el("tr", {}, head.map(cell("th")))), el("tbody", {}, rest.map((row) => el("tr", {}, row.map(cell("td")))))),
  );
}

function container(block, place) {
  const title = block.rich_text_title ? block.rich_text_title.elements.map(rich) : words(block.title);
  const subtitle = block.subtitle && el("small", {}, words(block.subtitle));
  const body = blocks(block.child_blocks, place);
  if (!block.is_collapsible) return el("div", { class: "b-container fixed" }, el("div", { class: "title" }, title, " ", subtitle), body);
  const key = `${place.key}/${block.title?.text ?? block.block_id}`;
  return el(
    "details",
    {
      class: "b-container",
      open: opened.get(key) ?? !block.default_collapsed,
      ontoggle: (event) => opened.set(key, event.target.open),
    },
    el("summary", {}, el("span", {}, title), subtitle),
    body,
  );
}

function task(each) {
  const signs = { complete: "✓", error: "!", in_progress: "", pending: "" };
  return el(
    "div",
    { class: `task ${each.status}` },
    el("span", { class: "sign" }, signs[each.status]),
    el("div", {}, each.title, each.details && el("div", { class: "b-context" }, each.details.elements.map(rich)), each.output && el("div", {}, each.output.elements.map(rich))),
  );
}

// ---- elements that a person uses ------------------------------------------------------------------------------------

function element(each, block, place) {
  if (each.type === "image") return picture(each);
  if (each.visible_to_user_ids && !each.visible_to_user_ids.includes(here.user)) return null;
  if (each.type === "button") return button(each, block, place);
  if (each.type === "overflow") return overflow(each, block, place);
  return control(each, initial(each, block, place), (value) => use(each, block, place, value), "pick");
}

async function use(each, block, place, value, node) {
  if (each.confirm && !(await confirmed(each.confirm))) return refresh(true);
  if (node) node.disabled = true;
  const wish = { ...place.target, block_id: block.block_id, action_id: each.action_id };
  complain(await act("/control/click", value === undefined ? wish : { ...wish, value }));
  if (node) node.disabled = false;
}

function button(each, block, place) {
  const look = { class: `button ${each.style ?? ""}`, "aria-label": each.accessibility_label };
  const node = el("button", { ...look, type: "button" }, words(each.text));
  node.addEventListener("click", () => {
    if (each.url && safeUrl(each.url)) window.open(each.url, "_blank", "noreferrer");
    use(each, block, place, undefined, node);
  });
  return node;
}

function overflow(each, block, place) {
  const list = el(
    "div",
    { hidden: true },
    each.options.map((option) =>
      el("button", { type: "button", onclick: () => ((list.hidden = true), use(each, block, place, option.value)) }, words(option.text)),
    ),
  );
  return el("div", { class: "menu" }, el("button", { class: "button", type: "button", "aria-label": "More", onclick: () => (list.hidden = !list.hidden) }, "⋯"), list);
}

function initial(each, block, place) {
  const kept = place.view?.state.values[block.block_id]?.[each.action_id];
  const source = kept ?? each;
  const pick = (...names) => names.map((name) => source[name]).find((value) => value !== undefined && value !== null);
  const option = pick("selected_option", "initial_option");
  if (option) return option.value;
  const options = pick("selected_options", "initial_options");
  if (options) return options.map((one) => one.value);
  return pick(
    "value", "initial_value", "selected_date", "initial_date", "selected_time", "initial_time", "selected_user", "initial_user",
    "selected_users", "initial_users", "selected_channel", "initial_channel", "selected_channels", "initial_channels",
    "selected_conversation", "initial_conversation", "selected_conversations", "initial_conversations",
    "selected_date_time", "initial_date_time",
  );
}

function choicesOf(each) {
  if (each.type.includes("users_select")) {
    return seen.state.users.filter((user) => !user.deleted && !user.is_bot).map((user) => ({ value: user.id, label: user.real_name }));
  }
  if (each.type.includes("channels_select") || each.type.includes("conversations_select")) {
    return seen.state.channels.filter((room) => !room.is_im).map((room) => ({ value: room.id, label: `#${room.name}` }));
  }
  const groups = each.option_groups ?? [{ options: each.options ?? [] }];
  return groups.flatMap((one) => one.options.map((option) => ({ value: option.value, label: option.text.text, option, group: one.label?.text })));
}

function control(each, value, changed, look = "") {
  const kind = each.type;
  if (kind === "radio_buttons" || kind === "checkboxes") return ticks(each, value, changed);
  if (kind.endsWith("_select") || kind === "static_select") return menu(each, value, changed, look);
  const hint = each.placeholder?.text ?? "";
  const on = { onchange: (event) => changed(event.target.value), class: look, placeholder: hint };
  if (kind === "plain_text_input" && each.multiline) return el("textarea", { ...on, value: value ?? "", maxLength: each.max_length ?? 3000 });
  if (kind === "plain_text_input") return el("input", { ...on, type: "text", value: value ?? "", maxLength: each.max_length ?? 3000 });
  if (kind === "number_input") return el("input", { ...on, type: "text", inputMode: "decimal", value: value ?? "" });
  if (kind === "url_text_input") return el("input", { ...on, type: "text", inputMode: "url", value: value ?? "" });
  if (kind === "email_text_input") return el("input", { ...on, type: "text", inputMode: "email", value: value ?? "" });
  if (kind === "datepicker") return el("input", { ...on, type: "date", value: value ?? "" });
  if (kind === "timepicker") return el("input", { ...on, type: "time", value: value ?? "" });
  if (kind === "datetimepicker") return moment(value, changed, look);
  return el("span", {}, `(${kind})`);
}

function moment(value, changed, look) {
  const local = value ? new Date(value * 1000 - new Date(value * 1000).getTimezoneOffset() * 60000).toISOString().slice(0, 16) : "";
  const read = (event) => changed(event.target.value ? Math.floor(new Date(event.target.value).getTime() / 1000) : null);
  return el("input", { type: "datetime-local", class: look, value: local, onchange: read });
}

function ticks(each, value, changed) {
  const many = each.type === "checkboxes";
  const chosen = new Set(many ? (value ?? []) : [value]);
  const name = `${each.action_id}-${Math.random()}`;
  return el(
    "div",
    {},
    each.options.map((option) =>
      el(
        "label",
        { class: "choice" },
        el("input", {
          type: many ? "checkbox" : "radio",
          name,
          checked: chosen.has(option.value),
          onchange: (event) => {
            if (!many) return changed(option.value);
            if (event.target.checked) chosen.add(option.value);
            else chosen.delete(option.value);
            return changed([...chosen]);
          },
        }),
        el("span", {}, words(option.text), option.description && el("small", {}, words(option.description))),
      ),
    ),
  );
}

const asOption = ({ value, label, option }) => option ?? { value, text: { type: "plain_text", text: label } };

function menu(each, value, changed, look) {
  if (each.type.startsWith("multi_")) return el("div", { class: "picks" }, ticks({ ...each, type: "checkboxes", options: choicesOf(each).map(asOption) }, value, changed));
  const options = choicesOf(each);
  const drawn = (list) => list.map(({ value: one, label }) => el("option", { value: one, selected: one === value }, label));
  const groups = [...new Set(options.map((one) => one.group))];
  const parts = groups.map((name) => {
    const list = drawn(options.filter((one) => one.group === name));
    return name ? el("optgroup", { label: name }, list) : list;
  });
  const empty = el("option", { value: "", selected: !value }, each.placeholder?.text ?? "Choose");
  return el("select", { class: look, onchange: (event) => changed(event.target.value || null) }, empty, parts);
}

function field(block, place) {
  const each = block.element;
  const draft = place.drafts ?? {};
  const value = block.block_id in draft ? draft[block.block_id] : initial(each, block, place);
  const changed = (next) => {
    draft[block.block_id] = next;
    if (block.dispatch_action) use(each, block, place, next);
  };
  const node = control(each, value, changed);
  if (["INPUT", "TEXTAREA"].includes(node.tagName)) node.addEventListener("input", () => (draft[block.block_id] = node.value));
  if (each.type === "datetimepicker") node.addEventListener("input", () => node.dispatchEvent(new Event("change")));
  if (each.focus_on_load) setTimeout(() => node.focus());
  return el(
    "div",
    { class: "field", "data-block": block.block_id },
    el("div", { class: "label" }, words(block.label), block.optional && el("small", {}, " (optional)")),
    node,
    block.hint && el("div", { class: "hint" }, words(block.hint)),
  );
}

// ---- messages -------------------------------------------------------------------------------------------------------

const HUES = [262, 18, 200, 334, 145, 40, 290, 222];

function avatar(id) {
  const user = userOf(id);
  if (!user || user.is_bot) return el("div", { class: "avatar bot" });
  const initials = user.real_name.split(/\s+/).map((part) => part[0]).slice(0, 2).join("").toUpperCase();
  const place = people().findIndex((each) => each.id === id);
  const node = el("div", { class: "avatar" }, initials);
  node.style.background = `hsl(${HUES[place % HUES.length]} 45% 46%)`;
  return node;
}

function placeOf(message, room) {
  return { key: `${room}/${message.ts}`, target: { channel: room, ts: message.ts } };
}

function content(message, room) {
  if (message.subtype === "tombstone") return el("div", { class: "tombstone" }, message.text);
  const place = placeOf(message, room);
  return [
    message.blocks?.length ? blocks(message.blocks, place) : message.text && el("div", { class: "blocks" }, el("div", {}, mrkdwn(message.text))),
    (message.files ?? []).map(file),
  ];
}

function file(each) {
  const preview = seen.state.previews[each.id];
  const size = each.size < 1024 ? `${each.size} B` : `${(each.size / 1024).toFixed(1)} KB`;
  const diff = each.filetype === "diff";
  return el(
    "div",
    { class: "file" },
    el("header", {}, "📄", el("b", {}, each.title), el("small", {}, size), el("a", { href: `/files/${each.id}`, target: "_blank", rel: "noreferrer" }, "Open")),
    preview === undefined ? null : el("pre", {}, diff ? diffLines(preview) : preview),
  );
}

function drawMessage(message, room, { inThread = false } = {}) {
  const user = userOf(message.user);
  const replies = inThread ? [] : repliesOf(room, message.ts);
  const at = instant(message.ts);
  const broadcast = message.subtype === "thread_broadcast";
  return el(
    "article",
    { class: `message ${message.to ? "whisper" : ""} ${!inThread && here.thread === message.ts ? "open" : ""}`, "data-ts": message.ts },
    message.to && el("div", { class: "only-you" }, "👁 Only visible to you", el("button", { type: "button", onclick: () => act("/control/dismiss", { ts: message.ts }) }, "Dismiss message")),
    broadcast && !inThread && el("div", { class: "broadcast" }, "replied to a thread: ", el("a", { href: "#", onclick: (event) => (event.preventDefault(), openThread(message.thread_ts)) }, summaryOf(room, message.thread_ts))),
    avatar(message.user),
    el(
      "div",
      {},
      el(
        "div",
        { class: "who" },
        el("b", {}, user?.profile.display_name ?? message.user),
        user?.is_bot && el("span", { class: "app-badge" }, "APP"),
        el("time", { title: at.toLocaleString(), dateTime: at.toISOString() }, clock(at)),
        message.edited && el("span", { class: "edited" }, "(edited)"),
      ),
      content(message, room),
      replies.length > 0 &&
        el(
          "button",
          { class: "replies", type: "button", onclick: () => openThread(message.ts) },
          [...new Set(replies.map((each) => each.user))].slice(0, 3).map(avatar),
          plural(replies.length, "reply"),
          el("span", {}, `Last reply ${inSentence(dayName(instant(replies.at(-1).ts)))} at ${clock(instant(replies.at(-1).ts))}`),
        ),
    ),
  );
}

function summaryOf(room, ts) {
  const root = (seen.state.messages[room] ?? []).find((each) => each.ts === ts);
  const header = root?.blocks?.find((block) => block.type === "header")?.text.text;
  return header ?? (root?.text ?? "a deleted message").replace(/[*~`]|<[^>|]*\|?|>/g, "").slice(0, 70);
}

const repliesOf = (room, ts) => (seen.state.messages[room] ?? []).filter((each) => each.thread_ts === ts && each.ts !== ts);
const whispersIn = (room, thread) =>
  seen.state.ephemerals.filter((each) => each.channel === room && each.to === here.user && (each.thread_ts ?? null) === thread);

function looseIn(room) {
  const list = seen.state.messages[room] ?? [];
  const roots = new Set(list.map((each) => each.ts));
  const loose = list.filter((each) => !each.thread_ts || each.thread_ts === each.ts || each.subtype === "thread_broadcast" || !roots.has(each.thread_ts));
  return [...loose, ...whispersIn(room, null)].sort((one, other) => Number(one.ts) - Number(other.ts));
}

function withDays(list, draw) {
  let day = null;
  return list.flatMap((message) => {
    const name = dayName(instant(message.ts));
    const line = name === day ? [] : [el("div", { class: "day" }, name)];
    day = name;
    return [...line, draw(message)];
  });
}

// ---- the parts of the page ------------------------------------------------------------------------------------------

const people = () => [...seen.state.users.filter((user) => !user.is_bot && !user.deleted), ...mail.outsiders()];
const isOutside = () => userOf(here.user)?.outside ?? false;
const isMine = (room) => !room.is_im || room.members.includes(here.user);
const mayRead = (room) => !room.is_private || room.members.includes(here.user);
const directRoom = () => seen.state.channels.find((room) => room.is_im && room.members.includes(here.user));

function fill(node, ...children) {
  node.replaceChildren(...children.flat(Infinity).filter((child) => child));
}

function drawPeople() {
  fill(
    $("people"),
    people().map((user) =>
      el(
        "button",
        { class: "person", role: "radio", "aria-checked": String(user.id === here.user), title: `${user.real_name}, ${user.role}`, onclick: () => become(user.id) },
        avatar(user.id),
        el("span", {}, user.real_name.split(" ")[0], el("small", {}, user.role)),
      ),
    ),
  );
}

function roomButton(room, sign, name) {
  const list = seen.state.messages[room.id] ?? [];
  const fresh = list.filter((each) => Number(each.ts) > Number(read.get(`${here.user}/${room.id}`) ?? 0));
  const current = here.room === room.id;
  const pings = current ? 0 : fresh.filter((each) => mentionsMe(each)).length;
  return el(
    "button",
    { class: `room ${current ? "here" : ""} ${fresh.length && !current ? "unread" : ""} ${room.is_archived ? "gone" : ""}`, type: "button", onclick: () => goTo(room.id) },
    sign,
    el("span", { class: "name" }, name),
    pings > 0 && el("span", { class: "badge" }, String(pings)),
  );
}

function mentionsMe(message) {
  const body = JSON.stringify([message.text, message.blocks ?? []]);
  const groups = seen.state.usergroups.filter((each) => each.users.includes(here.user));
  return body.includes(`<@${here.user}>`) || body.includes(`"user_id":"${here.user}"`) || groups.some((each) => body.includes(`<!subteam^${each.id}`)) || body.includes("<!channel>");
}

function drawSidebar() {
  const rooms = seen.state.channels.filter((room) => !room.is_im && mayRead(room));
  const sign = (room) => el("span", { class: "sign" }, room.is_archived ? "🗄" : room.is_private ? "🔒" : "#");
  const direct = directRoom();
  const app = direct ?? { id: "app", is_archived: false };
  const inSlack = () => [
    el("h2", {}, "Channels"),
    rooms.map((room) => roomButton(room, sign(room), room.name)),
    el("h2", {}, "Apps"),
    roomButton(app, el("div", { class: "avatar bot" }), seen.state.bot.name),
  ];
  fill(
    $("sidebar"),
    isOutside() ? el("p", { class: "outside" }, `${userOf(here.user).real_name} has no Slack account: mail is all that arrives.`) : inSlack(),
    mail.sidebar(),
    seen.state.actions.length > 0 &&
      el(
        "section",
        { class: "try" },
        el("h2", {}, "Try it"),
        outage(),
        seen.state.actions.map((each) => [el("button", { type: "button", onclick: (event) => tryOut(each, event.target) }, each.label), each.hint && el("p", {}, each.hint)]),
      ),
  );
}

function outage() {
  const away = seen.state.away;
  const flip = async () => {
    complain(await post("/control/away", { away: !away }));
    await refresh();
  };
  const knob = el("span", { class: "knob", "aria-hidden": "true" });
  return [
    el("button", { type: "button", class: "switch", role: "switch", "aria-checked": String(away), onclick: flip }, knob, "Slack is down"),
    el("p", {}, "It takes no message and no click. After five seconds whoever is asked is asked by mail."),
  ];
}

async function tryOut(action, node) {
  node.disabled = true;
  try {
    await fetch(action.url, { method: "POST", mode: "no-cors" });
    toast(`${action.label}: done`);
  } catch {
    toast(`${action.label}: nobody answers at ${action.url}`, true);
  }
  node.disabled = false;
}

function drawHeading(room) {
  if (mail.isMail(here.room)) return fill($("heading"), mail.heading());
  if (here.room === "app" || room?.is_im) {
    const tab = (name, label) => el("button", { type: "button", role: "tab", "aria-selected": String(here.tab === name), onclick: () => openTab(name) }, label);
    return fill($("heading"), el("div", { class: "avatar bot" }), el("h1", {}, seen.state.bot.name), el("div", { class: "tabs", role: "tablist" }, tab("home", "Home"), tab("messages", "Messages")));
  }
  const flags = [room.is_archived && "archived", !room.is_member && "the app is not in this channel"].filter(Boolean);
  return fill(
    $("heading"),
    el("h1", {}, `${room.is_private ? "🔒" : "#"} ${room.name}`),
    flags.map((flag) => el("span", { class: "flag" }, flag)),
    el("span", { class: "topic" }, room.topic?.value || plural(room.members.length, "member")),
  );
}

function drawTimeline(room) {
  const node = $("timeline");
  const atEnd = node.scrollHeight - node.scrollTop - node.clientHeight < 60;
  const top = node.scrollTop;
  if (atHome()) {
    const view = seen.state.homes[here.user];
    const place = view && { key: view.id, target: { view_id: view.id }, view };
    fill(node, el("div", { class: "home" }, view ? blocks(view.blocks, place, true) : el("div", { class: "empty" }, "The app has published nothing here yet.")));
    node.scrollTop = top;
    return;
  }
  const list = room ? looseIn(room.id) : [];
  fill(node, list.length ? withDays(list, (message) => drawMessage(message, room.id)) : el("div", { class: "empty" }, "Nothing here yet."));
  node.scrollTop = atEnd || node.dataset.room !== here.room ? node.scrollHeight : top;
  node.dataset.room = here.room;
}

function drawThread(room) {
  const node = $("thread");
  const list = seen.state.messages[room?.id] ?? [];
  const root = list.find((each) => each.ts === here.thread);
  node.hidden = !root;
  if (!root) return;
  const old = node.querySelector(".timeline");
  const top = old?.scrollTop ?? 0;
  const same = node.dataset.ts === root.ts;
  const atEnd = old ? old.scrollHeight - old.scrollTop - old.clientHeight < 60 : false;
  const replies = repliesOf(room.id, root.ts);
  const all = [...replies, ...whispersIn(room.id, root.ts)].sort((one, other) => Number(one.ts) - Number(other.ts));
  const timeline = el(
    "div",
    { class: "timeline" },
    drawMessage(root, room.id, { inThread: true }),
    all.length > 0 && el("div", { class: "count" }, plural(replies.length, "reply")),
    all.map((message) => drawMessage(message, room.id, { inThread: true })),
  );
  const close = el("button", { class: "icon-button", type: "button", "aria-label": "Close thread", onclick: () => openThread(null) }, "✕");
  const heading = el("div", { class: "heading" }, el("h1", {}, "Thread", el("small", {}, room.is_im ? seen.state.bot.name : `#${room.name}`)), close);
  if (same && node.querySelector(".composer")) {
    old.replaceWith(timeline);
  } else {
    fill(node, heading, timeline, el("form", { class: "composer", autocomplete: "off" }));
    drawComposer(node.querySelector(".composer"), root.ts);
  }
  timeline.scrollTop = same ? (atEnd ? timeline.scrollHeight : top) : asked.has("end") ? timeline.scrollHeight : 0;
  node.dataset.ts = root.ts;
}

function drawComposer(form, threadTs) {
  const room = roomOf(here.room);
  const name = room?.is_im ? seen.state.bot.name : `#${room?.name ?? ""}`;
  const command = seen.state.commands[0]?.command;
  const hint = threadTs ? "Reply" : `Message ${name}${command ? `, or type ${command}` : ""}`;
  const input = el("input", { type: "text", placeholder: hint, "aria-label": hint });
  const send = el("button", { class: "send", type: "submit", disabled: true }, "Send");
  const hints = el("div", { class: "hints", hidden: true });
  input.addEventListener("input", () => {
    send.disabled = !input.value.trim();
    const fitting = input.value.startsWith("/") && !threadTs ? seen.state.commands.filter((each) => each.command.startsWith(input.value.split(" ")[0])) : [];
    hints.hidden = fitting.length === 0 || input.value.includes(" ");
    fill(hints, fitting.map((each) => el("button", { type: "button", onclick: () => ((input.value = `${each.command} `), (hints.hidden = true), input.focus()) }, el("b", {}, each.command), el("small", {}, each.hint ?? ""))));
  });
  form.onsubmit = async (event) => {
    event.preventDefault();
    const text = input.value.trim();
    if (!text || !room) return;
    input.value = "";
    send.disabled = true;
    hints.hidden = true;
    const [word, ...rest] = text.split(" ");
    if (word.startsWith("/") && !threadTs) complain(await act("/control/command", { channel: room.id, command: word, text: rest.join(" ") }));
    else complain(await act("/control/say", { channel: room.id, text, ...(threadTs ? { thread_ts: threadTs } : {}) }));
  };
  fill(form, hints, el("div", { class: "box" }, input, send));
}

// ---- modals ---------------------------------------------------------------------------------------------------------

function drawModal() {
  const view = seen.state.modals[here.user]?.at(-1);
  const key = view && `${view.id}/${view.hash}/${here.user}`;
  if (key === drawnView) return;
  const drafts = drawnView && view && drawnView.startsWith(`${view.id}/`) ? (drawModal.drafts ?? {}) : {};
  drawnView = key;
  $("overlay").hidden = !view;
  if (!view) return fill($("overlay"));
  drawModal.drafts = drafts;
  const place = { key: view.id, target: { view_id: view.id }, view, drafts };
  const close = async () => complain(await act("/control/close", { view_id: view.id }));
  const submit = view.submit && el("button", { class: "button primary", type: "submit" }, words(view.submit));
  const form = el(
    "form",
    { class: "modal", role: "dialog", "aria-modal": "true", noValidate: true },
    el("header", {}, el("span", { class: "mark" }), el("h2", {}, words(view.title)), el("button", { class: "icon-button", type: "button", "aria-label": "Close", onclick: close }, "✕")),
    el("div", { class: "content" }, blocks(view.blocks, place, true)),
    el("footer", {}, el("button", { class: "button", type: "button", onclick: close }, view.close ? words(view.close) : submit ? "Cancel" : "Close"), submit),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(view, form, drafts, submit);
  });
  fill($("overlay"), form);
}

async function send(view, form, drafts, submit) {
  submit.disabled = true;
  const answer = await act("/control/submit", { view_id: view.id, values: drafts });
  submit.disabled = false;
  form.querySelectorAll(".fault, .problem").forEach((node) => node.remove());
  form.querySelectorAll(".bad").forEach((node) => node.classList.remove("bad"));
  if (answer.ok) return;
  for (const [blockId, fault] of Object.entries(answer.errors ?? {})) {
    const block = [...form.querySelectorAll(".field")].find((node) => node.dataset.block === blockId);
    block?.classList.add("bad");
    block?.append(el("div", { class: "fault" }, fault));
  }
  form.querySelector(".bad")?.scrollIntoView({ block: "nearest" });
  if (!answer.errors) form.querySelector("footer").before(el("div", { class: "problem" }, `We had some trouble connecting. Try again? (${answer.error ?? answer.status})`));
}

function confirmed(dialog) {
  return new Promise((resolve) => {
    const done = (yes) => {
      layer.remove();
      resolve(yes);
    };
    const layer = el(
      "div",
      { class: "overlay" },
      el(
        "div",
        { class: "modal small", role: "alertdialog", "aria-modal": "true" },
        el("header", {}, el("h2", {}, words(dialog.title))),
        el("div", { class: "content" }, words(dialog.text)),
        el(
          "footer",
          {},
          el("button", { class: "button", type: "button", onclick: () => done(false) }, words(dialog.deny)),
          el("button", { class: `button solid ${dialog.style ?? "primary"}`, type: "button", onclick: () => done(true) }, words(dialog.confirm)),
        ),
      ),
    );
    document.body.append(layer);
    layer.querySelector(".solid").focus();
  });
}

// ---- moving about ---------------------------------------------------------------------------------------------------

function remember() {
  const room = roomOf(here.room);
  const last = room && (seen.state.messages[room.id] ?? []).at(-1);
  if (last) read.set(`${here.user}/${room.id}`, last.ts);
  sessionStorage.setItem("read", JSON.stringify(Object.fromEntries(read)));
  const query = new URLSearchParams({ as: here.user ?? "", channel: here.room ?? "", ...(here.thread ? { thread: here.thread } : {}), tab: here.tab });
  history.replaceState(null, "", `/?${query}`);
}

function become(user) {
  const direct = roomOf(here.room)?.is_im || here.room === "app";
  const wasMail = mail.isMail(here.room);
  here.user = user;
  if (wasMail || isOutside()) {
    if (!mail.mayRead(here.room)) here.room = mail.firstRoom();
    here.thread = null;
    return draw(true);
  }
  if (direct) here.room = directRoom()?.id ?? "app";
  if (!direct && !mayRead(roomOf(here.room))) here.room = firstRoom();
  draw(true);
  if (direct && here.tab === "home") openTab("home");
}

function goTo(room) {
  here.room = room;
  here.thread = null;
  $("app").classList.remove("listing");
  if (room === "app" || roomOf(room)?.is_im) openTab(here.tab);
  else draw(true);
}

function openThread(ts) {
  here.thread = ts;
  draw();
}

const atHome = () => (here.room === "app" || roomOf(here.room)?.is_im) && here.tab === "home";

async function openTab(name) {
  here.tab = name;
  here.thread = null;
  draw(true);
  if (name !== "home") return;
  complain(await act("/control/home", {}));
  here.room = directRoom()?.id ?? here.room;
  draw(true);
}

const firstRoom = () => seen.state.channels.find((room) => !room.is_im && mayRead(room))?.id ?? "app";

function goWhereOneMay() {
  if (!people().some((user) => user.id === here.user)) here.user = people()[0]?.id ?? null;
  if (mail.isMail(here.room) && mail.mayRead(here.room)) return;
  if (isOutside()) here.room = mail.firstRoom();
  else if (here.room === "app" && directRoom()) here.room = directRoom().id;
  else if (!here.room || (here.room !== "app" && (!roomOf(here.room) || !isMine(roomOf(here.room))))) here.room = firstRoom();
}

function drawBanner() {
  $("banner").hidden = !seen.state.away;
  fill($("banner"), seen.state.away && "Slack is down: it takes no message and no click. Whoever is to be asked is asked by mail.");
}

function draw(moved = false) {
  const state = seen.state;
  goWhereOneMay();
  const room = roomOf(here.room);
  const atMail = mail.isMail(here.room);
  const title = atMail ? "Mail" : room?.is_im || !room ? state.bot.name : `#${room.name}`;
  document.title = `${title} · ${state.team.name} sandbox`;
  $("team").textContent = state.team.name;
  remember();
  drawPeople();
  drawHeading(room);
  drawBanner();
  $("timeline").hidden = atMail;
  $("mail").hidden = !atMail;
  if (atMail) mail.draw();
  else drawTimeline(room);
  drawSidebar();
  drawThread(room);
  if (moved || !$("composer").firstChild) drawComposer($("composer"), null);
  $("composer").hidden = !room || room.is_archived || (room.is_im && here.tab === "home");
  drawModal();
}

async function refresh(always = false) {
  const answer = await fetch(`/control/state?since=${seen.n}`);
  const state = await answer.json();
  const first = seen.state === null;
  if (first) seen.state = state;
  if (!(await mail.refresh()) && !state.changed && !always) return;
  if (state.changed) {
    seen.state = state;
    seen.n = state.n;
  }
  draw(first);
  if (first && atHome()) await openTab("home");
}

async function poll() {
  try {
    await refresh();
    document.body.classList.remove("offline");
  } catch {
    document.body.classList.add("offline");
  }
  setTimeout(poll, POLL_MS);
}

const mail = mailClient({ el, fill, avatar, clock, dayName, post, toast, seen, here, goTo, redraw: () => draw() });

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  const layers = [...document.querySelectorAll(".overlay:not([hidden])")];
  layers.at(-1)?.querySelector("footer .button:not(.solid):not(.primary)")?.click();
});
$("menu").addEventListener("click", () => $("app").classList.toggle("listing"));
poll();
