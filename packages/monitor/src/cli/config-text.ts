// Configuration values in words. Secrets are masked here, and nowhere else is their text printed.
import { type LookedAt, layerTitles, type ResolvedValue } from '@svc/core';
import type { ConfigFiles } from '../config/load.ts';

const MASK = '********';

export function maskedValue({ field, value }: ResolvedValue): unknown {
  return field.secret && value !== undefined ? MASK : (value ?? null);
}

export function valueText(resolved: ResolvedValue): string {
  return resolved.value === undefined ? '(not set)' : JSON.stringify(maskedValue(resolved));
}

export function sourceText({ source, field }: ResolvedValue): string {
  switch (source.kind) {
    case 'environment':
      return `environment ${source.variable}`;
    case 'file':
      return `${source.file}${source.line === undefined ? '' : `:${source.line}`}${source.deprecated ? ` (deprecated as ${source.writtenAs} here)` : ''}`;
    case 'default':
      return 'default';
    case 'unset':
      return `not set; belongs in the ${layerTitles[field.layers[0]]}`;
  }
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
