// Long texts are cut and marked, so that nobody takes a part for the whole.

/** Room for the mark; a limit below it leaves next to nothing of the text. */
const MARK_LENGTH = 32;

/** The text, or its beginning and a mark of what was cut; at most `limit` UTF-16 units, no pair split. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  let kept = Math.max(0, limit - MARK_LENGTH);
  if (isHighSurrogate(text.charCodeAt(kept - 1)) && isLowSurrogate(text.charCodeAt(kept))) kept -= 1;
  return `${text.slice(0, kept)}…[cut ${text.length - kept} characters]`;
}

/** Length in UTF-8 bytes; a surrogate without its partner counts as the three bytes of its replacement. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) continue;
    if (unit < 0x800) bytes += 1;
    else if (isHighSurrogate(unit) && isLowSurrogate(text.charCodeAt(index + 1))) {
      bytes += 2;
      index += 1;
    } else bytes += 2;
  }
  return bytes;
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;
