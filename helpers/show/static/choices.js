// Choices as toggle buttons (helpers/show/choices.py). Several views of one model may stand on the page.

const CHOICE = "choice"; // one key: only the newest choice counts

function render({ model, el, sent }) {
  const language = model.get("language");
  const buttons = model.get("choices").map((html, place) => {
    const yours = make("span", { class: "once-yours" });
    const choose = () => {
      // Who presses again because nothing happens does not mean the second press that says "yes, afresh".
      if (sent.pending(CHOICE)?.number !== place + 1) sent.send(CHOICE, { number: place + 1 });
    };
    const press = button("", choose, { class: "once-choice" });
    press.append(make("span", { html }), yours);
    return { press, yours };
  });
  const group = make(
    "div",
    { class: "once-choices", role: "group", "aria-label": model.get("label"), lang: language },
    buttons.map(({ press }) => press),
  );
  const said = make("div", { role: "status", "aria-live": "polite", lang: language });

  function mark() {
    const chosen = sent.pending(CHOICE)?.number ?? model.get("chosen");
    buttons.forEach(({ press, yours }, place) => {
      const pressed = place + 1 === chosen;
      press.setAttribute("aria-pressed", String(pressed));
      press.classList.toggle("once-chosen", pressed);
      yours.textContent = pressed ? model.get("yours") : "";
    });
    say();
  }
  // What was said to the choice before would stand beside the new one.
  const say = () => put(said, model.get(sent.late() ? "unheard" : "said"));

  model.on("change:chosen", mark);
  model.on("change:said", say);
  const deaf = sent.listen(mark);
  mark();
  el.append(group, said);
  return () => {
    deaf();
    model.off("change:chosen", mark);
    model.off("change:said", say);
  };
}

export default delivered(render);
