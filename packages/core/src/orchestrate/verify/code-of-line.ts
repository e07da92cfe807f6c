// Splits one line into its code, with the insides of texts left out, and its comment. A line by itself does not say
// whether it is inside a long comment or a long text; what looks like the middle of a block comment is one.
import type { Language } from './file-kind.ts';

export type LineParts = {
  /** Without comment, and with every quoted text empty: `it.skip('', () => {`. */
  code: string;
  comment: string;
};

const hashComments = new Set<Language>(['python', 'ruby', 'elixir', 'shell', 'other']);

export function partsOfLine(text: string, language: Language): LineParts {
  const hash = hashComments.has(language) || language === 'php';
  const slashes = !hashComments.has(language);
  if (slashes && /^\s*\*(?:\s|\/|$)/.test(text)) return { code: '', comment: text.trim() };
  let [code, comment] = ['', ''];
  for (let index = 0; index < text.length; index += 1) {
    const char = text.charAt(index);
    const next = text[index + 1];
    if (hash && char === '#' && next !== '[' && (index === 0 || /\s/.test(text.charAt(index - 1))))
      return { code, comment: comment + text.slice(index + 1) };
    if (slashes && char === '/' && next === '/') return { code, comment: comment + text.slice(index + 2) };
    if (slashes && char === '/' && next === '*') {
      const end = text.indexOf('*/', index + 2);
      comment += `${text.slice(index + 2, end < 0 ? text.length : end)} `;
      // What stands behind it is code again.
      index = end < 0 ? text.length : end + 1;
    } else if (isQuote(char, text, index, language)) {
      index = endOfText(text, index);
      code += char + char;
    } else code += char;
  }
  return { code, comment };
}

function isQuote(char: string, text: string, index: number, language: Language): boolean {
  if (char === '"') return true;
  if (char === '`') return language === 'javascript' || language === 'go';
  if (char !== "'") return false;
  // A lifetime (`&'a`), a digit separator, or an apostrophe in a word.
  if (language === 'rust' || language === 'c') return /^'(?:\\.|[^\\'])'/.test(text.slice(index, index + 4));
  return true;
}

/** The place of the closing quote, or the end of the line. */
function endOfText(text: string, start: number): number {
  const quote = text[start];
  for (let index = start + 1; index < text.length; index += 1) {
    if (text[index] === '\\') index += 1;
    else if (text[index] === quote) return index;
  }
  return text.length;
}
