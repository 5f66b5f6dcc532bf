// What is too faint in what the course shows: text, and graphics that carry a meaning.
//
// The contrast of two colours is that of WCAG 2.x: (L1 + 0.05) / (L2 + 0.05), with the relative luminance
// L = 0.2126 R + 0.7152 G + 0.0722 B of linear sRGB. Text needs 4.5, large text (24 px, or bold from 18.66 px) and
// graphics 3. axe-core knows neither SVG nor gradients nor pseudo-elements; this looks at them too.
// The ground of a letter is each background below it, transparent ones laid over what is under them; in a picture also
// the shapes drawn before it, and the halo around its letters.
([roots, without]) => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});

  const parsed = (css) => {
    const numbers = css.match(/^rgba?\(([^)]*)\)$/)?.[1].split(/[\s,/]+/).filter(Boolean).map(parseFloat);
    if (numbers) return [...numbers.slice(0, 3), numbers[3] ?? 1];
    const parts = css.match(/^color\(srgb ([^)]*)\)$/)?.[1].split(/[\s/]+/).filter(Boolean).map(parseFloat);
    if (parts) return [...parts.slice(0, 3).map((part) => part * 255), parts[3] ?? 1];
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = css;
    canvas.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data;
    return [red, green, blue, alpha / 255];
  };
  const over = ([r, g, b, a], ground) =>
    [r * a + ground[0] * (1 - a), g * a + ground[1] * (1 - a), b * a + ground[2] * (1 - a), 1];
  const linear = (part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const contrast = (one, other) => {
    const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  };
  const faded = (colour, alpha) => [...colour.slice(0, 3), colour[3] * alpha];

  // Each possible ground of an element's text: several where a gradient lies below it.
  const grounds = (element) => {
    const chain = [];
    for (let one = element; one; one = one.parentElement) chain.unshift(one);
    let found = [parsed(getComputedStyle(document.documentElement).colorScheme.includes('dark') ? '#121212' : '#fff')];
    for (const one of chain) {
      const style = getComputedStyle(one);
      const colour = parsed(style.backgroundColor);
      if (colour[3] > 0) found = found.map((ground) => over(colour, ground));
      const stops = style.backgroundImage.includes('gradient')
        ? style.backgroundImage.match(/(rgba?|color)\([^()]*\)|#[0-9a-f]{3,8}/gi) : null;
      if (stops) found = found.flatMap((ground) => stops.map((stop) => over(parsed(stop), ground)));
    }
    return found;
  };
  // What is painted over the background, from the outermost element with an opacity of its own.
  const opacity = (element) => {
    let product = 1;
    for (let one = element; one; one = one.parentElement) product *= parseFloat(getComputedStyle(one).opacity);
    return product;
  };
  const visible = (element) => {
    if (element.closest(without)) return false;
    if (!element.checkVisibility({visibilityProperty: true, contentVisibilityAuto: false})) return false;
    const {width, height} = element.getBoundingClientRect();
    // A part that only a screen reader gets has at most one pixel.
    return width > 1 && height > 1;
  };
  const middle = (box) => [box.left + box.width / 2, box.top + box.height / 2];
  const contains = (box, [x, y]) => box.left <= x && x <= box.right && box.top <= y && y <= box.bottom;

  // The shapes of a picture that are painted below a point of `element`, laid over `under`.
  const painted = (element, point, under) => {
    let ground = under;
    const picture = element.closest('svg');
    for (const shape of picture.querySelectorAll('rect, path, polygon, circle, ellipse')) {
      if (shape === element || !(shape.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING)) continue;
      if (shape.contains(element) || !visible(shape) || !contains(shape.getBoundingClientRect(), point)) continue;
      const style = getComputedStyle(shape);
      if (style.fill === 'none') continue;
      const inside = new DOMPoint(...point).matrixTransform(shape.getScreenCTM().inverse());
      if (!shape.isPointInFill(inside)) continue;
      ground = over(faded(parsed(style.fill), parseFloat(style.fillOpacity) * parseFloat(style.opacity)), ground);
    }
    return ground;
  };

  const problems = [];
  let texts = 0, graphics = 0, worst = 21;
  const judge = (what, element, colour, possible, needed) => {
    const ratios = possible.map((ground) => contrast(over(colour, ground), ground));
    const ratio = Math.min(...ratios);
    if (needed === 4.5) { texts += 1; worst = Math.min(worst, ratio); } else graphics += 1;
    if (ratio >= needed - 0.005) return;
    const words = (element.innerText ?? element.textContent ?? '').trim().replace(/\s+/g, ' ').slice(0, 50);
    const name = `${element.tagName.toLowerCase()}${element.getAttribute('class') ? '.' + element.classList[0] : ''}`;
    problems.push(`${what} ${ratio.toFixed(2)} < ${needed} (${name}): ${words}`);
  };
  const least = (style) => {
    const size = parseFloat(style.fontSize);
    return size >= 24 || (size >= 18.66 && parseInt(style.fontWeight) >= 700) ? 3 : 4.5;
  };

  const textOf = (element) => {
    const style = getComputedStyle(element);
    const inPicture = element instanceof SVGElement && element.closest('svg');
    if (!inPicture) {
      judge('text', element, faded(parsed(style.color), opacity(element)), grounds(element), least(style));
      return;
    }
    const colour = faded(parsed(style.fill), parseFloat(style.fillOpacity) * opacity(element));
    let ground = painted(element, middle(element.getBoundingClientRect()), grounds(inPicture)[0]);
    if (style.paintOrder.startsWith('stroke') && style.stroke !== 'none') ground = over(parsed(style.stroke), ground);
    judge('text in a picture', element, colour, [ground], 4.5);
  };

  const seen = new Set();
  for (const root of document.querySelectorAll(roots)) {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const element = node.parentElement;
      if (!node.data.trim() || seen.has(element) || !visible(element)) continue;
      if (['STYLE', 'SCRIPT', 'TITLE', 'DESC', 'OPTION'].includes(element.tagName.toUpperCase())) continue;
      seen.add(element);
      textOf(element);
    }
    for (const element of root.querySelectorAll('*')) {
      if (seen.has(element) && !(element instanceof HTMLElement)) continue;
      if (!visible(element)) continue;
      for (const pseudo of ['::before', '::after', '::marker']) {
        const style = getComputedStyle(element, pseudo);
        const shown = pseudo !== '::marker' && !['none', 'normal', '""'].includes(style.content);
        if (shown || (pseudo === '::marker' && element.tagName === 'LI'
            && getComputedStyle(element).listStyleType !== 'none')) {
          judge(pseudo, element, faded(parsed(style.color), opacity(element)), grounds(element), least(style));
        }
      }
      if (element.matches('input, textarea, select')) {
        const style = getComputedStyle(element);
        judge('value', element, faded(parsed(style.color), opacity(element)), grounds(element), least(style));
        if (element.placeholder) {
          const faint = getComputedStyle(element, '::placeholder');
          const alpha = parseFloat(faint.opacity) * opacity(element);
          judge('placeholder', element, faded(parsed(faint.color), alpha), grounds(element), least(style));
        }
      }
      if (element.matches('input:not([type=checkbox]), textarea, select, button')) {
        // What one can press or fill in is told from the page by its ground or by its edge (WCAG 1.4.11).
        const style = getComputedStyle(element);
        const around = grounds(element.parentElement)[0];
        const own = grounds(element)[0];
        const edge = parseFloat(style.borderTopWidth) > 0 && style.borderTopStyle !== 'none'
          ? over(parsed(style.borderTopColor), own) : around;
        if (contrast(edge, around) >= contrast(own, around)) judge('edge', element, edge, [around], 3);
        else judge('ground', element, own, [around], 3);
      }
      if (element instanceof SVGGeometryElement && !element.closest('[data-decoration]')) {
        const style = getComputedStyle(element);
        const box = element.getBoundingClientRect();
        const under = painted(element, [box.left, box.top], grounds(element.closest('svg'))[0]);
        const paints = ['fill', 'stroke'].filter((kind) => style[kind] !== 'none')
          .map((kind) => faded(parsed(style[kind]), parseFloat(style[`${kind}Opacity`]) * opacity(element)))
          .filter((paint) => paint[3] > 0);
        if (!paints.length) continue;
        paints.sort((a, b) => contrast(over(b, under), under) - contrast(over(a, under), under));
        judge('graphic', element, paints[0], [under], 3);
      }
    }
  }
  return {problems: [...new Set(problems)], texts, graphics, worst};
}
