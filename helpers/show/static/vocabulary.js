// The vocabulary on the page (helpers/show/vocabulary.py). All texts come from Python; what is HTML was made there.

function render({ model, el, sent }) {
  const words = model.get("words");
  const fields = new Map();

  function example(entry) {
    if (entry.example !== null) return make("div", { class: "once-cell", html: entry.example });
    const area = make("textarea", { rows: 2, placeholder: words.placeholder });
    const left = sent.left(entry.id);
    area.value = sent.pending(entry.id)?.text ?? model.get("texts")[entry.id];
    if (typeof left?.text === "string") { // also when the kernel has it: perhaps it could not save it
      area.value = left.text;
      sent.send(entry.id, left);
    }
    // With the text that the kernel had when this one was begun: by that it sees what the learner has not seen.
    area.addEventListener("input", () => sent.send(entry.id, {
      entry: entry.id, text: area.value, by: sent.page, over: sent.pending(entry.id)?.over ?? model.get("texts")[entry.id],
    }));
    const mark = make("div");
    const good = make("div");
    const answer = make("div", { class: "once-cell once-answer" }, [
      make("label", { class: "once-field" }, [make("span", { class: "once-label", text: entry.label }), area]),
      mark,
      good,
    ]);
    fields.set(entry.id, { area, answer, mark, good });
    return answer;
  }

  const head = make("div", { class: "once-row once-head" }, words.heads.map(
    (text) => make("div", { class: "once-cell" }, [make("strong", { text })]),
  ));
  const rows = model.get("entries").map((entry) => make("div", { class: "once-row" }, [
    make("div", { class: "once-cell", html: entry.word }),
    make("div", { class: "once-cell", html: entry.meaning }),
    example(entry),
  ]));
  const status = make("div");
  const files = make("div", { class: "once-files" }, words.files.map(({ kind, label }) => button(
    label,
    () => sent.send(`file ${kind}`, { file: kind }, save),
    { "data-file": kind },
  )));
  const table = make("div", { class: "once-vocabulary", lang: model.get("language") }, [head, ...rows, status, files]);

  // The file is made when it is asked for: it holds what is on the page, to the last letter.
  function save({ name, type, content }) {
    const address = URL.createObjectURL(new Blob([content], { type }));
    const link = make("a", { href: address, download: name });
    files.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
  }
  function showTexts() {
    const texts = model.get("texts");
    for (const [id, { area }] of fields) {
      if (!sent.pending(id) && area.value !== texts[id]) area.value = texts[id];
    }
  }
  function showMarks() {
    const [marks, good] = [model.get("marks"), model.get("good")];
    for (const [id, field] of fields) {
      put(field.mark, marks[id]);
      put(field.good, good[id]);
    }
    put(status, model.get("status"));
  }
  function showSent() {
    for (const [id, { answer, area }] of fields) {
      const typed = sent.pending(id)?.text; // here, or in another view
      if (typed !== undefined && area.value !== typed) area.value = typed;
      answer.classList.toggle("once-waiting", Boolean(sent.pending(id)));
      answer.classList.toggle("once-late", sent.late(id));
    }
    status.classList.toggle("once-late", sent.late());
  }

  const shown = [["texts", showTexts], ["marks", showMarks], ["good", showMarks], ["status", showMarks]];
  for (const [name, listener] of shown) model.on(`change:${name}`, listener);
  const deaf = sent.listen(showSent);
  showMarks();
  showSent();
  el.append(table);
  return () => {
    deaf();
    for (const [name, listener] of shown) model.off(`change:${name}`, listener);
  };
}

export default delivered(render);
