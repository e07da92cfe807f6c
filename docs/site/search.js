// The search of the site, in the reader's browser. Nothing is sent anywhere. Without scripts the field is hidden.
// Set earlier in the file that the pages load.
const index = globalThis.searchIndex;
const MOST = 12;

const form = document.querySelector('form[role=search]');
const field = form.querySelector('input');
const list = form.querySelector('ul');
form.hidden = false;

field.addEventListener('input', () => show(find(field.value)));
form.addEventListener('submit', (event) => {
  event.preventDefault();
  list.querySelector('a')?.click();
});
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') show([]);
  if (event.key !== '/' || event.target === field) return;
  event.preventDefault();
  field.focus();
});

/** Entries with all the words: the guide first, then those that start with them, then the shorter ones. */
function find(asked) {
  const words = asked.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  return index
    .filter(([, text, page]) => words.every((word) => `${text} ${page}`.toLowerCase().includes(word)))
    .map((entry) => ({ entry, rank: rankOf(entry, asked.trim().toLowerCase()) }))
    .toSorted((one, other) => one.rank - other.rank)
    .slice(0, MOST)
    .map(({ entry }) => entry);
}

function rankOf([address, text], asked) {
  const at = text.toLowerCase().indexOf(asked);
  const isGuide = address.startsWith('guide/');
  return (at === -1 ? 2000 : at * 10) + text.length + (isGuide ? 0 : 1000);
}

function show(entries) {
  list.hidden = entries.length === 0;
  list.replaceChildren(
    ...entries.map(([address, text, page]) => {
      const item = document.createElement('li');
      const link = document.createElement('a');
      const where = document.createElement('span');
      link.href = form.dataset.root + address;
      link.textContent = text;
      where.textContent = page;
      link.append(where);
      item.append(link);
      return item;
    }),
  );
}
