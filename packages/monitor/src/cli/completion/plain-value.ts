// Names come from outside, and a shell puts what is offered into its command line. Only what means nothing to any of
// the shells is offered: no quote, space, dollar, colon or control character. The scripts hold the same alphabet.
export const PLAIN_LETTERS = 'A-Za-z0-9._/+%,-';

const plain = new RegExp(`^[${PLAIN_LETTERS}]{1,200}$`);

export function isPlainValue(text: string): boolean {
  return plain.test(text);
}
