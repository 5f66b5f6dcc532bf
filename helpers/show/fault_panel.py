"""The fault controls of a lesson as a panel: one button per fault, with what it is in the real world.

Each button calls the plain method of `lab.faults` that is printed beside it. The panel shows which faults are
armed, also when one has just fired, and the error when a call fails. Above the faults stand the demonstrations, which
a presenter plays step by step.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import ipywidgets

from helpers.lab.faults import ArmedFault, LabFaults
from helpers.lab.language import _, labelled
from helpers.show.bundle import bundle
from helpers.show.callbacks import left_out_at_the_end, shown_errors
from helpers.show.fault_controls import DISARM_ALL, Control, Group, controls, groups
from helpers.show.markup import Table, box, code, heading, page, paragraph, plain, prose, sign, without_marks

if TYPE_CHECKING:
    from helpers.lab.presets import Counted, Preset
    from helpers.show.fault_widget import PanelWidget

__all__ = ["FaultPanel", "controls"]

_PATIENCE = 0.05
"""Seconds. Faults that fire together are shown together."""


class FaultPanel:
    """The panel. Show it in a cell, or call `press(method)` as a button does."""

    def __init__(self, faults: Callable[[], LabFaults]) -> None:
        """`faults` gives the faults of the account that is open now: `lab.reset()` opens another one."""
        self._faults = faults
        self._live: LivePanel | None = None
        self._lock = threading.Lock()
        self._pending = False

    @property
    def live(self) -> LivePanel:
        """The live panel, made when it is first asked for."""
        if self._live is None:
            self._live = LivePanel(self._faults)
        return self._live

    @property
    def widget(self) -> ipywidgets.Widget:
        return self.live.widget

    def show_armed(self) -> None:
        """Bring the live panel up to date, if there is one. May be called from any thread."""
        if self._live is not None:
            self._live.show_armed()

    def start_over(self) -> None:
        """Show a fresh account: no fault is armed, and no demonstration has begun."""
        if self._live is not None:
            self._live.widget.show(said={}, scene={})
            self._live.show_armed()

    def show_armed_soon(self) -> None:
        """The same from another thread, once for all that happens at this moment: whoever calls must not wait."""
        with self._lock:
            if self._pending or self._live is None:
                return
            self._pending = True
        timer = threading.Timer(_PATIENCE, left_out_at_the_end(self._show_now))
        timer.daemon = True
        timer.start()

    def press(self, method: str, number: int | None = None) -> None:
        """Press the button of a control, as the mouse or the keyboard does."""
        self.live.press(method, number)

    def text(self) -> str:
        return "\n\n".join(table.text() for table in self._tables())

    def html(self) -> str:
        return page(table.html() for table in self._tables())

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return bundle(self, self.live.root)

    def _show_now(self) -> None:
        with self._lock:
            self._pending = False
        self.show_armed()

    def _tables(self) -> list[Table]:
        faults = self._faults()
        heads = [_("Fault"), _("What happens in the real world"), _("Call")]
        tables = [Table(group.heading, heads, _rows(group.controls)) for group in _groups(faults)]
        (clear,) = controls([DISARM_ALL])
        shown = [
            [plain(preset.title), prose(preset.watch), prose(preset.proof), code(preset.call)]
            for preset in faults.presets()
        ]
        heads = [_("Demonstration"), _("What to look at"), _("What proves the guard right"), _("Call")]
        demonstrations = Table(_("Demonstrations"), heads, shown)
        return [
            Table(_("Fault controls"), [_("At any time"), *tables[0].headers[1:]], _rows([clear])),
            demonstrations,
            *tables,
        ]


class LivePanel:
    """What the live panel shows, and what its buttons do."""

    def __init__(self, faults: Callable[[], LabFaults]) -> None:
        from helpers.show.fault_widget import PanelWidget

        self._faults = faults
        now = faults()
        self._controls = {control.method: control for control in controls(now.offered)}
        self.widget: PanelWidget = PanelWidget(
            words=_words(),
            groups=[_group(group) for group in _groups(now)],
            presets=[_preset(preset) for preset in now.presets()],
        )
        # anywidget takes the listeners of the base view away, and with them the sign that the kernel is gone, which
        # kept.py looks for: a box of ipywidgets around it has that sign.
        self.root = ipywidgets.VBox([self.widget], layout=ipywidgets.Layout(overflow="visible"))
        self.widget.on_entry(self._pressed, answer_first=True)
        self._playing: threading.Thread | None = None
        self.show_armed()

    def show_armed(self) -> None:
        """Read which faults are armed and write it into the panel. May be called from any thread."""

        @shown_errors(lambda html: self._show_said(DISARM_ALL, html))
        def show() -> None:
            self.widget.show(armed=[_armed(fault) for fault in self._faults().armed()])

        show()

    def press(self, method: str, number: int | None = None) -> None:
        """What the button of a fault does. What came of it, an error too, is shown where the button is."""

        @shown_errors(lambda html: self._show_said(method, html))
        def press() -> None:
            control = self._controls[method]
            call = getattr(self._faults(), method)
            result = call(control.number.first if number is None else number) if control.number else call()
            self._show_said(method, _done(_("Done: {control}").format(control=control.label), str(result)))
            self.show_armed()

        press()

    def cancel(self, number: int) -> None:
        """What the button beside an armed fault does."""

        @shown_errors(lambda html: self._show_said(DISARM_ALL, html))
        def cancel() -> None:
            self._show_said(DISARM_ALL, _done(_("Disarmed"), str(self._faults().cancel(number))))

        cancel()
        # Also after an error: it fired meanwhile, and the list was an old one.
        self.show_armed()

    def play(self, name: str, act: str) -> None:
        """What a button of a demonstration does: "next" (the first time: begin), "end" or "bare".

        It returns at once: a wait must not keep another button, "Disarm all" above all, from being heard.
        """
        if self._playing is not None and self._playing.is_alive():
            return
        self._playing = threading.Thread(target=self._play, args=(name, act), name="demonstration", daemon=True)
        self._playing.start()

    def wait(self, timeout: float) -> None:
        """Wait at most `timeout` seconds until the demonstration has done what was asked for."""
        if self._playing is not None:
            self._playing.join(timeout)

    # --- inside ---------------------------------------------------------------------------------------

    def _play(self, name: str, act: str) -> None:
        said: list[str] = []
        preset: Preset | None = None

        @shown_errors(said.append)
        def play() -> None:
            nonlocal preset
            preset = self._faults().preset(name)
            try:
                act_on(preset)
            except Exception:
                self._faults()  # says so when the account was closed meanwhile
                raise

        def act_on(preset: Preset) -> None:
            if act == "bare":
                self._show_scene(preset, busy=True)
                found = preset.without_guard()
                self._show_scene(preset, said=_counted(preset, preset.count(), found.effects))
                return
            while True:
                notice = preset.go_on() if preset.left else preset.arm()
                # At once, and again when all is at rest: a class watches it happen.
                # Translators: the heading of what a step of a demonstration has just done.
                now = _("This step")
                self._show_scene(preset, busy=True, said=_done(now, notice.text))
                self.show_armed()
                preset.settle()
                if act != "end" or not preset.left:
                    break
            self._show_scene(preset, said=_counted(preset, preset.count()))
            self.show_armed()

        play()
        if said and preset is not None:
            self._show_scene(preset, said=said[-1])
        elif said:
            self.widget.show(scene={"name": name, "done": 0, "left": 0, "busy": False, "said": said[-1]})

    def _show_scene(self, preset: Preset, said: str = "", busy: bool = False) -> None:
        shown = {"name": preset.name, "done": preset.done, "left": preset.left, "busy": busy}
        self.widget.show(scene={**shown, "said": said})

    def _show_said(self, method: str, html: str) -> None:
        self.widget.show(said={"at": method, "html": html})

    def _pressed(self, content: dict[str, Any]) -> None:
        """A message of the page."""
        if "preset" in content:
            self.play(str(content["preset"]), str(content.get("act")))
        elif "cancel" in content:
            self.cancel(content["cancel"])
        else:
            self.press(str(content["method"]), content.get("number"))


def _groups(faults: LabFaults) -> list[Group]:
    return groups(faults.offered, faults.opened)


def _rows(shown: Sequence[Control]) -> list[list[Any]]:
    return [[plain(item.label), prose(item.sentence), code(item.call)] for item in shown]


def _words() -> dict[str, str]:
    """The texts of the page that are not of one fault."""
    # It brings anywidget, which only a live page needs.
    from helpers.show.delivered import unheard

    (clear,) = controls([DISARM_ALL])
    return {
        "title": _("Fault controls"),
        "disarm": clear.label,
        "disarm-sentence": without_marks(clear.sentence),
        "none": _("No fault is armed."),
        "armed": _("Armed faults"),
        "count": labelled(_("Armed faults"), "{count}"),
        # Translators: a short button beside one armed fault.
        "disarm-one": _("Disarm"),
        "demonstrations": _("Demonstrations"),
        "begin": _("Begin"),
        "next": _("Next step"),
        "again": _("Begin again"),
        "end": _("Play to the end"),
        "bare": _("The same without a guard"),
        # Translators: a mark before a step of a demonstration: this step was played.
        "done": labelled(_("done"), ""),
        # Translators: a mark before a step of a demonstration: this step is played at the next press.
        "now": labelled(_("next"), ""),
        "unheard": unheard(),
    }


def _group(group: Group) -> dict[str, Any]:
    return {
        "id": group.id,
        "heading": group.heading,
        "opened": group.opened,
        "controls": [_control(control) for control in group.controls],
    }


def _control(control: Control) -> dict[str, Any]:
    number = control.number
    return {
        "method": control.method,
        "label": control.label,
        "tooltip": without_marks(control.sentence),
        "sentence": prose(control.sentence).html,
        "call": code(control.call).html,
        "number": number
        and {
            "name": number.name,
            "words": number.words,
            "aloud": labelled(control.label, number.words),
            "first": number.first,
            "least": number.least,
            "most": number.most,
        },
    }


def _preset(preset: Preset) -> dict[str, Any]:
    return {
        "name": preset.name,
        "title": preset.title,
        "steps": [prose(step).html for step in preset.steps],
        "watch": prose(labelled(f"**{_('What to look at')}**", preset.watch)).html,
        "proof": prose(labelled(f"**{_('What proves the guard right')}**", preset.proof)).html,
        "call": code(preset.call).html,
        "bare": preset.has_bare,
    }


def _armed(fault: ArmedFault) -> dict[str, Any]:
    words = fault.description
    disarm = labelled(_("Disarm"), words)
    return {"number": fault.number, "words": words, "count": fault.count, "holding": fault.holding, "disarm": disarm}


def _done(title: str, text: str) -> str:
    said = f"{sign('✓')}<strong>{plain(title).html}</strong>"
    return page([box("good", said + paragraph(prose(text)), live=True)])


def _counted(preset: Preset, counted: Counted, bare: int | None = None) -> str:
    """What became of the order so far, read back from the journal; and what becomes of one without a guard."""
    boxes = []
    if counted.order:
        title = heading(_("Counted so far")) if preset.left else heading(_("Counted at the end"))
        own, *more = counted.sentences()
        if counted.accepted > 1:
            more.append(_("The order was written more than once: this worker has no guard that holds."))
        elif counted.unfired:
            more.append(_("So this demonstration proves nothing. Begin it again."))
        mark = _mark(counted.accepted, bool(counted.unfired))
        boxes.append(_judged(mark, own, title, "".join(paragraph(prose(text)) for text in more)))
    if bare is not None:
        boxes.append(_judged(_mark(bare), dataclasses.replace(counted, without_guard=bare).sentences()[-1]))
    return page(boxes)


def _mark(accepted: int, unproved: bool = False) -> str:
    """The sign of a count of accepted writes; `unproved`: a fault was to make it difficult, and did not."""
    if accepted > 1:
        return "✗"
    return "○" if unproved else "✓"


def _judged(mark: str, sentence: str, before: str = "", after: str = "") -> str:
    tone = {"✓": "good", "○": "open", "✗": "bad"}[mark]
    return box(tone, f"{before}{sign(mark)}{prose(sentence).html}{after}", live=True)
