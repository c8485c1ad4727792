/**
 * Script for all status pages, which are complete without the script.
 *
 * The script receives changed sections as server-sent events and updates only the nodes that differ, which preserves focus,
 * selection and open details. If no event arrives in time, the script marks the page as stale. For an action, the script sends the
 * token in a header; the token is stored only in memory.
 */
export const PAGE_SCRIPT = `"use strict";
(() => {
const root = document.documentElement, body = document.body;
const byId = (id) => document.getElementById(id);
const every = Number(body.dataset.every);
root.classList.add("js");

const isSame = (a, b) => a.nodeType === b.nodeType && a.nodeName === b.nodeName && (a.id || "") === (b.id || "");
const morph = (from, to) => {
  if (from.isEqualNode(to)) return;
  if (from.nodeType !== 1) { from.data = to.data; return; }
  for (const { name } of [...from.attributes]) if (name !== "open" && !to.hasAttribute(name)) from.removeAttribute(name);
  for (const { name, value } of to.attributes) if (name !== "open" && from.getAttribute(name) !== value) from.setAttribute(name, value);
  morphChildren(from, to);
};
const morphChildren = (from, to) => {
  let child = from.firstChild;
  for (const next of [...to.childNodes]) {
    const known = next.id && byId(next.id);
    if (known && known !== child && known.parentNode === from) { from.insertBefore(known, child); child = known; }
    if (child && isSame(child, next)) { morph(child, next); child = child.nextSibling; }
    else from.insertBefore(next, child);
  }
  while (child) { const rest = child.nextSibling; child.remove(); child = rest; }
};
const show = ({ title, sections }) => {
  const focused = document.activeElement, area = focused?.closest("section");
  document.title = title;
  for (const [id, text] of Object.entries(sections)) {
    const section = byId(id), next = document.createElement("template");
    next.innerHTML = text;
    if (section) morphChildren(section, next.content);
  }
  // A row that moved loses the focus. When the focused row is gone, its section gets the focus.
  if (focused !== document.activeElement) ((focused.id && byId(focused.id)) || area)?.focus({ preventScroll: true });
};

let asOf = body.dataset.asOf, age = Number(body.dataset.age), at = performance.now(), isLive = false, wasLost = false;
const seconds = () => Math.max(0, Math.round(age + (performance.now() - at) / 1000));
const duration = (s) => s < 120 ? s + " s" : s < 7200 ? Math.floor(s / 60) + " min" : Math.floor(s / 3600) + " h";
const setText = (id, text) => { const node = byId(id); if (node.textContent !== text) node.textContent = text; };
const tell = () => {
  const time = asOf.slice(0, 19).replace("T", " ") + " UTC";
  root.classList.toggle("stale", wasLost);
  setText("stream-state", wasLost ? "\\u2715 Not live: no updates are arriving from the daemon. This page shows the past." : isLive ? "\\u25cf Live." : "Connecting\\u2026");
  setText("stream-time", "As of " + time + ", " + duration(seconds()) + " ago");
  if (wasLost && !document.title.startsWith("(old)")) document.title = "(old) " + document.title;
};

let source, retry, triedAt = 0;
const lost = () => { isLive = false; wasLost = true; tell(); };
const open = () => {
  clearTimeout(retry);
  triedAt = performance.now();
  if (source) source.close();
  source = new EventSource("/live" + (location.pathname === "/" ? "" : location.pathname) + location.search);
  const mine = source;
  source.addEventListener("update", ({ data }) => {
    const update = JSON.parse(data);
    asOf = update.as_of; age = update.age_seconds; at = performance.now();
    isLive = true; wasLost = false;
    show(update);
    tell();
  });
  source.onerror = () => {
    if (mine !== source) return;
    lost();
    source.close();
    retry = setTimeout(open, 2000);
  };
};
setInterval(() => {
  // An open connection without events is as good as none.
  if (performance.now() - at > 3 * every + 1000) lost();
  if (wasLost && performance.now() - triedAt > 10000) open();
  tell();
}, 1000);

const setView = (search, isTyped) => {
  history.replaceState(null, "", location.pathname + search);
  if (!isTyped) {
    const chosen = new URLSearchParams(search);
    for (const field of document.querySelectorAll("form.filters [name]")) field.value = chosen.get(field.name) ?? "";
  }
  open();
};
const viewOf = (form) => {
  const chosen = new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== ""));
  return chosen.size === 0 ? "" : "?" + chosen;
};
let typing;
document.addEventListener("input", ({ target }) => {
  const form = target.closest("form.filters");
  if (!form) return;
  clearTimeout(typing);
  typing = setTimeout(() => setView(viewOf(form), true), 250);
});
document.addEventListener("submit", (event) => {
  if (!event.target.matches("form.filters")) return;
  event.preventDefault();
  setView(viewOf(event.target), true);
});

let token = "";
const askToken = () => new Promise((resolve) => {
  const dialog = byId("token"), field = byId("token-value");
  field.value = "";
  dialog.returnValue = "";
  dialog.onclose = () => { const given = dialog.returnValue === "send" ? field.value.trim() : ""; field.value = ""; resolve(given); };
  dialog.showModal();
});
const say = (text, isBad) => { const line = byId("result"); line.className = isBad ? "bad" : "good"; line.textContent = text; };
const act = async (button) => {
  const { post, body: content, needs, done } = button.dataset;
  if (needs === "token" && token === "") {
    token = await askToken();
    if (token === "") { say("Nothing was sent: no token was given.", true); button.focus(); return; }
  }
  button.disabled = true;
  say("Sending\\u2026", false);
  try {
    const headers = { "content-type": "application/json", ...(token === "" ? {} : { authorization: "Bearer " + token }) };
    const reply = await fetch(post, { method: "POST", headers, body: content });
    if (reply.status === 401 || reply.status === 403) token = "";
    const text = (await reply.text()).slice(0, 500);
    if (reply.ok) say(done, false);
    else say("Refused with status " + reply.status + ": " + (text || reply.statusText), true);
  } catch (error) {
    say("Not sent: " + error.message, true);
  }
  button.disabled = false;
  if (button.isConnected) button.focus();
};
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-view]"), button = event.target.closest("button[data-post]");
  if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) { event.preventDefault(); setView(new URL(link.getAttribute("href"), location).search, false); }
  if (button) void act(button);
  const copy = event.target.closest("button[data-copy]")?.dataset.copy;
  if (copy) navigator.clipboard.writeText(copy).then(() => say("Copied: " + copy, false), (error) => say("Not copied: " + error.message, true));
});
const reveal = () => { const details = location.hash && byId(location.hash.slice(1))?.querySelector("details"); if (details) details.open = true; };
addEventListener("hashchange", reveal);
reveal();
addEventListener("pageshow", (event) => { if (event.persisted) open(); });
addEventListener("pagehide", () => source && source.close());
tell();
open();
})();`;
