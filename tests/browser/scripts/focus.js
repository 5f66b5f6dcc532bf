// What has the focus, and how the part that had it before looks without it.
() => {
  const looks = ['outlineStyle', 'outlineWidth', 'outlineColor', 'boxShadow', 'borderTopColor', 'backgroundColor'];
  const lookOf = (element) => {
    const style = getComputedStyle(element);
    const outlined = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1;
    // The colour and the kind of a line that has no width cannot be seen.
    return Object.fromEntries(looks.filter((name) => outlined || !name.startsWith('outline'))
      .map((name) => [name, style[name]]));
  };
  const before = window.onceFocused;
  const element = document.activeElement === document.body ? null : document.activeElement;
  window.onceFocused = element;
  return {
    tag: element?.tagName.toLowerCase() ?? '',
    words: (element?.innerText || element?.title || element?.getAttribute('aria-label') || '').trim().slice(0, 60),
    ours: Boolean(element?.closest('.jp-OutputArea-output')),
    chosen: element?.classList.contains('once-chosen') ?? false,
    cell: Number(element?.closest('.jp-Cell')?.dataset.windowedListIndex ?? -1),
    look: element ? lookOf(element) : {},
    before: before?.isConnected ? lookOf(before) : null,
  };
}
