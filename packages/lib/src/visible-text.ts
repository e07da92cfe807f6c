// Text from outside, safe to show: nothing in it is invisible, moves the cursor or changes the direction of reading.
/** Terminal sequences for colours and titles: from an escape to a letter or a bell. */
const [escape, bell] = [String.fromCharCode(0x1b), String.fromCharCode(0x07)];
export const terminalSequence = new RegExp(
  `${escape}(?:\\[[0-9;?]*[ -/]*[@-~]|\\][^${escape}${bell}]*(?:${bell}|${escape}\\\\)?|[@-_])`,
  'g',
);

const hidden =
  /(?![\n\t])[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;

/** Hidden characters are written out: a right-to-left override becomes `[U+202E]`. */
export function visibleText(text: string): string {
  return text
    .replaceAll(terminalSequence, '')
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(
      hidden,
      (character) => `[U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`,
    );
}
