// Cuts long texts and marks the cut, so it is clear that the text is incomplete.

/** Space for the mark; a limit below this leaves almost none of the text. */
const MARK_LENGTH = 32;

/** The text, or its start and a mark; at most `limit` UTF-16 units, without splitting a surrogate pair. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  let kept = Math.max(0, limit - MARK_LENGTH);
  if (isHighSurrogate(text.charCodeAt(kept - 1)) && isLowSurrogate(text.charCodeAt(kept))) kept -= 1;
  return `${text.slice(0, kept)}…[cut ${text.length - kept} characters]`;
}

/** Length in UTF-8 bytes; an unpaired surrogate counts as the three bytes of its replacement. */
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
