'use strict';
(() => {
  const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));

  // Buttons exist only where they work: the page is whole without this script.
  const button = (bar, label, action) => {
    const made = document.createElement('button');
    made.type = 'button';
    made.textContent = label;
    made.addEventListener('click', () => action(made));
    bar.append(made);
    return made;
  };

  for (const section of all('section[data-folds]')) {
    const bar = document.createElement('div');
    bar.className = 'tools';
    section.querySelector('h2').after(bar);
    const folds = section.dataset.folds;
    button(bar, 'Open all', () => all(folds, section).forEach((each) => { each.open = true; }));
    button(bar, 'Fold all', () => all(folds, section).forEach((each) => { each.open = false; }));
    if (section.id !== 'timeline') continue;
    const filters = ['denied', 'failed'].map((kind) => {
      const made = button(bar, 'Only turns with ' + kind + ' calls', () => {
        const on = made.getAttribute('aria-pressed') !== 'true';
        filters.forEach((each) => each.setAttribute('aria-pressed', String(on && each === made)));
        section.classList.toggle('only-denied', on && kind === 'denied');
        section.classList.toggle('only-failed', on && kind === 'failed');
      });
      made.setAttribute('aria-pressed', 'false');
      if (!section.querySelector('.has-' + kind)) made.hidden = true;
      return made;
    });
  }

  // What is there to be pasted can be copied; where the browser allows no clipboard it is selected.
  for (const text of all('pre[data-copy]')) {
    const bar = document.createElement('div');
    bar.className = 'tools in';
    text.before(bar);
    const label = 'Copy the ' + text.dataset.copy;
    button(bar, label, (made) => {
      const select = () => {
        getSelection().selectAllChildren(text);
        made.textContent = 'Selected: copy it with the keyboard';
      };
      if (!navigator.clipboard) { select(); return; }
      navigator.clipboard.writeText(text.textContent).then(() => { made.textContent = 'Copied'; }, select);
    });
  }

  // A link to a place inside of something folded opens it.
  const reveal = () => {
    let id;
    try { id = decodeURIComponent(location.hash.slice(1)); } catch { return; }
    let place = id && document.getElementById(id);
    if (!place) return;
    for (let each = place; each; each = each.parentElement) if (each.tagName === 'DETAILS') each.open = true;
    place.scrollIntoView();
  };
  addEventListener('hashchange', reveal);
  reveal();

  // On paper the diff is open; what was folded before is folded again after.
  let opened = [];
  addEventListener('beforeprint', () => {
    opened = all('#changes details:not([open]), #denials details:not([open])');
    opened.forEach((each) => { each.open = true; });
  });
  addEventListener('afterprint', () => { opened.forEach((each) => { each.open = false; }); });
})();
