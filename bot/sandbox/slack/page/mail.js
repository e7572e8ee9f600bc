// The mail client beside the channels: mailboxes, conversations, one open mail, an answer. Mail never becomes this page's markup.

const FRAME = "allow-same-origin allow-popups allow-popups-to-escape-sandbox";
const QUICK = 8;
const WROTE = /^On .{1,200} wrote:$/m;
const narrow = matchMedia("(max-width: 860px)");

/** `page` lends what both draw with: el, fill, avatar, clock, dayName, post, toast, seen, here, goTo, redraw. */
export function mailClient(page) {
  const { el, fill, here, seen } = page;
  const kept = { n: -1, mails: [] };
  const opened = new Set(JSON.parse(sessionStorage.getItem("mails") ?? "[]"));
  const chosen = new Map();
  const drafts = new Map();
  const shownAs = new Map();
  let followed = null;

  const node = () => document.getElementById("mail");
  const boxes = () => seen.state.mailboxes ?? [];
  const isMail = (room) => room?.startsWith("mail:") ?? false;
  const boxOf = (room) => boxes().find((each) => `mail:${each.address}` === room);
  const roomOf = (box) => `mail:${box.address}`;
  const received = (mail) => mail.answers === null;

  /** People who have a mailbox and no account in the workspace. */
  const outsiders = () =>
    boxes()
      .filter((box) => !box.user && !box.readers)
      .map((box) => ({ id: box.address, real_name: box.name, role: box.role, outside: true, profile: { display_name: box.name, email: box.address } }));
  const addressOf = (user) => boxes().find((box) => box.user === user)?.address ?? user;
  const mine = () => {
    const address = addressOf(here.user);
    return boxes().filter((box) => box.address === address || box.readers?.includes(address));
  };
  const mayRead = (room) => mine().some((box) => roomOf(box) === room);
  const firstRoom = () => (mine()[0] ? roomOf(mine()[0]) : null);
  const writers = () => boxes().filter((box) => !box.readers);
  const nameOf = (box) => (box.readers ? box.address.split("@")[0] : "Inbox");

  // ---- what there is ------------------------------------------------------------------------------------------------

  async function refresh() {
    if (boxes().length === 0) return false;
    const answer = await (await fetch(`/control/mail?since=${kept.n}`)).json();
    if (!answer.changed) return false;
    Object.assign(kept, { n: answer.n, mails: answer.mails });
    return true;
  }

  const inBox = (box) => kept.mails.filter((mail) => mail.box === box.address);
  const markOf = (mail) => `${here.user}/${mail.id}/${mail.at}`;
  const isNew = (mail) => received(mail) && !opened.has(markOf(mail));

  function markRead(mails) {
    const before = opened.size;
    mails.filter(received).forEach((mail) => opened.add(markOf(mail)));
    if (opened.size > before) sessionStorage.setItem("mails", JSON.stringify([...opened]));
  }

  /** The conversations of a mailbox, the one with the newest mail first. */
  function conversations(box) {
    const found = new Map();
    for (const mail of inBox(box)) found.set(mail.conversation, [...(found.get(mail.conversation) ?? []), mail]);
    return [...found.entries()].map(([key, mails]) => ({ key, mails, last: mails.at(-1) })).sort((one, other) => other.last.id - one.last.id);
  }

  // ---- the sidebar and the heading ----------------------------------------------------------------------------------

  function sidebar() {
    if (mine().length === 0) return [];
    return [el("h2", {}, "Mail"), mine().map(boxButton)];
  }

  function boxButton(box) {
    const fresh = inBox(box).filter(isNew).length;
    const current = here.room === roomOf(box);
    return el(
      "button",
      { class: `room ${current ? "here" : ""} ${fresh ? "unread" : ""}`, type: "button", title: box.address, onclick: () => page.goTo(roomOf(box)) },
      el("span", { class: "sign" }, box.readers ? "👥" : "✉"),
      el("span", { class: "name" }, nameOf(box)),
      fresh > 0 && el("span", { class: "badge", "aria-label": `${fresh} unread` }, String(fresh)),
    );
  }

  function heading() {
    const box = boxOf(here.room);
    const who = box.readers ? `a list: ${box.readers.map((each) => each.split("@")[0]).join(", ")}` : (box.role ?? "");
    return [el("h1", {}, box.readers ? `✉ ${nameOf(box)}` : "✉ Inbox"), el("span", { class: "topic" }, box.address, who && ` · ${who}`)];
  }

  // ---- the list -----------------------------------------------------------------------------------------------------

  const when = (at) => (page.dayName(at) === "Today" ? page.clock(at) : at.toLocaleDateString([], { day: "numeric", month: "short" }));
  const beginning = (mail) => withoutHeadline(mail).split(/\s+/).join(" ").slice(0, 140);
  const withoutHeadline = (mail) => ownWords(mail).own.replace(received(mail) ? /^.*\n\n/ : "", "");

  function listed(box, { key, mails, last }) {
    const authors = [...new Set(mails.map((mail) => mail.author))].join(", ");
    const at = new Date(last.at);
    const current = chosen.get(box.address) === key;
    return el(
      "button",
      { class: `conversation ${mails.some(isNew) ? "unread" : ""}`, type: "button", "aria-current": String(current), onclick: () => choose(box, key) },
      el("span", { class: "dot" }),
      el("span", { class: "from" }, authors, mails.length > 1 && el("small", {}, ` ${mails.length}`)),
      el("time", { dateTime: last.at }, when(at)),
      el("span", { class: "about" }, mails[0].subject),
      el("span", { class: "preview" }, beginning(last)),
    );
  }

  function choose(box, key) {
    chosen.set(box.address, key);
    page.redraw();
  }

  // ---- the open conversation ----------------------------------------------------------------------------------------

  function ownWords(mail) {
    const at = received(mail) ? -1 : mail.text.search(WROTE);
    return at < 0 ? { own: mail.text.trim(), quoted: "" } : { own: mail.text.slice(0, at).trim(), quoted: mail.text.slice(at).trim() };
  }

  const wayOf = (mail) => shownAs.get(mail.id) ?? (received(mail) && mail.html ? "html" : "text");

  function framed(mail) {
    const frame = el("iframe", { title: mail.subject, sandbox: FRAME, src: `/control/mail/${mail.id}/html` });
    const fit = () => {
      const body = frame.contentDocument?.documentElement;
      if (body && frame.clientWidth) frame.style.height = `${Math.max(60, body.offsetHeight + 2)}px`;
    };
    frame.addEventListener("load", () => {
      fit();
      if (mail.id === followed) showTop(frame.closest(".letter"));
      new ResizeObserver(fit).observe(frame.contentDocument.documentElement);
    });
    return frame;
  }

  function showTop(article) {
    const letters = article?.closest(".letters");
    if (letters) letters.scrollTop = article.offsetTop - letters.offsetTop - 4;
  }

  function bodyOf(mail) {
    if (wayOf(mail) === "html") return el("div", { class: "body" }, framed(mail));
    const { own, quoted } = ownWords(mail);
    return el("div", { class: "body" }, el("pre", {}, own), quoted && el("details", {}, el("summary", {}, "the mail that it answers"), el("pre", {}, quoted)));
  }

  function letter(mail, folded) {
    const at = new Date(mail.at);
    const article = el("article", { class: `letter ${received(mail) ? "" : "sent"} ${folded ? "folded" : ""}`, "data-mail": mail.id });
    const way = (name, label) =>
      el("button", { type: "button", "aria-pressed": String(wayOf(mail) === name), onclick: () => (shownAs.set(mail.id, name), article.replaceWith(letter(mail, false))) }, label);
    const writer = writers().find((box) => box.address === mail.address);
    const flag = received(mail) ? null : el("span", { class: mail.proven ? "flag" : "flag bad" }, mail.proven ? "sent" : "sent, sender not proven");
    const header = el(
      "header",
      {},
      page.avatar(writer?.user ?? writer?.address ?? seen.state.bot.user_id),
      el("div", { class: "by" }, el("b", {}, mail.author), " ", el("small", {}, `<${mail.address}>`), flag),
      el("time", { dateTime: mail.at, title: at.toLocaleString() }, when(at)),
      el("div", { class: "to" }, `to ${mail.to}`),
      el(
        "div",
        { class: "ways" },
        mail.html && [way("html", "HTML"), way("text", "Plain text")],
        el("a", { href: `/control/mail/${mail.id}/original`, target: "_blank", rel: "noreferrer" }, "Original"),
        received(mail) && el("button", { type: "button", onclick: () => answerTo(mail) }, "Reply"),
      ),
    );
    header.addEventListener("click", (event) => {
      if (!event.target.closest(".ways")) article.classList.toggle("folded");
    });
    article.append(header, bodyOf(mail));
    return article;
  }

  // ---- the answer ---------------------------------------------------------------------------------------------------

  const draftOf = (key) => drafts.get(key) ?? drafts.set(key, { text: "", mail: null, as: null, quoting: true, sent: false }).get(key);

  function answerTo(mail) {
    const box = boxOf(here.room);
    draftOf(keyOf(box, mail.conversation)).mail = mail.id;
    page.redraw();
    node().querySelector("textarea")?.focus();
  }

  const keyOf = (box, conversation) => `${here.user}/${box.address}/${conversation}`;

  function answerForm(key) {
    const draft = draftOf(key);
    const text = el("textarea", { value: draft.text, placeholder: "Your answer; its first line is what counts", "aria-label": "Your answer" });
    const send = el("button", { class: "send", type: "submit", disabled: !draft.text.trim() }, "Send");
    const warning = el("div", { class: "unproven", hidden: draft.as === null }, "The receiving server will write that this sender is not proven: nothing will happen.");
    const others = el(
      "select",
      { "aria-label": "As if from", hidden: draft.as === null, onchange: (event) => (draft.as = event.target.value) },
      writers().map((box) => el("option", { value: box.address, selected: box.address === (draft.as ?? addressOf(here.user)) }, box.address)),
    );
    const forge = (event) => {
      draft.as = event.target.checked ? others.value : null;
      others.hidden = warning.hidden = !event.target.checked;
    };
    text.addEventListener("input", () => {
      draft.text = text.value;
      send.disabled = !text.value.trim();
    });
    const form = el(
      "form",
      { class: "answer" },
      el("div", { class: "answering" }),
      el("div", { class: "quick" }),
      text,
      el(
        "footer",
        {},
        el("label", {}, el("input", { type: "checkbox", checked: draft.quoting, onchange: (event) => (draft.quoting = event.target.checked) }), "Quote the mail below"),
        el("label", {}, el("input", { type: "checkbox", checked: draft.as !== null, onchange: forge }), "Forge the sender"),
        others,
        send,
        warning,
      ),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      submit(form, draft, send);
    });
    return form;
  }

  async function submit(form, draft, send) {
    send.disabled = true;
    const wish = { mail: Number(form.dataset.mail), text: draft.text, from: draft.as ?? addressOf(here.user), forged: draft.as !== null, quoting: draft.quoting };
    const answer = await page.post("/control/mail/reply", wish);
    send.disabled = false;
    if (!answer.ok) return page.toast(`Not sent: ${answer.response_metadata?.messages?.[0] ?? answer.error}`, true);
    Object.assign(draft, { text: "", mail: null, as: null, sent: true });
    form.remove();
    await refresh();
    page.redraw();
  }

  /** The lines that a mail offers; where it only names their words, those of an earlier mail of the conversation. */
  function offersOf(target, mails) {
    const named = target.text.lastIndexOf("first line:");
    if (target.offers.length || named < 0) return target.offers;
    const earlier = mails.filter((mail) => mail.id < target.id && mail.offers.length).at(-1)?.offers ?? [];
    const words = new Set(target.text.slice(named).match(/\p{L}+/gu));
    return earlier.filter((line) => words.has(line.split(" ")[0]));
  }

  function drawAnswer(form, mails, draft) {
    const target = mails.find((mail) => mail.id === draft.mail) ?? mails.filter(received).at(-1);
    form.hidden = !target;
    if (!target || form.dataset.mail === String(target.id)) return;
    form.dataset.mail = target.id;
    const text = form.querySelector("textarea");
    const offer = (line) => {
      text.value = line;
      text.dispatchEvent(new Event("input"));
      text.focus();
    };
    fill(form.querySelector(".answering"), `Answering the mail of ${page.clock(new Date(target.at))} as ${addressOf(here.user)}`);
    fill(form.querySelector(".quick"), offersOf(target, mails).slice(0, QUICK).map((line) => el("button", { type: "button", title: line, onclick: () => offer(line) }, line)));
  }

  function drawReader(reader, box, { key, mails }) {
    const name = keyOf(box, key);
    if (reader.dataset.key !== name) {
      const back = el("button", { class: "icon-button only-narrow", type: "button", "aria-label": "Back to the list", onclick: () => choose(box, null) }, "←");
      fill(reader, el("div", { class: "about" }, back, el("h2", {}, mails[0].subject)), el("div", { class: "letters", tabIndex: 0 }));
      reader.dataset.key = name;
    }
    const letters = reader.querySelector(".letters");
    const there = new Set([...letters.children].map((each) => Number(each.dataset.mail)));
    const news = mails.filter((mail) => !there.has(mail.id));
    const first = there.size === 0;
    const atEnd = letters.scrollHeight - letters.scrollTop - letters.clientHeight < 120;
    if (news.length) followed = first || atEnd || draftOf(name).sent ? news.at(-1).id : null;
    if (news.length && followed) [...letters.children].forEach((each) => each.classList.add("folded"));
    news.forEach((mail) => letters.append(letter(mail, first && mail !== mails.at(-1))));
    if (news.length && followed) showTop(letters.lastElementChild);
    const form = reader.querySelector(".answer") ?? reader.appendChild(answerForm(name));
    drawAnswer(form, mails, draftOf(name));
    markRead(mails);
  }

  function draw() {
    const box = boxOf(here.room);
    const all = conversations(box);
    if (!chosen.has(box.address) && all.length && !narrow.matches) chosen.set(box.address, all[0].key);
    const open = all.find((each) => each.key === chosen.get(box.address));
    const whole = node();
    if (!whole.firstChild) whole.append(el("div", { class: "mails", role: "navigation", "aria-label": "Conversations" }), el("div", { class: "reader" }));
    const [list, reader] = whole.children;
    whole.classList.toggle("reading", Boolean(open));
    if (open) drawReader(reader, box, open);
    else {
      delete reader.dataset.key;
      fill(reader, el("div", { class: "empty" }, all.length ? "Choose a mail." : "No mail yet."));
    }
    fill(list, all.length ? all.map((each) => listed(box, each)) : el("div", { class: "empty" }, "No mail yet. ontrack writes when Slack does not answer, when the ladder says so, and to people who are not in Slack."));
  }

  return { isMail, mayRead, firstRoom, outsiders, refresh, sidebar, heading, draw };
}
