"use strict";
// The screen's half of MCP Apps (revision 2026-01-26), and what every screen needs beside it.
//
// A screen calls `startScreen(options)` once, at the end of its own script, and draws into its own elements:
//   name                the file's name without .html
//   tools               the names of the tools whose results it draws
//   accepts(data)       whether this structuredContent can be drawn; else its message is shown instead
//   isEmpty(data)       whether there is nothing to draw
//   emptyWords(data)    the sentence for that; the message of the result if absent
//   staleWords(data)    the sentence for an old result, after "Last seen 3 days ago."; false for results that do not age
//   seenAt(data)        when that was, for results without `freshness`
//   toolOf(data)        which of several tools gave it, for hosts that do not say
//   draw()              draws from `screen`; called after every change, in every phase
// Its head may hold <figure id="map" hidden></figure>, which is drawn here: the map that `mapOf()` names, or "route".
// Its body holds <main>, and in it <div id="note"></div> and <footer id="foot"></footer>, which are filled here: errors,
// cancelled, empty, old, sources that failed, "Look again"; sandbox, source and age. All else is hidden by the screen.
//
// screen.phase          "waiting", "result", "empty", "error" or "cancelled"; stands in <body data-phase> too
// screen.data           the last structuredContent that was accepted, or null
// screen.asked          what was asked: the tool's arguments, and over them `asked` of the result
// screen.tool           the tool whose result this is
// screen.can(ability)   "serverTools", "message", "openLinks", "updateModelContext": what the host declared
// screen.call(name, arguments)   calls a tool through the host; gives its data, or throws an Error with words to show
// screen.inform(words)  tells the model what the user did here (it does not see calls made by a screen)
// screen.say(words)     posts a message as the user; throws when the host refuses
// screen.open(url)      opens an https address outside; false when the host cannot
// screen.announce(words)  reads a sentence aloud
// screen.draw()         draws all again; a changed #lead is read aloud
// keepFocus(drawing)    draws a part; the keyboard stays on the same control, or goes to the heading of its section
// actButton(label, done, action)   a button that waits for `action`, then says `done` or what went wrong
// moreButton(label, most, show)    a button for the rest of a list; the keyboard goes to its first new row, `.grows > li`
// mark(slug)            the letters of a programme or an airline, to stand before its name; nothing where the host keeps _meta
// words.party(points, people)   "26,000 for two"
// zoom()                how much larger than 16 px the host's text is, for what is drawn as SVG
// make(tag, attributes, ...children)   an element; text only ever becomes text. find(id) finds one. words.* are formats.
//
// Data come from outside: they enter the page as text nodes and aria labels, never as markup, style or address.

const find = (id) => document.getElementById(id);
const make = (tag, attributes = {}, ...children) => {
  const spaced = ["svg", "g", "path", "line", "circle", "text", "title"].includes(tag);
  const element = spaced ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value != null && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child != null && child !== false));
  return element;
};

const CABINS = { economy: "Economy", premium_economy: "Premium economy", business: "Business", first: "First" };
const PARTIES = ["", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
const words = (() => {
  const write = (options, date) => new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", ...options }).format(date);
  const midnight = (iso) => new Date(String(iso).slice(0, 10) + "T00:00Z");
  const dated = (options) => (iso) => iso && !isNaN(midnight(iso)) ? write(options, midnight(iso)).replaceAll(",", "") : "";
  const count = (number) => new Intl.NumberFormat("en-GB", { maximumFractionDigits: 2 }).format(number);
  const many = (number, noun, plural) => `${count(number)} ${number === 1 ? noun : plural ?? noun + "s"}`;
  const nearYear = (long, short) => (iso) => { const ahead = midnight(iso) - Date.now(); return (ahead > -864e5 && ahead < 365 * 864e5 ? short : long)(iso); };
  const hours = (moment) => moment ? Math.max(0, (Date.now() - Date.parse(moment)) / 3600000) : null;
  return {
    count, many, hours, midnight,
    // "Fri 8 Oct", with the year unless it is the next such day; "Fri 8 Oct", "Friday 8 October 2027", "October 2027"
    day: nearYear(dated({ weekday: "short", day: "numeric", month: "short", year: "numeric" }), dated({ weekday: "short", day: "numeric", month: "short" })),
    people: (number) => PARTIES[number] || number,
    party: (number, people) => people > 1 ? `${count(number)} for ${PARTIES[people] || people}` : count(number),
    shortDay: dated({ weekday: "short", day: "numeric", month: "short" }),
    longDay: dated({ weekday: "long", day: "numeric", month: "long", year: "numeric" }),
    month: (text) => dated({ month: "long", year: "numeric" })(text ? text.slice(0, 7) + "-01" : ""),
    // Never less than the price itself.
    brief: (number) => number < 1000 ? String(number) : number < 99950 ? `${Math.ceil(number / 100) / 10}k` : `${Math.ceil(number / 1000)}k`,
    money: (amount, currency) => {
      if (amount == null) return "";
      const coins = Math.abs(amount) < 100 && amount % 1 ? 2 : 0;
      const text = new Intl.NumberFormat("en-GB", { minimumFractionDigits: coins, maximumFractionDigits: coins }).format(Math.abs(amount));
      return (amount < 0 ? "-" : "") + ((currency ?? "USD") === "USD" ? `$${text}` : `${text} ${currency}`);
    },
    cabin: (slug) => CABINS[slug] ?? String(slug ?? "").replaceAll("_", " "),
    program: (slug) => String(slug ?? "").split(/[-_]/).map((part) => part.charAt(0).toUpperCase() + part.slice(1)).join(" "),
    seats: (number) => number == null ? "seats not counted" : many(number, "seat"),
    stops: (number) => number == null ? "" : number === 0 ? "nonstop" : many(number, "stop"),
    clock: (moment) => /T\d\d:\d\d/.test(moment ?? "") ? moment.slice(11, 16) : "",
    age: (moment) => {
      const old = hours(moment);
      return old === null ? "" : old < 1 ? "less than an hour ago" : old < 48 ? `${Math.round(old)} h ago` : `${Math.round(old / 24)} days ago`;
    },
    list: (names, most = 3) => names.slice(0, most).join(", ") + (names.length > most ? ` and ${names.length - most} more` : ""),
  };
})();

const screen = (() => {
  const FACES = "award-travel/faces", OLD_HOURS = 24, PATIENCE_MS = 120000;
  const pending = new Map(), context = {};
  let options, abilities = {}, serial = 0, isReady = false, height = 0, given = null, trouble = "", busy = false, leadWords = "", noteWords = "";

  const post = (message) => window.parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
  const notify = (method, params = {}) => post({ method, params });
  const request = (method, params) => new Promise((resolve, reject) => {
    const id = ++serial;
    const timer = setTimeout(() => { pending.delete(id); reject(new Error("No answer came.")); }, PATIENCE_MS);
    pending.set(id, { resolve, reject, timer });
    post({ id, method, params });
  });
  const hears = {
    "ui/notifications/tool-input-partial": (params) => { if (state.phase === "waiting") learn(params.arguments); },
    "ui/notifications/tool-input": (params) => learn(params.arguments),
    "ui/notifications/tool-result": take,
    "ui/notifications/tool-cancelled": (params) => { if (!state.data) show("cancelled", params.reason); },
    "ui/notifications/host-context-changed": dress,
  };
  window.addEventListener("message", ({ source, data }) => {
    if (source !== window.parent || data?.jsonrpc !== "2.0") return;
    if (data.method !== undefined && data.id === undefined) hears[data.method]?.(data.params ?? {});
    else if (data.method === "ping" || data.method === "ui/resource-teardown") post({ id: data.id, result: {} });
    else if (data.method !== undefined) post({ id: data.id, error: { code: -32601, message: "Method not found" } });
    else settle(data);
  });
  function settle({ id, result, error }) {
    const waiter = pending.get(id);
    if (!waiter) return;
    pending.delete(id);
    clearTimeout(waiter.timer);
    if (error) waiter.reject(new Error(error.message)); else waiter.resolve(result);
  }

  function dress(changes) {
    Object.assign(context, changes);
    const root = document.documentElement;
    if (changes.toolInfo?.tool?.name) state.tool = changes.toolInfo.tool.name;
    // light-dark() follows color-scheme and not the host's variables.
    if (["light", "dark"].includes(changes.theme)) root.dataset.theme = changes.theme;
    for (const [name, value] of Object.entries(changes.styles?.variables ?? {}))
      if (name.startsWith("--") && value) root.style.setProperty(name, value);
    const inset = changes.safeAreaInsets;
    if (inset) document.body.style.padding = ["top", "right", "bottom", "left"].map((side) => `${Number(inset[side]) || 0}px`).join(" ");
    if (isReady && changes.styles) draw();
  }
  // The height alone is told: a host that obeys a width would freeze the layout. The body is measured, since the
  // document's own height never shrinks below that of its frame.
  function measure() {
    const now = Math.ceil(document.body.getBoundingClientRect().height);
    if (isReady && now !== height) notify("ui/notifications/size-changed", { height: height = now });
  }

  function learn(argumentsOfCall) { given = argumentsOfCall ?? {}; if (!state.data) state.asked = clean(given); draw(); }
  const wordsOf = (result) => result.structuredContent?.message ?? result.content?.find((block) => block.type === "text")?.text ?? "";
  // Words from outside turn no line around (UAX 9, 2.1 to 2.4), and none is longer than a paragraph.
  const clean = (data) => JSON.parse(JSON.stringify(data ?? null), (_, value) => typeof value !== "string" ? value
    : value.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "").replace(/^([^]{600})[^]+$/, "$1…"));
  function take(answer) {
    const result = clean(answer), data = result.structuredContent, accepted = !result.isError && data && options.accepts(data);
    trouble = accepted ? "" : wordsOf(result) || "There is no answer.";
    if (accepted) {
      learnFaces(answer);
      state.maps = answer._meta?.[FACES]?.maps ?? {};
      Object.assign(state, { data, asked: { ...clean(given), ...data.asked } });
      state.tool = context.toolInfo?.tool?.name ?? options.toolOf?.(data) ?? state.tool;
      show(options.isEmpty?.(data) ? "empty" : "result");
    } else if (state.data) draw();
    else { state.refused = data ?? null; show(result.isError ? "error" : "empty", trouble); }
  }
  const learnFaces = (answer) => Object.assign(state.marks, answer._meta?.[FACES]?.marks);
  function drawMap() {
    const box = find("map"), map = state.maps[options.mapOf?.() ?? "route"];
    if (!box) return;
    box.hidden = state.phase !== "result" || !map;
    if (box.hidden) return;
    const path = (kind, d) => make("path", { class: kind, d: /^[Mlz\d -]+$/.test(d) ? d : "" });
    box.replaceChildren(make("svg", { class: "map", viewBox: `0 0 1000 ${map.height}`, role: "img", "aria-label": map.says }, path("land", map.land), map.ways.map((way) => path("way", way)),
      map.spots.map((spot) => make("circle", { class: "city", cx: spot.x, cy: spot.y, r: 9 })), map.spots.map((spot) => spot.label && make("text", { x: spot.label[0], y: spot.label[1], "text-anchor": "middle" }, spot.name))));
  }
  async function lookAgain() {
    if (busy) return;
    busy = true;
    if (!state.data) show("waiting"); else keepFocus(drawNote);
    try { const result = await request("tools/call", { name: state.tool, arguments: given }); busy = false; take(result); }
    catch (error) { busy = false; trouble = error.message; if (state.data) draw(); else show("error", trouble); }
  }

  function show(phase, sentence = "") { state.phase = phase; state.words = sentence; draw(); }
  function draw() {
    document.body.dataset.phase = state.phase;
    keepFocus(() => { drawNote(); drawFoot(); options.draw(); drawMap(); });
    const lead = find("lead"), sentence = lead && !lead.hidden ? lead.innerText.replace(/\s+/g, " ").trim() : "";
    if (sentence && sentence !== leadWords) state.announce(sentence);
    leadWords = sentence;
  }
  const seenAt = () => { const fresh = state.data?.freshness; return fresh?.provider_checked_at ?? fresh?.fetched_at ?? (state.data && options.seenAt?.(state.data)) ?? null; };
  // Age is counted from the clock: a host may show a result again days later, with the age_seconds of then.
  const isOld = () => options.staleWords !== false && words.hours(seenAt()) > OLD_HOURS;
  function noteOf() {
    const failed = (state.data?.coverage?.failed ?? []).map((source) => source.name ?? source);
    if (state.phase === "error") return ["bad", state.words, true];
    if (state.phase === "cancelled") return ["", `Stopped before there was an answer.${state.words ? ` (${state.words})` : ""}`, true];
    if (state.phase === "empty") return ["", state.words || options.emptyWords?.(state.data) || state.data.message, false];
    if (state.phase !== "result") return null;
    if (trouble) return ["bad", trouble, true];
    if (isOld()) return ["warn", `Last seen ${words.age(seenAt())}. ${options.staleWords?.(state.data) ?? "It may have changed."}`, true];
    return failed.length ? ["", `No answer from ${words.list(failed)}, so this may not be all.`, true] : null;
  }
  function drawNote() {
    const [kind, sentence, again] = noteOf() ?? [], note = find("note"), plans = state.refused?.upgrade_url;
    const now = JSON.stringify([kind, sentence, again, busy, plans, state.tool, given !== null, abilities]);
    if (now === noteWords) return; // what stands already is not read aloud again
    noteWords = now;
    note.hidden = sentence === undefined;
    note.className = `note ${kind ?? ""}`;
    note.setAttribute("role", kind === "bad" ? "alert" : "status");
    if (note.hidden) return note.replaceChildren();
    const button = again && abilities.serverTools && state.tool && given
      ? make("button", { type: "button", class: "plain", "data-key": "again", "aria-disabled": busy ? "true" : null, onclick: lookAgain }, busy ? "Looking …" : "Look again")
      : plans && abilities.openLinks ? make("button", { type: "button", class: "plain", onclick: () => state.open(plans) }, "See the plans") : null;
    note.replaceChildren(make("p", {}, sentence), ...(button ? [button] : []));
  }
  function drawFoot() {
    const data = state.data, foot = find("foot"), fresh = data?.freshness;
    foot.hidden = !data || !["result", "empty"].includes(state.phase);
    if (foot.hidden) return;
    const age = words.age(seenAt());
    foot.replaceChildren(...[
      data.data_mode === "sandbox" ? make("span", { class: "tag warn" }, "Sandbox: invented data") : null,
      fresh?.source ? make("span", {}, `${fresh.source}${age ? `, seen ${age}` : ""}`) : null,
    ].filter(Boolean));
    foot.hidden = !foot.children.length;
  }

  const state = {
    phase: "waiting", data: null, asked: {}, tool: "", words: "", refused: null, marks: {}, maps: {}, draw,
    can: (ability) => Boolean(abilities[ability]),
    call: async (name, argumentsOfCall) => {
      const answer = await request("tools/call", { name, arguments: argumentsOfCall }), result = clean(answer);
      learnFaces(answer);
      if (result.isError || !result.structuredContent) throw new Error(wordsOf(result) || "There is no answer.");
      return result.structuredContent;
    },
    inform: (sentence) => {
      if (abilities.updateModelContext) request("ui/update-model-context", { content: [{ type: "text", text: sentence }] }).catch(() => {});
    },
    say: async (sentence) => {
      const answer = await request("ui/message", { role: "user", content: [{ type: "text", text: sentence }] });
      if (answer?.isError) throw new Error("The message was not sent.");
    },
    open: (url) => {
      if (!abilities.openLinks || !/^https?:\/\//.test(url)) return false;
      request("ui/open-link", { url }).catch(() => {});
      return true;
    },
    // The same sentence twice is no change, and would not be read.
    announce: (sentence) => { const aloud = find("aloud"); aloud.textContent = sentence + (aloud.textContent === sentence ? "\u00a0" : ""); },
    start: (chosen) => {
      options = chosen;
      state.tool = options.tools.length === 1 ? options.tools[0] : "";
      // At the top: below everything it would be one pixel more to scroll, and heights would swing with the scroll bar.
      document.body.prepend(make("p", { class: "unseen", id: "aloud", "aria-live": "polite" }));
      new ResizeObserver(measure).observe(document.body);
      draw();
      request("ui/initialize", {
        protocolVersion: "2026-01-26", appInfo: { name: `award-travel-${options.name}`, version: "1" },
        appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] },
      }).then((host) => {
        abilities = host.hostCapabilities ?? {};
        dress(host.hostContext ?? {});
        state.tool = context.toolInfo?.tool?.name ?? state.tool;
        notify("ui/notifications/initialized");
        isReady = true;
        measure();
        draw();
      }).catch((error) => show("error", error.message));
    },
  };
  return state;
})();
const startScreen = (options) => screen.start(options);

// A control that is drawn anew is known by its key or its words. Whoever is elsewhere on the host's page stays there.
const keyOf = ({ dataset, name, value, ariaLabel, textContent }) => dataset.key ?? dataset.date ?? [name, value, ariaLabel ?? textContent].join();
function keepFocus(drawing) {
  const before = document.activeElement, section = before?.closest("section, main");
  const key = section && document.hasFocus() ? keyOf(before) : null;
  drawing();
  if (key === null || document.activeElement === before) return;
  const controls = [...document.querySelectorAll("main :is(button, input)")].filter((one) => one.checkVisibility());
  const again = controls.find((one) => keyOf(one) === key);
  if (again) again.focus(); else focusOn(section.checkVisibility() && section.querySelector("h1, h2, h3") || document.querySelector("h1"));
}
const mark = (slug) => { const [letters, hue] = screen.marks[slug] ?? []; return letters ? make("span", { class: `mk k${hue}`, "aria-hidden": "true" }, letters) : null; };
const zoom = () => parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;
const focusOn = (element) => { element.tabIndex = -1; element.focus(); };

const moreButton = (label, most, show) => make("div", { class: "acts" }, make("button", { type: "button", class: "plain more", onclick: () => {
  show();
  focusOn(document.querySelectorAll(".grows > li")[most]);
} }, label));

// Not `disabled` while it waits: that would take the keyboard away.
const actButton = (label, done, action, kind = "plain") => {
  const button = make("button", { type: "button", class: kind, onclick: async () => {
    if (button.ariaDisabled) return;
    button.ariaDisabled = "true";
    button.parentElement.querySelector(".outcome")?.remove();
    let outcome = done;
    try { outcome = (await action()) ?? done; button.textContent = done; }
    catch (error) { outcome = error.message; button.ariaDisabled = null; }
    if (outcome !== done) button.after(make("span", { class: "soft tiny outcome" }, outcome));
    screen.announce(outcome);
  } }, label);
  return button;
};
