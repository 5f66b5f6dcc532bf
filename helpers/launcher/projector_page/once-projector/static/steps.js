/* Keys for a presenter: the next step stands at the top of the screen; light and dark theme.
 *
 * JupyterLab's own keys for headings bring a cell into view at any height. This is an extension in the form that
 * JupyterLab loads (a container of module federation, written by hand: it shares nothing). */
(() => {
  'use strict';
  const HOLD = 1000;  // ms
  const THEMES = {L: 'JupyterLab Light', D: 'JupyterLab Dark'};

  function go(app, direction) {
    const notebook = app.shell.currentWidget && app.shell.currentWidget.content;
    if (!notebook || !notebook.widgets) return;
    const begins = cell => cell.model.type === 'markdown' && /^#{1,3} /m.test(cell.model.sharedModel.getSource());
    // From what stands at the top, because the presenter may have scrolled since.
    const top = notebook.widgets[0].node.closest('.jp-WindowedPanel-outer').getBoundingClientRect().top;
    const place = cell => cell.node.getBoundingClientRect().top - top;
    const steps = notebook.widgets.filter(begins);
    const next = direction > 0
      ? steps.find(cell => place(cell) > 40)
      : steps.filter(cell => place(cell) < -40).pop();
    if (!next) return;
    notebook.mode = 'command';
    notebook.activeCellIndex = notebook.widgets.indexOf(next);
    hold(next, place);
  }

  let held = null;
  for (const kind of ['wheel', 'keydown', 'pointerdown'])
    window.addEventListener(kind, () => { held = null; }, {capture: true, passive: true});

  // The notebook brings the cell into view in its own way, a moment later, and what is above may still grow.
  function hold(cell, place) {
    const end = performance.now() + HOLD;
    held = cell;
    const again = () => {
      if (held !== cell) return;
      if (Math.abs(place(cell)) > 12) cell.node.scrollIntoView({block: 'start'});
      if (performance.now() < end) requestAnimationFrame(again);
    };
    again();
  }

  const plugin = {
    id: 'once-projector:steps',
    autoStart: true,
    activate: app => {
      const selector = 'body';
      app.commands.addCommand('once:next-step', {execute: () => go(app, 1)});
      app.commands.addCommand('once:previous-step', {execute: () => go(app, -1)});
      app.commands.addKeyBinding({command: 'once:next-step', keys: ['PageDown'], selector});
      app.commands.addKeyBinding({command: 'once:previous-step', keys: ['PageUp'], selector});
      for (const [key, theme] of Object.entries(THEMES)) {
        app.commands.addKeyBinding({
          command: 'apputils:change-theme', args: {theme}, keys: [`Ctrl Alt ${key}`], selector,
        });
      }
    },
  };

  window._JUPYTERLAB = window._JUPYTERLAB || {};
  window._JUPYTERLAB['once-projector'] = {
    init: async () => {},
    get: async () => () => ({__esModule: true, default: plugin}),
  };
})();
