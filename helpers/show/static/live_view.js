// The page's side of the live view (helpers/show/live_view.py). Python gives each part as HTML in a trait; this module
// changes only what differs in the page, so focus, selection, scroll positions and opened details stay as they are.
// No text stands here: words come from the trait `words`.

const PARTS = ["queues", "timeline", "executions", "orders", "decisions", "messages", "runs", "reference"];
const KEPT = new Set(["open", "tabindex"]);
const ROOMY = 1000; // px of the window: less has no room for two panes
const DOCKED = "once-live-docked";

// Views beside the cells that are alive in this page, by the model's name.
const beside = (globalThis.onceLiveBeside ??= new Map());

function differs(a, b) {
  return a.nodeType !== b.nodeType || a.nodeName !== b.nodeName || key(a) !== key(b);
}

function key(node) {
  return node.nodeType === Node.ELEMENT_NODE ? node.getAttribute("data-k") : null;
}

// Make `old` like `fresh` and keep its elements. Elements with a data-k are found by it wherever they have moved.
function morph(old, fresh) {
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.nodeValue !== fresh.nodeValue) old.nodeValue = fresh.nodeValue;
    return;
  }
  for (const { name, value } of [...fresh.attributes]) {
    if (!KEPT.has(name) && old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  for (const { name } of [...old.attributes]) {
    if (!KEPT.has(name) && name !== "class" && !fresh.hasAttribute(name)) old.removeAttribute(name);
  }
  if (old.hasAttribute("data-own")) return;
  children(old, fresh);
}

function children(old, fresh) {
  const named = new Map();
  for (const child of old.childNodes) if (key(child)) named.set(key(child), child);
  let place = old.firstChild;
  for (const wanted of [...fresh.childNodes]) {
    const name = key(wanted);
    let found = name ? named.get(name) : place;
    if (found && !name && key(found)) found = null;
    if (!found || differs(found, wanted)) {
      old.insertBefore(wanted, place);
      continue;
    }
    named.delete(name);
    if (found === place) place = place.nextSibling;
    else if (place && !name) place = place.nextSibling;
    else move(old, found, place);
    morph(found, wanted);
  }
  while (place) {
    const next = place.nextSibling;
    place.remove();
    place = next;
  }
}

// An element that is taken out and put in again loses its focus: then what stands before it is moved behind it.
function move(parent, found, place) {
  if (!found.contains(document.activeElement)) {
    parent.insertBefore(found, place);
    return;
  }
  const after = found.nextSibling;
  for (let node = place; node && node !== found; ) {
    const next = node.nextSibling;
    parent.insertBefore(node, after);
    node = next;
  }
}

function make(tag, className, text = "") {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text) node.textContent = text;
  return node;
}

// Whether JupyterLab is here with its sidecar extension, shows several documents at a time, and has room.
function canDock(view) {
  if (innerWidth < ROOMY || !view.closest(".jp-Notebook")) return false;
  if (document.querySelector("#jp-main-dock-panel")?.dataset.mode !== "multiple-document") return false;
  try {
    const config = JSON.parse(document.getElementById("jupyter-config-data").textContent);
    return config.federated_extensions.some(({ name }) => name === "@jupyter-widgets/jupyterlab-sidecar");
  } catch {
    return false;
  }
}

const isDead = (view) => view.classList.contains("once-is-dead");

function render({ model, el }) {
  let words; // in the language of the lab that is followed now
  const name = model.get("name");
  const view = make("div", "once-live-view");
  view.setAttribute("role", "group");

  const dead = make("p", "once-dead");
  const away = make("p", "once-away");
  const place = make("button", "once-place");
  place.type = "button";
  const status = make("div", "once-status");
  status.setAttribute("role", "status");
  const body = make("div", "once-body");
  view.append(dead, away, place, status, body);
  el.append(view);

  const listeners = new AbortController();
  const { signal } = listeners;
  const sections = new Map();
  let docked = false; // this view stands beside the cells
  let shownHere = false; // the reader wants to see it in its cell, whatever stands beside

  function speak() {
    words = model.get("words");
    view.lang = model.get("lang");
    view.setAttribute("aria-label", words.title);
    dead.replaceChildren(make("strong", "", `■ ${words.dead}`), ` ${words.again}`);
    away.textContent = words.away;
    tell(marks().find((mark) => mark.dataset.k === told) ?? null);
  }

  function section(part, title) {
    let found = sections.get(part);
    if (!found) {
      const details = make("details", "once-section");
      details.open = true;
      const inner = make("div");
      details.append(make("summary"), inner);
      found = { details, inner, html: null };
      sections.set(part, found);
    }
    found.details.firstChild.textContent = title;
    return found;
  }

  function draw() {
    if (body.hidden) return;
    const titles = model.get("titles");
    const wanted = titles.map(([part, title]) => [part, section(part, title)]);
    wanted.forEach(([, { details }], index) => {
      if (body.children[index] !== details) body.insertBefore(details, body.children[index] ?? null);
    });
    while (body.children.length > wanted.length) body.lastChild.remove();
    for (const [part, found] of wanted) {
      const html = model.get(part);
      if (html === found.html) continue;
      found.html = html;
      change(found.inner, html, part);
    }
  }

  function change(inner, html, part) {
    const fresh = document.createElement("template");
    fresh.innerHTML = html;
    if (part === "timeline") prepare(fresh.content);
    const before = inner.querySelector(".once-scroll");
    // With one order for all lanes the newest marks stand at the end: who looks there goes on looking there.
    const follows = fresh.content.querySelector("[data-ask='order'][aria-pressed='true']");
    const atEnd = follows && (!before || before.scrollLeft + before.clientWidth >= before.scrollWidth - 8);
    children(inner, fresh.content);
    if (part === "timeline") {
      const scroll = inner.querySelector(".once-scroll");
      if (scroll && atEnd && !inner.contains(document.activeElement)) scroll.scrollLeft = scroll.scrollWidth;
      rove(inner);
    }
  }

  // --- the marks of the timeline -------------------------------------------------------------------------------

  let told = "";

  function prepare(content) {
    for (const mark of content.querySelectorAll(".once-mark")) {
      const ring = document.createElementNS("http://www.w3.org/2000/svg", "circle");
      const lane = mark.parentNode.querySelector("path").getAttribute("d").match(/^M0 ([\d.]+)/)[1];
      ring.setAttribute("class", "once-ring");
      ring.setAttribute("cx", mark.dataset.x);
      ring.setAttribute("cy", lane);
      ring.setAttribute("r", "17.5");
      mark.append(ring);
    }
    const story = content.querySelector(".once-story");
    if (story) {
      // What stands in it is this view's own: another view tells another mark.
      story.setAttribute("data-own", "");
      story.setAttribute("aria-live", "polite");
      story.textContent = words.help;
    }
  }

  const marks = () => [...body.querySelectorAll(".once-mark")];

  // One mark can be reached with Tab; the arrow keys do the rest.
  function rove(inner, chosen = null) {
    const all = [...inner.querySelectorAll(".once-mark")];
    const stop = chosen ?? all.find((mark) => mark.tabIndex === 0) ?? all.at(-1);
    for (const mark of all) mark.setAttribute("tabindex", mark === stop ? "0" : "-1");
    if (told && !all.some((mark) => mark.dataset.k === told)) tell(null);
    else if (told) tell(all.find((mark) => mark.dataset.k === told));
  }

  function tell(mark) {
    const box = body.querySelector(".once-story");
    told = mark?.dataset.k ?? "";
    const text = mark?.dataset.story ?? words.help;
    if (box && box.textContent !== text) box.textContent = text;
    for (const other of marks()) other.classList.toggle("once-told", other === mark);
  }

  function next(mark, event) {
    const x = Number(mark.dataset.x);
    const lane = Number(mark.dataset.lane);
    const all = marks();
    const line = all
      .filter((one) => Number(one.dataset.lane) === lane)
      .sort((a, b) => Number(a.dataset.x) - Number(b.dataset.x));
    const at = line.indexOf(mark);
    if (event.key === "ArrowRight") return line[at + 1];
    if (event.key === "ArrowLeft") return line[at - 1];
    if (event.key === "Home") return line[0];
    if (event.key === "End") return line.at(-1);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return undefined;
    const lanes = [...new Set(all.map((one) => Number(one.dataset.lane)))].sort((a, b) => a - b);
    const wanted = lanes[lanes.indexOf(lane) + step];
    const others = all.filter((one) => Number(one.dataset.lane) === wanted);
    const distance = (one) => Math.abs(Number(one.dataset.x) - x);
    return others.sort((a, b) => distance(a) - distance(b))[0];
  }

  const markOf = (event) => event.target.closest?.(".once-mark");

  body.addEventListener("focusin", (event) => markOf(event) && tell(markOf(event)), { signal });
  body.addEventListener("pointerover", (event) => markOf(event) && tell(markOf(event)), { signal });
  body.addEventListener(
    "pointerout",
    (event) => {
      if (!markOf(event)) return;
      const focused = document.activeElement;
      tell(focused?.classList.contains("once-mark") && body.contains(focused) ? focused : markOf(event));
    },
    { signal },
  );
  body.addEventListener(
    "click",
    (event) => {
      markOf(event)?.focus();
      const ask = event.target.closest?.("[data-ask]")?.dataset.ask;
      if (ask) model.send({ ask });
    },
    { signal },
  );
  body.addEventListener(
    "keydown",
    (event) => {
      const mark = markOf(event);
      if (!mark || event.altKey || event.ctrlKey || event.metaKey) return;
      const keys = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"];
      if (!keys.includes(event.key)) return;
      // JupyterLab would move to another cell.
      event.preventDefault();
      event.stopPropagation();
      const wanted = next(mark, event);
      if (!wanted) return;
      rove(body, wanted);
      wanted.focus({ preventScroll: true });
      wanted.scrollIntoView({ block: "nearest", inline: "nearest" });
    },
    { signal },
  );

  // --- beside the cells or here --------------------------------------------------------------------------------

  function settle() {
    const elsewhere = !docked && !shownHere && beside.has(name);
    away.hidden = !elsewhere;
    body.hidden = elsewhere;
    status.hidden = elsewhere;
    place.hidden = docked || (!elsewhere && !canDock(view));
    place.textContent = elsewhere ? words.here : words.beside;
    draw();
  }

  place.addEventListener(
    "click",
    () => {
      if (!away.hidden) {
        shownHere = true;
        settle();
      } else {
        shownHere = false;
        if (beside.has(name)) settle();
        else model.send({ ask: "beside" });
      }
    },
    { signal },
  );
  document.addEventListener(
    DOCKED,
    ({ detail }) => {
      if (docked && detail !== name && isDead(view)) closeSidecar();
      else settle();
    },
    { signal },
  );

  // After a restart of the kernel, a new view opens its own pane: the dead one would be a second copy.
  async function closeSidecar() {
    try {
      const sidecar = await model.widget_manager.get_model(model.get("beside"));
      sidecar?.close(true);
    } catch {
      // It is gone already.
    }
  }

  function changedStatus() {
    const html = model.get("status");
    if (status.innerHTML !== html) status.innerHTML = html;
  }

  // Whether a kernel stands behind it is known by the model itself; front ends other than JupyterLab may hide it.
  async function live() {
    let alive = true;
    try {
      alive = (await model.widget_manager.get_model(name)).comm_live !== false;
    } catch {
      // This front end does not say.
    }
    view.classList.toggle("once-is-dead", !alive);
  }

  const handlers = [["comm_live_update", live], ["change:titles", draw], ["change:status", changedStatus]];
  handlers.push(["change:words", () => { speak(); settle(); }]);
  for (const part of PARTS) handlers.push([`change:${part}`, soon]);

  // The traits of one redraw arrive together; they are drawn together too.
  let waiting = false;
  function soon() {
    if (waiting) return;
    waiting = true;
    queueMicrotask(() => {
      waiting = false;
      draw();
    });
  }
  for (const [event, handler] of handlers) model.on(event, handler);

  // The place in the page is known when the element is in it.
  const attached = setInterval(async () => {
    if (!view.isConnected) return;
    clearInterval(attached);
    await live();
    docked = Boolean(view.closest(".jupyterlab-sidecar"));
    if (docked) {
      beside.set(name, view);
      document.dispatchEvent(new CustomEvent(DOCKED, { detail: name }));
    } else if (canDock(view) && !isDead(view) && !beside.has(name)) {
      model.send({ ask: "beside" });
    }
    settle();
  }, 20);

  speak();
  changedStatus();
  settle();

  return () => {
    clearInterval(attached);
    listeners.abort();
    for (const [event, handler] of handlers) model.off(event, handler);
    if (beside.get(name) === view) {
      beside.delete(name);
      document.dispatchEvent(new CustomEvent(DOCKED, { detail: name }));
    }
  };
}

export default { render };
