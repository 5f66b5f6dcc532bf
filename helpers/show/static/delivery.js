// What the pages of several controls share: elements, and messages that are sent until the kernel has them.
// helpers/show/delivered.py puts this file before the module of a control; it exports nothing itself.

function make(tag, options = {}, children = []) {
  const { text, html, ...attributes } = options;
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  if (text !== undefined) element.textContent = text;
  if (html !== undefined) element.innerHTML = html;
  element.append(...children.filter(Boolean));
  return element;
}

function button(label, press, options = {}) {
  const made = make("button", { type: "button", text: label, ...options });
  made.addEventListener("click", press);
  return made;
}

// The same again is no change: what the learner has opened stays open, and nothing is read aloud twice.
function put(element, html) {
  if (element.source === html) return;
  element.source = html;
  element.innerHTML = html;
}

const TICK = 500; // ms
const LATE = 1500; // ms without an answer, then the page says so
const LONGEST = 15000; // ms between two attempts; before that each pause is twice the one before
const deliveries = new WeakMap();

// A connection can be cut long before anybody notices, and what was sent meanwhile is lost without an error. So each
// message has a key and a number, and is sent again until the kernel has answered with both; the kernel acts on a
// number once. A newer message takes the place of one with the same key.
function delivery(model) {
  if (deliveries.has(model)) return deliveries.get(model);
  const page = `${Date.now()}-${Math.random()}`; // randomUUID is for pages with https or on this computer only
  const waiting = new Map();
  const listeners = new Set();
  let last = 0;
  let timer = null;

  const tell = () => { for (const listener of [...listeners]) listener(); };
  const stored = (key) => `once:${model.get("place")}:${key}`;
  function storage(act) {
    if (!model.get("place")) return null;
    try { return act(window.sessionStorage); } catch { return null; } // full, or forbidden by the browser
  }
  function transmit(key, entry) {
    entry.tries += 1;
    entry.next = performance.now() + Math.min(1000 * 2 ** (entry.tries - 1), LONGEST);
    // Throws while there is no kernel at all.
    try { model.send({ page, key, number: entry.number, content: entry.content }); } catch { /* tried again */ }
  }
  function tick() {
    const now = performance.now();
    for (const [key, entry] of waiting) if (now >= entry.next) transmit(key, entry);
    tell();
  }
  model.on("msg:custom", ({ had, number, page: whose, answer }) => {
    const entry = waiting.get(had);
    if (whose !== page || entry?.number !== number) return;
    waiting.delete(had);
    storage((kept) => kept.removeItem(stored(had)));
    if (!waiting.size) { clearInterval(timer); timer = null; }
    entry.answered?.(answer);
    tell();
  });

  const made = {
    send(key, content, answered) {
      last += 1;
      const begun = waiting.get(key)?.begun ?? performance.now();
      const entry = { number: last, content, answered, begun, tries: 0, next: 0 };
      waiting.set(key, entry);
      storage((kept) => kept.setItem(stored(key), JSON.stringify(content)));
      timer ??= setInterval(tick, TICK);
      transmit(key, entry);
      tell();
    },
    // What was sent under this key and has no answer yet.
    pending: (key) => waiting.get(key)?.content,
    // The same from before: the page was loaded again, or the kernel was, and the answer never came.
    left(key) {
      const found = storage((kept) => kept.getItem(stored(key)));
      storage((kept) => kept.removeItem(stored(key)));
      return found ? JSON.parse(found) : undefined;
    },
    late(key) {
      const now = performance.now();
      const entries = key === undefined ? [...waiting.values()] : [waiting.get(key)].filter(Boolean);
      return entries.some((entry) => now - entry.begun > LATE);
    },
    // Calls the listener at each change; gives what ends that.
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  deliveries.set(model, made);
  return made;
}
