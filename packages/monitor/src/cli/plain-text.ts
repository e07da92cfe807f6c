// Names, titles and messages come from outside: nothing of them may steer the terminal, start a new line, or
// turn the direction of reading.
const STEERING = /[\p{Cc}\p{Zl}\p{Zp}\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/gu;

export function plainText(text: string): string {
  return text.replaceAll(STEERING, '?');
}

/** JSON that says the same, with such characters written as `\uXXXX`; its own line breaks stay. */
export function plainJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replaceAll(STEERING, (character) =>
    character === '\n' ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
