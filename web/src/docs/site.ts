import { findSections, type Hit, type SearchIndex, termsOf } from './find-sections.ts';

/** Search and the menu of narrow windows. The pages are readable without this script. */

function find<E extends Element>(selector: string, kind: new () => E): E {
  const found = document.querySelector(selector);
  if (!(found instanceof kind)) throw new Error(`There is no ${selector}`);
  return found;
}

const box = find('.search', HTMLElement);
const field = find('#search', HTMLInputElement);
const panel = find('.found', HTMLElement);
const status = find('.found p', HTMLElement);
const list = find('#hits', HTMLElement);
const menuButton = find('.menu-button', HTMLButtonElement);

let loading: Promise<SearchIndex> | undefined;
let hits: Hit[] = [];
let current = -1;

function loadIndex(): Promise<SearchIndex> {
  const address = document.querySelector<HTMLScriptElement>('script[data-index]')?.dataset.index ?? '';
  loading ??= fetch(address)
    .then((response) => {
      if (!response.ok) throw new Error(`status ${response.status}`);
      return response.json();
    })
    .catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
  return loading;
}

async function search(): Promise<void> {
  const query = field.value;
  if (termsOf(query).length === 0) return close();
  try {
    const index = await loadIndex();
    if (query === field.value) show(findSections(index, query), termsOf(query));
  } catch {
    status.textContent = 'The index could not be loaded. Try again.';
    open();
  }
}

function show(found: Hit[], terms: readonly string[]): void {
  hits = found;
  status.textContent =
    found.length === 0 ? 'No matches' : `${found.length} ${found.length === 1 ? 'match' : 'matches'}`;
  list.replaceChildren(...found.map((hit, index) => row(hit, index, terms)));
  choose(found.length > 0 ? 0 : -1);
  open();
}

function row(hit: Hit, index: number, terms: readonly string[]): HTMLElement {
  const item = document.createElement('li');
  item.id = `hit-${index}`;
  item.setAttribute('role', 'option');
  const link = document.createElement('a');
  link.href = hit.address;
  link.tabIndex = -1;
  const title = document.createElement('strong');
  title.append(...marked(hit.heading === '' ? hit.title : `${hit.title} › ${hit.heading}`, terms));
  const excerpt = document.createElement('span');
  excerpt.append(...marked(hit.excerpt, terms));
  link.append(title, excerpt);
  item.append(link);
  item.addEventListener('pointermove', () => choose(index));
  link.addEventListener('click', close);
  return item;
}

/** The text with the words of the query marked. */
function marked(text: string, terms: readonly string[]): Node[] {
  const pattern = new RegExp(`(${terms.map((term) => term.replace(/[^\p{L}\p{N}_]/gu, '')).join('|')})`, 'giu');
  return text.split(pattern).map((part, index) => {
    if (index % 2 === 0) return document.createTextNode(part);
    const mark = document.createElement('mark');
    mark.className = 'hit';
    mark.textContent = part;
    return mark;
  });
}

function choose(index: number): void {
  current = index;
  for (const [at, item] of [...list.children].entries()) item.setAttribute('aria-selected', String(at === index));
  if (index < 0) field.removeAttribute('aria-activedescendant');
  else field.setAttribute('aria-activedescendant', `hit-${index}`);
  list.children[index]?.scrollIntoView({ block: 'nearest' });
}

function open(): void {
  panel.hidden = false;
  field.setAttribute('aria-expanded', 'true');
}

function close(): void {
  panel.hidden = true;
  field.setAttribute('aria-expanded', 'false');
  choose(-1);
}

field.addEventListener('input', () => void search());
field.addEventListener('focus', () => void search());
field.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') {
    if (panel.hidden) field.value = '';
    close();
  } else if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && hits.length > 0 && !panel.hidden) {
    const step = event.key === 'ArrowDown' ? 1 : -1;
    choose((current + step + hits.length) % hits.length);
  } else if (event.key === 'Enter') {
    const hit = panel.hidden ? undefined : hits[current];
    if (hit === undefined) return void search();
    close();
    location.assign(hit.address);
  } else return;
  event.preventDefault();
});
document.addEventListener('keydown', (event) => {
  const isTyping =
    event.target instanceof HTMLElement && event.target.closest('input, textarea, [contenteditable]') !== null;
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  field.focus();
  field.select();
});
document.addEventListener('pointerdown', (event) => {
  if (event.target instanceof Node && !box.contains(event.target)) close();
});
menuButton.addEventListener('click', () => {
  const isOpen = document.body.classList.toggle('menu-open');
  menuButton.setAttribute('aria-expanded', String(isOpen));
});
box.hidden = false;
menuButton.hidden = false;
// The place in the menu is visible, however long the menu is.
document.querySelector('nav [aria-current]')?.scrollIntoView({ block: 'nearest' });
