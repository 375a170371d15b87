// Elements are made of text only, so that nothing that the cluster says can become markup.

/**
 * An element with attributes and children; a child that is a string is text.
 * @param {string} tag
 * @param {Record<string, string | undefined>} attributes
 * @param {(Node | string)[]} children
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** A state's word in its colour. */
export function pill({ word, tone }) {
  return element('span', { class: `pill ${tone}` }, word);
}

/**
 * Makes the children of a parent those of a list, in its order. What was there stays the same element, so that the focus stays too.
 * @param {Element} parent
 * @param {{ key: string, draw: (element: HTMLElement) => void }[]} items
 * @param {() => HTMLElement} make an empty one
 */
export function keep(parent, items, make) {
  const before = new Map([...parent.children].map((child) => [child.dataset.key, child]));
  let at = parent.firstElementChild;
  for (const { key, draw } of items) {
    const child = before.get(key) ?? make();
    child.dataset.key = key;
    before.delete(key);
    draw(child);
    if (child === at) at = at.nextElementSibling;
    else parent.insertBefore(child, at);
  }
  for (const child of before.values()) child.remove();
}

/** Draws anew only where what is shown has changed. */
export function redraw(child, shown, draw) {
  const text = JSON.stringify(shown);
  if (child.shown === text) return;
  child.shown = text;
  draw(child);
}

/** RFC 3339 → the reader's own time. */
export function when(time) {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? String(time ?? '') : date.toLocaleString();
}
