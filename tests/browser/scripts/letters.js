// The size in pixels of each piece of text that the course shows, as it is drawn (pictures are scaled), in its order.
([roots, without]) => {
  const sizes = [];
  for (const root of document.querySelectorAll(roots)) {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const element = node.parentElement;
      if (!node.data.trim() || ['STYLE', 'SCRIPT'].includes(element.tagName)) continue;
      if (element.closest(without)) continue;
      if (!element.checkVisibility({visibilityProperty: true})) continue;
      const scale = element instanceof SVGElement ? Math.abs(element.getScreenCTM().a) : 1;
      const kind = element.closest('button') ? 'button' : element instanceof SVGElement ? 'picture' : 'text';
      sizes.push([parseFloat(getComputedStyle(element).fontSize) * scale, kind, node.data.trim().slice(0, 40)]);
    }
    for (const field of root.querySelectorAll('input:not([type=checkbox]), textarea, select')) {
      if (field.closest(without)) continue;
      sizes.push([parseFloat(getComputedStyle(field).fontSize), 'field', field.placeholder || field.value]);
    }
  }
  return sizes;
}
