// Text from outside without what a terminal or a prompt could take for an instruction.

const ESCAPE = String.fromCodePoint(0x1b);

const colours = new RegExp(`${ESCAPE}\\[[0-9;?]*[A-Za-z]`, 'g');

/** Control, invisible and direction characters, except for line breaks and tabs. */
const controlCharacters = /(?![\n\t])[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}]/gu;

export function withoutControl(text: string): string {
  return text.replaceAll(colours, '').replaceAll('\r\n', '\n').replaceAll(controlCharacters, '');
}

/** Between fences that the text cannot close: longer than any in it. */
export function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}
