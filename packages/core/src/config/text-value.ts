// A value written as text, in an environment variable or on the command line.
import { acceptValue, type FieldNode } from './tree.ts';

const yes = new Set(['true', '1', 'yes', 'on']);
const no = new Set(['false', '0', 'no', 'off']);

export type TextValue = { ok: true; value: unknown } | { ok: false; expected: string };

/** Reads text as the field's kind: a string stays a string even when it looks like a number. */
export function valueFromText(field: FieldNode, text: string): TextValue {
  const readings = [
    ...(text === 'null' ? [null] : []),
    text,
    ...(yes.has(text.toLowerCase()) ? [true] : []),
    ...(no.has(text.toLowerCase()) ? [false] : []),
    ...jsonReading(text),
    text.split(',').map((item) => item.trim()),
  ];
  for (const reading of readings) {
    const accepted = acceptValue(field, reading);
    if (accepted.ok) return accepted;
  }
  return { ok: false, expected: field.expects };
}

function jsonReading(text: string): unknown[] {
  try {
    return [JSON.parse(text)];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}
