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

// Which model has put what into the tab's store: a text of one may be taken over by another that is drawn later.
const owners = (globalThis.onceOwners ??= new Map());

// What a module of a control exports, made of its `render`. All views of one model share what has no answer yet, and
// it outlives them: anywidget gives each view a model of its own, and takes its listeners away when the view is closed.
function delivered(render) {
  return () => {
    let sent = null;
    return {
      initialize({ model }) {
        sent = delivery(model);
        return sent.end;
      },
      render: ({ model, el }) => render({ model, el, sent }),
    };
  };
}

// A connection can be cut long before anybody notices, and what was sent meanwhile is lost without an error. So each
// message has a key and a number, and is sent again until the kernel has answered with both; the kernel acts on a
// number once. A newer message takes the place of one with the same key, and goes when that is answered. All that waits is sent at each attempt, the
// oldest first: what was pressed later is not done earlier, and a file holds what was typed before it was asked for.
function delivery(model) {
  const page = `${Date.now()}-${Math.random()}`; // randomUUID is for pages with https or on this computer only
  const waiting = new Map(); // in the order of their numbers
  const stored = new Set(); // what the tab keeps for this model, by key
  const listeners = new Set();
  let last = 0;
  let tries = 0;
  let next = 0;
  let timer = null;

  const tell = () => { for (const listener of [...listeners]) listener(); };
  const named = (key) => `once:${model.get("place")}:${key}`;
  function storage(act) {
    if (!model.get("place")) return null;
    try { return act(window.sessionStorage); } catch { return null; } // full, or forbidden by the browser
  }
  function store(key, content) {
    stored.add(key);
    storage((kept) => {
      owners.set(named(key), give);
      kept.setItem(named(key), JSON.stringify(content));
    });
  }
  function drop(key) {
    stored.delete(key);
    if (owners.get(named(key)) !== give) return; // another notebook of this lesson has put its own there since
    owners.delete(named(key));
    storage((kept) => kept.removeItem(named(key)));
  }
  // Another model sends it now. If this one did too, it might come after something newer.
  function give(key) {
    stored.delete(key);
    waiting.delete(key);
    if (!waiting.size) stop();
    tell();
  }
  function transmit() {
    next = performance.now() + Math.min(1000 * 2 ** tries, LONGEST);
    tries += 1;
    for (const [key, entry] of waiting) {
      // Throws while there is no kernel at all: tried again.
      try { model.send({ page, key, number: entry.number, content: entry.content }); } catch { return; }
      entry.sent = true;
    }
  }
  function stop() {
    clearInterval(timer);
    timer = null;
  }
  function tick() {
    if (performance.now() >= next) transmit();
    tell();
  }
  model.on("msg:custom", ({ had, number, page: whose, answer }) => {
    const entry = waiting.get(had);
    if (whose !== page || !entry) return;
    if (entry.number !== number) {
      if (!entry.sent) transmit();
      return;
    }
    waiting.delete(had);
    // The kernel has heard these, and could not write them down: they are kept for the next one.
    const unsaved = answer?.unsaved ?? [];
    for (const key of [...stored]) if (!waiting.has(key) && !unsaved.includes(key)) drop(key);
    if (!waiting.size) stop();
    entry.answered?.(answer);
    tell();
  });

  return {
    page,
    send(key, content, answered) {
      last += 1;
      const before = waiting.get(key);
      const now = performance.now();
      waiting.delete(key);
      waiting.set(key, { number: last, content, answered, begun: before?.begun ?? now, sent: false });
      store(key, content);
      timer ??= setInterval(tick, TICK);
      tries = 0;
      // Who types faster than the kernel writes down has one letter on the way; the others follow in one.
      if (before) next = Math.min(next, now + 1000);
      else transmit();
      tell();
    },
    // What was sent under this key and has no answer yet.
    pending: (key) => waiting.get(key)?.content,
    // The same from before: the page was loaded again, or the kernel was, and nothing has saved it. Whoever takes it
    // sends it.
    left(key) {
      if (stored.has(key)) return undefined; // by another view of this model
      const found = storage((kept) => kept.getItem(named(key)));
      if (!found) return undefined;
      owners.get(named(key))?.(key);
      owners.delete(named(key));
      storage((kept) => kept.removeItem(named(key)));
      try { return JSON.parse(found); } catch { return undefined; }
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
    end: stop,
  };
}
