"""What is asked of the notebook that is open: JavaScript for the page, which knows it as `window.jupyterapp`."""

from __future__ import annotations

KERNEL_IDLE = """() => {
  const kernel = window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel;
  return kernel?.status === 'idle' && kernel?.connectionStatus === 'connected';
}"""

KERNEL_STATE = """() => {
  const kernel = window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel;
  return kernel ? `${kernel.status}, ${kernel.connectionStatus}` : 'no kernel';
}"""

# Nothing is running and each cell with code has a number; or a cell failed, and the rest will not run.
FINISHED = """() => {
  let numbered = 0;
  for (const cell of window.jupyterapp.shell.currentWidget.content.model.cells) {
    if (cell.type !== 'code' || cell.sharedModel.getSource().trim() === '') continue;
    for (let i = 0; i < cell.outputs.length; i++) if (cell.outputs.get(i).type === 'error') return true;
    if (cell.executionCount === null || cell.executionState === 'running') return false;
    numbered += 1;
  }
  return numbered > 0;
}"""

FAILED_CELLS = """() => {
  const failed = [];
  for (const cell of window.jupyterapp.shell.currentWidget.content.model.cells) {
    if (cell.type !== 'code') continue;
    for (let i = 0; i < cell.outputs.length; i++) {
      const output = cell.outputs.get(i).toJSON();
      if (output.output_type === 'error') failed.push(cell.id + ': ' + output.ename + ': ' + output.evalue);
    }
  }
  return failed;
}"""

# Both promises can stay open for ever, so they are not waited for longer than this: the kernel's state is asked after.
_AT_MOST = "new Promise(done => setTimeout(done, 10000))"
RESTART = f"""async () => {{
  const {{sessionContext}} = window.jupyterapp.shell.currentWidget;
  await Promise.race([sessionContext.session.kernel.restart(), {_AT_MOST}]);
}}"""

CLEAR = "async () => window.jupyterapp.commands.execute('notebook:clear-all-cell-outputs')"

RECONNECT = f"""async () => {{
  const {{kernel}} = window.jupyterapp.shell.currentWidget.sessionContext.session;
  await Promise.race([kernel.reconnect(), {_AT_MOST}]);
}}"""

# As when a network or a proxy closes the connection; the page is to be offline, or it connects again at once.
CUT = "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel._ws.close()"

# As when a connection is dead and nobody has noticed: what the page sends is lost without an error.
LOSE = """() => {
  window.jupyterapp.shell.currentWidget.sessionContext.session.kernel._ws.send = () => {};
}"""
LOSE_NO_MORE = "() => { delete window.jupyterapp.shell.currentWidget.sessionContext.session.kernel._ws.send; }"

# The connection is alive again, and this is pressed before anything is sent once more.
LOSE_NO_MORE_AND_PRESS = f"""(element) => {{ ({LOSE_NO_MORE})(); element.click(); }}"""

# What the tab keeps until a kernel has saved it.
LEFT_IN_TAB = "() => Object.keys(sessionStorage).filter((key) => key.startsWith('once:'))"

# A second view of the cell's output, in a tab of its own.
SECOND_VIEW = """async () => {
  const {commands, shell} = window.jupyterapp;
  const notebook = shell.currentWidget;
  await commands.execute('notebook:create-output-view');
  shell.activateById(notebook.id);
}"""
CLOSE_SECOND_VIEWS = """() => {
  const {shell} = window.jupyterapp;
  for (const one of [...shell.widgets('main')]) if (one !== shell.currentWidget) one.dispose();
}"""

START_CELL = """(wanted) => {
  const {content} = window.jupyterapp.shell.currentWidget;
  const index = [...content.model.cells].findIndex(cell => cell.id === wanted);
  if (index < 0) throw new Error('no cell ' + wanted);
  content.deselectAll();
  content.activeCellIndex = index;
  window.onceEnded = window.onceEnded || {};
  window.onceEnded[wanted] = false;
  window.jupyterapp.commands.execute('notebook:run-cell').then(() => { window.onceEnded[wanted] = true; });
}"""

CELL_ENDED = "(wanted) => window.onceEnded?.[wanted]"

CELL_STATE = """(wanted) => {
  const {content, sessionContext} = window.jupyterapp.shell.currentWidget;
  const cell = [...content.model.cells].find((one) => one.id === wanted);
  const kernel = sessionContext.session?.kernel;
  return `cell ${cell?.executionState}, number ${cell?.executionCount}; ` +
    `kernel ${kernel?.status}, ${kernel?.connectionStatus}; dialogs ${document.querySelectorAll('.jp-Dialog').length}`;
}"""

INDEX_OF = """(wanted) => {
  const {content} = window.jupyterapp.shell.currentWidget;
  return [...content.model.cells].findIndex(cell => cell.id === wanted);
}"""

OPEN = """async (path) => {
  const {commands, shell} = window.jupyterapp;
  const opened = await commands.execute('docmanager:open', {path});
  await opened.context.ready;
  shell.activateById(opened.id);
}"""

ACTIVATE = """(wanted) => {
  const {content} = window.jupyterapp.shell.currentWidget;
  content.activeCellIndex = [...content.model.cells].findIndex((cell) => cell.id === wanted);
  content.mode = 'command';
  content.activeCell.node.focus();
}"""

EXECUTION_COUNT = """(wanted) =>
  [...window.jupyterapp.shell.currentWidget.content.model.cells].find((cell) => cell.id === wanted).executionCount"""

DRAW_EVERYTHING = """() => {
  const {content} = window.jupyterapp.shell.currentWidget;
  content.notebookConfig = {...content.notebookConfig, windowingMode: 'none'};
}"""

# A cell's promise `ready` can stay open for ever when the cell was drawn before; this is what the notebook asks itself.
DRAWN = """() => {
  const {widgets} = window.jupyterapp.shell.currentWidget.content;
  return widgets.every((cell) => !cell.isPlaceholder() && cell.node.isConnected);
}"""

WHOLE_WINDOW = """async (theme) => {
  const {commands, shell} = window.jupyterapp;
  shell.collapseLeft();
  shell.collapseRight();
  await commands.execute('apputils:change-theme', {theme});
}"""
