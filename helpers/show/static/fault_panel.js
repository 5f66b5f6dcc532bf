// The fault panel on the page. All texts come from Python; what is HTML was made and escaped there.

let presses = 0;

function controlRow(control, send) {
  let input = null;
  let field = null;
  if (control.number) {
    const { name, words, first, least, most } = control.number;
    input = make("input", {
      type: "number", min: least, max: most, step: 1, value: first, title: words,
      "aria-label": control.number.aloud,
    });
    field = make("label", { class: "once-number" }, [make("span", { "aria-hidden": "true", text: name }), input]);
  }
  const press = button(
    control.label,
    () => send({ method: control.method, ...(input ? { number: Number(input.value) } : {}) }),
    { title: control.tooltip, "data-method": control.method },
  );
  return make("li", { class: "once-fault" }, [
    make("div", { class: "once-press" }, [press, field]),
    make("div", { class: "once-about" }, [
      make("span", { html: control.sentence }), " ", make("span", { class: "once-call", html: control.call }),
    ]),
    make("div", { class: "once-said", role: "status", "data-said": control.method }),
  ]);
}

function groupOf(group, send) {
  const count = group.controls.length;
  return make("details", { class: "once-group", open: group.opened, "data-group": group.id }, [
    make("summary", {}, [group.heading, make("span", { class: "once-count", text: ` (${count})` })]),
    make("ul", { role: "list" }, group.controls.map((control) => controlRow(control, send))),
  ]);
}

function presetCard(preset, words, send, opened) {
  const steps = preset.steps.map((html) => make("li", {}, [
    make("span", { class: "once-mark" }), make("span", { html }),
  ]));
  const act = (what) => () => { if (!card.busy) send({ preset: preset.name, act: what }); };
  const next = button(words.begin, act("next"), { "data-act": "next" });
  const end = button(words.end, act("end"), { "data-act": "end" });
  const bare = preset.bare ? button(words.bare, act("bare"), { "data-act": "bare" }) : null;
  const said = make("div", { class: "once-said", role: "status" });
  const card = {
    name: preset.name,
    busy: false,
    element: make("details", { class: "once-preset", open: opened, "data-preset": preset.name }, [
      make("summary", { text: preset.title }),
      make("ol", {}, steps),
      make("p", { html: preset.watch }),
      make("p", { html: preset.proof }),
      make("div", { class: "once-buttons" }, [next, end, bare]),
      said,
      make("div", { class: "once-call", html: preset.call }),
    ]),
    show(scene) {
      const mine = scene.name === preset.name;
      const done = mine ? scene.done : 0;
      card.busy = Boolean(scene.busy);  // one demonstration at a time
      steps.forEach((step, place) => {
        const [sign, word] = place < done ? ["✓", words.done] : done && place === done ? ["→", words.now] : ["", ""];
        step.firstChild.textContent = sign ? `${sign} ${word}` : "";
        step.classList.toggle("once-now", done > 0 && place === done);
      });
      next.textContent = !done ? words.begin : scene.left ? words.next : words.again;
      for (const one of [next, end, bare].filter(Boolean)) one.setAttribute("aria-disabled", String(card.busy));
      if (!mine) said.replaceChildren();
      else if (scene.said) said.innerHTML = scene.said;
      card.element.classList.toggle("once-busy", mine && card.busy);
    },
  };
  return card;
}

function render({ model, el, sent }) {
  const words = model.get("words");
  const send = (message) => sent.send(`press ${presses += 1}`, message);

  const status = make("span", { role: "status", class: "once-status" });
  const disarm = button(words.disarm, () => send({ method: "clear" }), {
    class: "once-disarm", title: words["disarm-sentence"], "data-method": "clear",
  });
  const armed = make("ul", { role: "list", class: "once-armed", "aria-label": words.armed });
  const unheard = make("div", { class: "once-said", role: "status" });
  const cards = model.get("presets").map((preset, place) => presetCard(preset, words, send, place === 0));
  const demonstrations = make("details", { class: "once-group", "data-group": "demonstrations", open: true }, [
    make("summary", {}, [words.demonstrations, make("span", { class: "once-count", text: ` (${cards.length})` })]),
    ...cards.map((card) => card.element),
  ]);

  const panel = make("section", { class: "once-faults", lang: model.get("language"), "aria-label": words.title }, [
    make("div", { class: "once-bar" }, [
      make("div", { class: "once-line" }, [make("strong", { text: words.title }), status, disarm]),
      armed,
      unheard,
      make("div", { class: "once-said", role: "status", "data-said": "clear" }),
    ]),
    cards.length ? demonstrations : null,
    ...model.get("groups").map((group) => groupOf(group, send)),
  ]);

  function showArmed() {
    const list = model.get("armed");
    const focused = armed.contains(document.activeElement);
    status.textContent = list.length ? `● ${words.count.replace("{count}", list.length)}` : `○ ${words.none}`;
    status.classList.toggle("once-some", list.length > 0);
    armed.replaceChildren(...list.map((fault) => make("li", { "data-holding": fault.holding }, [
      make("span", {}, [make("strong", { text: fault.words }), ` – ${fault.count}`]),
      button(words["disarm-one"], () => send({ cancel: fault.number }), {
        "aria-label": fault.disarm, "data-cancel": fault.number,
      }),
    ])));
    // The button that was pressed is gone: the next one takes its place, so that nobody has to search the page.
    if (focused) (armed.querySelector("button") || disarm).focus();
  }
  // What came of a press stands where the press was, the error too.
  const showSaid = () => {
    const { at, html } = model.get("said");
    for (const place of panel.querySelectorAll("[data-said]")) {
      if (place.dataset.said === at) place.innerHTML = html;
      else if (place.hasChildNodes()) place.replaceChildren();
    }
  };
  const showSent = () => put(unheard, sent.late() ? words.unheard : "");
  const showScene = () => { for (const card of cards) card.show(model.get("scene")); };

  const listeners = { "change:armed": showArmed, "change:said": showSaid, "change:scene": showScene };
  for (const [name, listener] of Object.entries(listeners)) {
    model.on(name, listener);
    listener();
  }
  const deaf = sent.listen(showSent);
  showSent();
  el.append(panel);
  return () => {
    deaf();
    for (const [name, listener] of Object.entries(listeners)) model.off(name, listener);
  };
}

export default delivered(render);
