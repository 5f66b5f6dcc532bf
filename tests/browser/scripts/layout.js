// What does not fit: parts that stick out of their output, and labels that are cut off.
(roots) => {
  const found = [], unreachable = [];
  const named = (element) => {
    const words = (element.innerText ?? element.textContent ?? '').trim().replace(/\s+/g, ' ').slice(0, 50);
    return `${element.tagName.toLowerCase()}.${element.getAttribute('class') ?? ''}: ${words}`;
  };
  // A frame that scrolls may hold something wide, if a learner without a mouse can scroll it.
  const frameOf = (element, root) => {
    for (let one = element.parentElement; one && root.contains(one); one = one.parentElement) {
      if (['auto', 'scroll'].includes(getComputedStyle(one).overflowX)) return one;
    }
    return null;
  };
  let parts = 0;
  for (const root of document.querySelectorAll(roots)) {
    if (!root.checkVisibility()) continue;
    const edge = Math.min(root.getBoundingClientRect().right, document.documentElement.clientWidth);
    for (const element of root.querySelectorAll('*')) {
      if (!element.checkVisibility({visibilityProperty: true})) continue;
      const {right, width, height} = element.getBoundingClientRect();
      if (width <= 1 || height <= 1) continue;
      parts += 1;
      if (element instanceof SVGElement && element.tagName !== 'svg') continue;
      const frame = frameOf(element, root);
      if (!frame && right > edge + 1) found.push(`sticks out by ${Math.round(right - edge)} px: ${named(element)}`);
      if (element.matches('button, summary, label, input')) {
        const style = getComputedStyle(element);
        const clips = style.overflowX !== 'visible' || style.overflowY !== 'visible' || element.matches('button');
        if (clips && (element.scrollWidth > element.clientWidth + 1 || element.scrollHeight > element.clientHeight + 1)) {
          found.push(`is cut off: ${named(element)}`);
        }
      }
      const scrolls = ['auto', 'scroll'].includes(getComputedStyle(element).overflowX)
        && element.scrollWidth > element.clientWidth + 1;
      if (scrolls && element.closest('[lang]') && element.tabIndex < 0 && !element.matches('textarea')) {
        unreachable.push(`scrolls only by mouse: ${named(element)}`);
      }
    }
  }
  return {problems: [...new Set(found)], unreachable: [...new Set(unreachable)], parts};
}
