// Configuration values in words; `core` masks secrets.
import { type LookedAt, MASK, maskedValue, publicValue, type ResolvedValue, sourceText } from '@svc/core';
import { addressFingerprint } from '../config/address-fingerprint.ts';
import type { ConfigFiles } from '../config/load.ts';

/** In a list of all values, which is what is pasted elsewhere. */
export function shownText(resolved: ResolvedValue): string {
  return resolved.value === undefined
    ? '(not set)'
    : JSON.stringify(publicValue(resolved, addressFingerprint));
}

/** Of the one value that was asked for. */
function valueText(resolved: ResolvedValue): string {
  return resolved.value === undefined ? '(not set)' : JSON.stringify(maskedValue(resolved));
}

export function explainLines(resolved: ResolvedValue, files: ConfigFiles): string[] {
  const { key, field, lookedAt } = resolved;
  const fallback = field.default === undefined ? '(none)' : JSON.stringify(field.default);
  return [
    `${key} = ${valueText(resolved)}`,
    `  ${field.description}`,
    `  source     ${sourceText(resolved)}`,
    `  default    ${fallback}`,
    `  expects    ${field.expects}`,
    ...lookedAt.map(
      (look, index) =>
        `  ${index === 0 ? 'looked at' : '         '}  ${lookText(look, field.secret === true)}`,
    ),
    ...absentFiles(resolved, files).map(
      (text, index) => `  ${lookedAt.length + index === 0 ? 'looked at' : '         '}  ${text}`,
    ),
  ];
}

function lookText(look: LookedAt, secret: boolean): string {
  const found = look.found ? (secret ? MASK : JSON.stringify(look.value)) : 'not set';
  return `${look.where}: ${found}${look.note === undefined ? '' : ` (${look.note})`}`;
}

/** Files that could hold the field but do not exist. */
function absentFiles({ field, lookedAt }: ResolvedValue, files: ConfigFiles): string[] {
  const seen = (file: string) =>
    lookedAt.some((look) => look.where === file || look.where.startsWith(`${file}:`));
  const candidates = field.layers.flatMap((layer) => {
    if (layer === 'project')
      return files.project.folder === undefined ? files.project.lookedAt : [files.project.file];
    return layer === 'secrets' ? [files.secrets.ownFile ?? files.global, files.secrets.file] : [files.global];
  });
  return [...new Set(candidates)].filter((file) => !seen(file)).map((file) => `${file}: no such file`);
}
