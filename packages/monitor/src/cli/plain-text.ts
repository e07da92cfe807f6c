// Names, titles and messages come from outside: nothing of them may steer the terminal, start a new line, or
// turn the direction of reading.
const STEERING = /[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

export function plainText(text: string): string {
  return text.replaceAll(STEERING, '?');
}
