/* Fills the pages and starts reveal.js. What does not fit goes on on the next page; nothing is made smaller. */
(() => {
  'use strict';
  const texts = JSON.parse(document.getElementById('once-texts').textContent);
  const source = document.getElementById('once-source');
  const slides = document.querySelector('.reveal .slides');
  const measure = document.createElement('div');
  measure.className = 'once-measure';
  document.body.append(measure);
  const SMALLEST = 24;  // px; a class must read it from the last row
  const LARGER = [[40, '.867em'], [40, '26px'], [34, '26px']];  // px, and code; for a page with room to spare
  const ENOUGH = 0.3;  // a page that holds less than this part is filled up before a new one begins

  function newPage(title, continued) {
    const page = document.createElement('div');
    page.className = 'once-page';
    if (title) {
      const where = document.createElement('p');
      where.className = 'once-where';
      where.textContent = continued ? `${title} · ${texts.continued}` : title;
      page.append(where);
    }
    const body = document.createElement('div');
    body.className = 'once-body';
    page.append(body);
    measure.append(page);
    const style = getComputedStyle(page);
    body.room = page.clientHeight - parseFloat(style.paddingTop) - parseFloat(style.paddingBottom)
      - (title ? page.firstChild.getBoundingClientRect().height + 20 : 0);
    return body;
  }

  const fits = body => body.getBoundingClientRect().height <= body.room;
  const used = body => body.getBoundingClientRect().height / body.room;
  const onlyHeadings = body => [...body.children].every(child => /^H[1-6]$/.test(child.tagName));

  // The element whose children can stand on two pages; null where a cut would tear something apart.
  function parts(element) {
    if (element.tagName === 'TABLE') return element.tBodies[0] || null;
    if (/^(P|H[1-6]|svg|IMG|DETAILS|SUMMARY|TR|CAPTION|SPAN|CODE)$/.test(element.tagName)) return null;
    const text = [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim());
    return text || element.children.length === 0 ? null : element;
  }

  // An empty copy for the next page. A table takes its headings along, a list its count.
  function sequel(element) {
    const copy = element.cloneNode(false);
    copy.removeAttribute('id');
    if (element.tagName === 'TABLE') {
      if (element.caption) copy.append(element.caption.cloneNode(true));
      if (element.tHead) copy.append(element.tHead.cloneNode(true));
      copy.append(element.tBodies[0].cloneNode(false));
    }
    return copy;
  }

  // Cuts an element that is too long: leaves on the page what fits, and gives the rest (null: nothing fits).
  function cut(element, body) {
    const inner = parts(element);
    if (!inner) return null;
    const rest = sequel(element);
    const taken = element.tagName === 'TABLE' ? rest.tBodies[0] : rest;
    while (inner.lastElementChild && !fits(body)) taken.prepend(inner.lastElementChild);
    const first = taken.firstElementChild;
    if (first) {
      inner.append(first);
      const more = fits(body) ? null : cut(first, body);
      if (more) taken.prepend(more);
      else if (!fits(body)) taken.prepend(first);
    }
    if (element.tagName === 'PRE') backToSensibleLine(inner, taken);
    // A heading does not stay behind without what it announces.
    while (inner.lastElementChild && inner.children.length > 1 && isLabel(inner.lastElementChild))
      taken.prepend(inner.lastElementChild);
    if (!inner.children.length || (inner.children.length === 1 && isLabel(inner.firstElementChild))) {
      inner.append(...taken.children);
      return null;
    }
    if (element.tagName === 'OL' && !element.classList.contains('once-chain'))
      rest.start = (element.start || 1) + element.children.length;
    return taken.children.length ? rest : null;
  }

  const isLabel = element => /^(H[1-6])$/.test(element.tagName)
    || (element.tagName === 'P' && element.style.fontWeight === 'bold');

  // Code goes on where a new thought begins: after an empty line, else at a line that is not indented.
  function backToSensibleLine(inner, taken) {
    if (!taken.children.length) return;
    const lines = [...inner.children].map(line => line.textContent);
    const after = i => (i < lines.length ? lines[i] : taken.firstElementChild.textContent);
    const least = Math.max(2, Math.ceil(lines.length * (taken.children.length < 6 ? 0.3 : 0.5)));
    const choose = good => {
      for (let i = lines.length; i >= least; i--) if (good(i)) return i;
      return 0;
    };
    const end = choose(i => !lines[i - 1].trim() && /^\S/.test(after(i)))
      || choose(i => !lines[i - 1].trim()) || choose(i => /^[^\s)\]}]/.test(after(i))) || lines.length;
    while (inner.children.length > end) taken.prepend(inner.lastElementChild);
    while (inner.children.length > 1 && !inner.lastElementChild.textContent.trim()) inner.lastElementChild.remove();
    while (taken.children.length > 1 && !taken.firstElementChild.textContent.trim()) taken.firstElementChild.remove();
  }

  // Pictures: letters of at least 24 px, and no taller than the page if the letters allow it.
  function sizePictures(element, body) {
    const found = element.matches('svg') ? [element] : [...element.querySelectorAll('svg')];
    for (const svg of found) {
      const box = svg.viewBox.baseVal;
      const letters = [...svg.querySelectorAll('text, tspan')].filter(text => text.textContent.trim());
      if (!box || !box.width || !letters.length) continue;
      const smallest = Math.min(...letters.map(text => parseFloat(getComputedStyle(text).fontSize)));
      const shown = svg.getBoundingClientRect().width / box.width;
      const least = SMALLEST / smallest;
      const across = body.getBoundingClientRect().width / box.width;
      const down = (body.room - 140) / box.height;
      const scale = Math.max(least, Math.min(shown, across, down));
      svg.style.maxWidth = 'none';
      svg.style.width = `${box.width * scale}px`;
      svg.style.height = `${box.height * scale}px`;
    }
  }

  function scroll(element) {
    element.classList.add('once-scroll');
    element.tabIndex = 0;
    element.style.maxHeight = `${element.closest('.once-body').room - 60}px`;
    const more = document.createElement('p');
    more.className = 'once-more';
    more.textContent = `${texts.more} ↓`;
    element.after(more);
  }

  function fill(blocks, title, first) {
    const pages = [];
    const heading = blocks[0] && /^H[1-6]$/.test(blocks[0].tagName);
    let body = newPage(heading && first ? '' : title, false);
    const queue = [...blocks];
    const turn = () => {
      pages.push(body.parentElement);
      body = newPage(title, true);
    };
    while (queue.length) {
      const block = queue.shift();
      if (!body.children.length) block.classList.remove('fragment');
      body.append(block);
      sizeTables(block, body);
      sizePictures(block, body);
      if (fits(body)) continue;
      const alone = body.children.length === 1;
      block.remove();
      const before = used(body);
      body.append(block);
      const whole = !alone && fitsAlone(block, title);
      if (!alone && !onlyHeadings(body) && whole && before > ENOUGH) {
        block.remove();
        const lead = body.lastElementChild;
        const follows = body.children.length > 1 && /^(P|H[1-6])$/.test(lead.tagName)
          && !/^(P|H[1-6])$/.test(block.tagName) && lead.textContent.length < 200;
        if (follows) lead.remove();
        turn();
        queue.unshift(...(follows ? [lead, block] : [block]));
        continue;
      }
      const rest = cut(block, body);
      if (rest) {
        turn();
        queue.unshift(rest);
      } else if (alone || (onlyHeadings(body) && !whole)) {
        scroll(block);
      } else {
        block.remove();
        turn();
        queue.unshift(block);
      }
    }
    if (body.children.length) pages.push(body.parentElement);
    return pages;
  }

  // Larger letters where there is room, and no line of code breaks because of them.
  function grow(page) {
    const body = page.querySelector('.once-body');
    const lines = () => [...page.querySelectorAll('pre')].reduce((sum, pre) => sum
      + [...pre.children].filter(line => line.getBoundingClientRect().height
        > 1.5 * parseFloat(getComputedStyle(line).lineHeight)).length, 0);
    const broken = lines();
    if (page.querySelector('.once-scroll')) return;
    const tooWide = () => [...page.querySelectorAll('table, svg')]
      .some(e => e.getBoundingClientRect().right > body.getBoundingClientRect().right + 1);
    for (const [letters, code] of LARGER) {
      page.style.fontSize = `${letters}px`;
      page.style.setProperty('--once-code-size', code);
      if (fits(body) && lines() <= broken && !tooWide()) return;
    }
    page.style.fontSize = '';
    page.style.removeProperty('--once-code-size');
  }

  // A table that is wider than the page: less air, then words that may break.
  function sizeTables(element, body) {
    const found = element.matches('table') ? [element] : [...element.querySelectorAll('table')];
    const tooWide = table => table.getBoundingClientRect().right > body.getBoundingClientRect().right + 1;
    for (const table of found)
      for (const name of ['once-tight', 'once-broken']) if (tooWide(table)) table.classList.add(name);
  }

  function fitsAlone(block, title) {
    const body = newPage(title, true);
    body.append(block.cloneNode(true));
    const result = fits(body);
    body.parentElement.remove();
    return result;
  }

  for (const step of source.children) {
    const stack = document.createElement('section');
    const {step: name, title} = step.dataset;
    const pages = [...step.children].flatMap((part, i) => fill([...part.children], title, i === 0));
    pages.forEach(grow);
    for (const page of pages) {
      const slide = document.createElement('section');
      slide.dataset.step = name;
      slide.append(page);
      stack.append(slide);
    }
    slides.append(stack);
  }
  measure.remove();
  source.remove();

  const label = (selector, text) => document.querySelectorAll(selector).forEach(e => e.setAttribute('aria-label', text));
  Reveal.initialize({
    width: 1920, height: 1080, margin: 0, minScale: 0.1, maxScale: 4, center: false, hash: true, transition: 'none',
    controlsTutorial: false, slideNumber: 'c/t', help: false, jumpToSlide: false, backgroundTransition: 'none',
  }).then(() => {
    label('.controls .navigate-left', texts.previous);
    label('.controls .navigate-right', texts.next);
    label('.controls .navigate-up', texts.up);
    label('.controls .navigate-down', texts.down);
    const resume = document.querySelector('.pause-overlay .resume-button');
    if (resume) resume.textContent = texts.resume;
    Reveal.addKeyBinding({keyCode: 68, key: 'D'}, () => document.documentElement.classList.toggle('once-dark'));
    document.documentElement.dataset.onceReady = 'true';
  });
})();
