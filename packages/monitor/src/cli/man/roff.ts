// Text for man: every letter of ours stays the letter that it is. In roff a backslash begins a command, a dot or a
// quote at the start of a line does, a bare dash becomes a hyphen that cannot be pasted, and only ASCII is safe.
const letters: Readonly<Record<string, string>> = {
  '\\': '\\e',
  '-': '\\-',
  "'": '\\(aq',
  '"': '\\(dq',
  '`': '\\(ga',
  '^': '\\(ha',
  '~': '\\(ti',
};

/** One line of text. What would break the line is a space. */
export function roff(text: string): string {
  const escaped = text
    .replaceAll(/\s/g, ' ')
    .replaceAll(/[\\\-'"`^~]/g, (letter) => letters[letter] ?? letter)
    .replaceAll(/[^ -~]/gu, (letter) => `\\[u${codeOf(letter)}]`);
  return escaped.startsWith('.') ? `\\&${escaped}` : escaped;
}

export function bold(text: string): string {
  return text === '' ? '' : `\\fB${roff(text)}\\fR`;
}

/** `[options] <key>`, `--ticket <id>`: what is written as it stands is bold, what is to be filled in is not. */
export function synopsis(text: string): string {
  return text
    .split(/([<[][^>\]]*[>\]])/)
    .map((part, index) => {
      if (index % 2 === 1) return `\\fI${roff(part)}\\fR`;
      const [before = '', word = '', after = ''] = part.split(/^(\s*)(.*?)(\s*)$/s).slice(1);
      return `${before}${bold(word)}${after}`;
    })
    .join('');
}

export function section(title: string): string {
  return `.SH "${roff(title.toUpperCase())}"`;
}

export function subsection(title: string): string {
  return `.SS "${roff(title)}"`;
}

export function paragraph(...lines: readonly string[]): string[] {
  return ['.PP', ...lines];
}

/** A term and what it means below it. `term` is roff already. */
export function entry(term: string, meaning: string): string[] {
  return ['.TP', term, roff(meaning)];
}

/** Lines as they stand. */
export function verbatim(lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['.PP', '.RS 4', '.EX', ...lines.map(roff), '.EE', '.RE'];
}

/** At least four digits, as groff and mandoc want them. */
function codeOf(letter: string): string {
  return (letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
}
