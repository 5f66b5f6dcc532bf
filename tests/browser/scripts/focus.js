// How the focused part of the page looks: what may tell it from the others, and where it is.
() => {
  const element = document.activeElement;
  if (!element || element === document.body) return null;
  const style = getComputedStyle(element);
  const looks = ['outlineStyle', 'outlineWidth', 'outlineColor', 'boxShadow', 'borderTopColor', 'backgroundColor'];
  const {top, bottom, height} = element.getBoundingClientRect();
  return {
    tag: element.tagName.toLowerCase(),
    role: element.getAttribute('role') ?? '',
    words: (element.innerText || element.title || element.getAttribute('aria-label') || '').trim().slice(0, 60),
    ours: Boolean(element.closest('.jp-OutputArea-output')),
    cell: element.closest('.jp-Cell')?.dataset.windowedListIndex ?? null,
    inView: bottom > 0 && top < innerHeight && height > 0,
    outlined: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1,
    look: Object.fromEntries(looks.map((name) => [name, style[name]])),
  };
}
