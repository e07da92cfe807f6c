// The names that members choose. A name is data from outside: it is brought into one form, must be readable as it looks,
// and is never taken for an id.
import { z } from 'zod';
import { MachineId } from '../board/team-entity.ts';

/** A machine with a name that exists gets a number, which fits into the longest name of the roster. */
export const LONGEST_CHOSEN_NAME = 90;

export function isMachineId(text: string): boolean {
  return MachineId.safeParse(text).success;
}

/** Control, format, private and unassigned characters, other spaces than the usual one, and what has no width. */
const unreadable = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|[^\P{Zs} ]/u;

/** Scripts that people write names in. Of the first ones many letters look like those of another. */
const alike = ['Latin', 'Cyrillic', 'Greek', 'Armenian'];
const others =
  'Arabic Bengali Bopomofo Devanagari Ethiopic Georgian Gujarati Gurmukhi Han Hangul Hebrew Hiragana Kannada Katakana Khmer Lao Malayalam Myanmar Oriya Sinhala Tamil Telugu Thaana Thai Tibetan'.split(
    ' ',
  );
const ofScript = (script: string): RegExp => new RegExp(`\\p{Script=${script}}`, 'u');
const alikeForms = alike.map(ofScript);
const known = new RegExp(
  `^[${[...alike, ...others, 'Common', 'Inherited'].map((script) => `\\p{Script=${script}}`).join('')}]*$`,
  'u',
);

/** In its one form; undefined if it cannot be a name. */
export function nameIn(text: string): string | undefined {
  const name = text.normalize('NFKC').trim().replaceAll(/ +/g, ' ');
  const isReadable = !unreadable.test(name) && known.test(name) && /[\p{L}\p{N}]/u.test(name);
  const isOfOneScript = alikeForms.filter((form) => form.test(name)).length <= 1;
  const fits = name.length <= LONGEST_CHOSEN_NAME;
  return isReadable && isOfOneScript && fits && !isMachineId(name) ? name : undefined;
}

/** A name that is already in its one form. */
export const ChosenName = z
  .string()
  .min(1)
  .max(LONGEST_CHOSEN_NAME)
  .refine((text) => nameIn(text) === text);

const lookAlikes = lettersOf(
  'a:аαä b:вβь c:сϲ d:ԁ e:еєε g:ցԍ h:нһη i:іїιıl1|ɩ j:јϳ k:кκ m:мμ n:пոռ o:оοσօ0 p:рρ q:ԛգ r:г s:ѕտ t:тτ u:υսц v:νѵ w:ԝшωա x:хχ y:уγүʏ z:ζ',
);

function lettersOf(table: string): ReadonlyMap<string, string> {
  return new Map(
    table.split(' ').flatMap((row) => Array.from(row.slice(2), (letter) => [letter, row.charAt(0)] as const)),
  );
}

/** The same for two names that a person may confuse: case, accents, look-alike letters, spaces and dashes do not count. */
export function looksOf(name: string): string {
  const plain = name.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  const letters = Array.from(plain, (letter) => lookAlikes.get(letter) ?? letter).join('');
  return letters
    .replaceAll(/[^\p{L}\p{N}]/gu, '')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w');
}

/** By id, or by the name of the machine. A name never has the form of an id. */
export function memberNamed<Member extends { id: string; machine: string }>(
  members: Iterable<Member>,
  text: string,
): Member | undefined {
  const isId = isMachineId(text);
  return [...members].find(({ id, machine }) => (isId ? id === text : machine === text));
}
