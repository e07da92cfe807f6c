// The values of a configuration file that must not leave the machine: what the schema calls a secret, what looks
// like one, and every text at a key that nothing reads, since nobody can tell what it is.
import { findKey, isField } from '../config/key-path.ts';
import { secretLook } from '../config/secret-shapes.ts';

export function secretPathsIn(data: unknown): string[][] {
  const found: string[][] = [];
  const visit = (value: unknown, path: string[]): void => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      for (const [name, inner] of Object.entries(value)) visit(inner, [...path, name]);
      return;
    }
    if (isSecret(value, path)) found.push(path);
  };
  visit(data, []);
  return found;
}

function isSecret(value: unknown, path: readonly string[]): boolean {
  const answer = findKey(path.join('.'));
  if (answer.ok && isField(answer.found) && answer.found.node.secret) return value !== null;
  const texts = (Array.isArray(value) ? (value as unknown[]) : [value]).filter(
    (one) => typeof one === 'string',
  );
  if (texts.some((text) => secretLook(path.at(-1) ?? '', text) !== undefined)) return true;
  return !answer.ok && texts.length > 0;
}
