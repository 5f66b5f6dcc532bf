/* S opens a window with the teacher's notes. It follows the slides and works from a file, without a server. */
(() => {
  'use strict';
  const texts = JSON.parse(document.getElementById('once-texts').textContent);
  const style = `body{font:20px/1.45 sans-serif;margin:1.2em;max-width:50em;color:#111;background:#fff}
    h1{font-size:1.4em;margin:0}li{margin:.4em 0}code{background:#eee}.right{color:#1e6b22}.wrong{color:#b3261e}
    #time{border-bottom:1px solid #999;padding-bottom:.4em}#next{border-top:1px solid #999;padding-top:.4em}`;
  let view = null;
  let began = 0;

  const notesOf = slide => slide && [...document.querySelectorAll('template.once-notes')]
    .find(template => template.dataset.step === slide.dataset.step);

  function show() {
    if (!view || view.closed) return;
    const page = view.document;
    const slide = Reveal.getCurrentSlide();
    const place = page.getElementById('notes');
    place.replaceChildren();
    const template = notesOf(slide);
    if (template) place.append(page.importNode(template.content, true));
    else place.textContent = texts.none;
    const stack = slide.parentElement.nextElementSibling;
    const upcoming = stack && notesOf(stack.querySelector('section'));
    page.getElementById('next').textContent = upcoming
      ? `${texts.upcoming} → ${upcoming.content.querySelector('h1').textContent}` : '';
    tick();
  }

  function tick() {
    if (!view || view.closed) return;
    const minutes = Math.floor((Date.now() - began) / 60000);
    view.document.getElementById('time').textContent
      = `${texts.clock.replace('{minutes}', minutes)} · ${texts.planned}`;
  }

  function open() {
    view = window.open('', 'once-notes', 'width=900,height=900');
    if (!view) {
      alert(texts.blocked);
      return;
    }
    began = began || Date.now();
    const page = view.document;
    page.documentElement.lang = document.documentElement.lang;
    page.title = texts.notes;
    page.head.innerHTML = `<meta charset="utf-8"><style>${style}</style>`;
    page.title = texts.notes;
    page.body.innerHTML = '<p id="time"></p><main id="notes"></main><p id="next"></p>';
    page.onkeydown = event => {
      const keys = {ArrowRight: 'right', ArrowLeft: 'left', ArrowUp: 'up', ArrowDown: 'down', ' ': 'next',
        PageDown: 'next', PageUp: 'prev'};
      if (!keys[event.key]) return;
      event.preventDefault();
      Reveal[keys[event.key]]();
    };
    show();
  }

  Reveal.addKeyBinding({keyCode: 83, key: 'S'}, open);
  Reveal.on('slidechanged', show);
  window.setInterval(tick, 5000);
})();
