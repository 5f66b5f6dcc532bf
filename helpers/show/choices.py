"""Choices as toggle buttons that a screen reader understands, with what is said to the choice below them.

Core ipywidgets have no button that says whether it is pressed. These are real buttons in a named group: Tab goes
from one to the next, Enter or Space presses, and `aria-pressed` and visible words say which one is chosen. What is
said appears in a region that is there from the beginning: screen readers announce changes of such a region, not
its arrival (WAI-ARIA 1.2, `status`).
"""

from __future__ import annotations

import anywidget
import traitlets

_ESM = """
function render({ model, el }) {
  const group = document.createElement("div");
  group.className = "once-choices";
  group.setAttribute("role", "group");
  const said = document.createElement("div");
  said.setAttribute("role", "status");
  said.setAttribute("aria-live", "polite");
  const buttons = [];

  const mark = () => {
    const chosen = model.get("chosen");
    buttons.forEach((button, index) => {
      const pressed = index + 1 === chosen;
      button.setAttribute("aria-pressed", String(pressed));
      button.classList.toggle("once-chosen", pressed);
      button.lastChild.textContent = pressed ? model.get("yours") : "";
    });
  };
  const say = () => { said.innerHTML = model.get("said"); };

  model.get("choices").forEach((html, index) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "once-choice";
    const words = document.createElement("span");
    words.innerHTML = html;
    const yours = document.createElement("span");
    yours.className = "once-yours";
    button.append(words, yours);
    button.addEventListener("click", () => {
      model.set("chosen", index + 1);
      model.set("presses", model.get("presses") + 1);
      model.save_changes();
      mark();
    });
    buttons.push(button);
  });
  group.setAttribute("aria-label", model.get("label"));
  group.lang = said.lang = model.get("language");
  group.append(...buttons);
  mark();
  say();
  el.append(group, said);
  model.on("change:chosen", mark);
  model.on("change:said", say);
  return () => {
    model.off("change:chosen", mark);
    model.off("change:said", say);
  };
}
export default { render };
"""

_CSS = """
.once-choices {display: flex; flex-direction: column; gap: .35em; margin: .4em 0}
.once-choices button.once-choice {
  display: flex; flex-wrap: wrap; justify-content: space-between; gap: .2em 1em; width: 100%; box-sizing: border-box;
  padding: .5em .8em; min-height: 2.4em; text-align: left; cursor: pointer; overflow-wrap: anywhere;
  font: inherit; font-size: 1em; line-height: 1.4; border-radius: .2em;
  color: var(--jp-content-font-color1, inherit); background: var(--jp-layout-color1, transparent);
  border: 1px solid var(--jp-content-font-color2, #616161)}
.once-choices button.once-choice:hover {background: var(--jp-layout-color2, rgba(128, 128, 128, .12))}
.once-choices button.once-choice.once-chosen {
  border: .15em solid var(--jp-content-font-color1, currentColor); padding: calc(.5em - .1em) calc(.8em - .1em);
  background: var(--jp-layout-color2, rgba(128, 128, 128, .12)); outline: none}
.once-choices button.once-choice:focus-visible {
  outline: .2em dashed var(--jp-content-font-color1, currentColor); outline-offset: .1em}
.once-choices .once-yours {font-weight: bold}
.once-choices .once-yours:empty {display: none}
"""


class Choices(anywidget.AnyWidget):
    """A named group of toggle buttons. Each press adds 1 to `presses`, also a press on what is chosen already.

    `choices` and `said` are HTML that the functions of helpers.show.markup made; the other texts are plain.
    """

    _esm = _ESM
    _css = _CSS
    label = traitlets.Unicode().tag(sync=True)
    language = traitlets.Unicode().tag(sync=True)
    choices = traitlets.List(traitlets.Unicode()).tag(sync=True)
    chosen = traitlets.Int(0, help="number of the choice, from 1; 0: none so far").tag(sync=True)
    yours = traitlets.Unicode().tag(sync=True)
    said = traitlets.Unicode().tag(sync=True)
    presses = traitlets.Int(0).tag(sync=True)
