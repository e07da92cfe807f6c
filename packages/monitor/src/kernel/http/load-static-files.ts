// The built web app, read into memory once: the daemon serves the files that existed at its start, and a request can
// reach nothing else. `x.br` and `x.gz` beside a file are its compressed forms, written by the build.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { ifPresentSync } from '@svc/lib/files';

export type Encoding = 'br' | 'gzip' | 'identity';
type StaticForm = { bytes: Buffer; etag: () => string };
export type StaticFile = {
  type: string;
  /** Its name changes with its content, so a browser may cache it forever. */
  isHashed: boolean;
  forms: Partial<Record<Encoding, StaticForm>> & { identity: StaticForm };
};

/** By the path of a request: `/assets/index-Ab12.js`. */
export type StaticFiles = ReadonlyMap<string, StaticFile>;

const MOST_FILES = 2_000;
const MOST_BYTES = 64 * 1024 * 1024;

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.map': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
};
const formNames: Readonly<Record<string, Encoding>> = { '.br': 'br', '.gz': 'gzip' };

/**
 * Undefined when the folder has no `index.html`: the web app is not built. Links are not followed. The files are small, and
 * reading many small files one after the other takes a fraction of the time that the thread pool needs.
 */
export function loadStaticFiles(folder: string): StaticFiles | undefined {
  const paths = filesBelow(folder);
  if (!paths.has('/index.html')) return undefined;
  const files = new Map<string, StaticFile>();
  for (const [path, file] of paths) if (!isFormOf(path, paths)) files.set(path, loadFile(path, file, paths));
  return files;
}

/** Whether the path is the compressed form of another file in the folder. */
function isFormOf(path: string, paths: ReadonlyMap<string, string>): boolean {
  const extension = extname(path);
  return Object.hasOwn(formNames, extension) && paths.has(path.slice(0, -extension.length));
}

function filesBelow(folder: string): Map<string, string> {
  const paths = new Map<string, string>();
  let bytes = 0;
  for (const file of walk(folder)) {
    bytes += statSync(file).size;
    paths.set(`/${relative(folder, file).split(sep).join('/')}`, file);
    if (paths.size > MOST_FILES || bytes > MOST_BYTES)
      throw new Error(
        `${folder} is not a web app: it has more than ${MOST_FILES} files or ${MOST_BYTES} bytes`,
      );
  }
  return paths;
}

/** Folder by folder: the runtime's recursive listing follows links in some versions and not in others. */
function* walk(folder: string): Generator<string> {
  for (const entry of ifPresentSync(() => readdirSync(folder, { withFileTypes: true })) ?? []) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* walk(path);
    else if (entry.isFile()) yield path;
  }
}

function loadFile(path: string, file: string, paths: ReadonlyMap<string, string>): StaticFile {
  const bytes = readFileSync(file);
  // Computed at the first request: most files are never requested.
  let hash: string | undefined;
  const hashOf = (): string => createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
  const form = (encoding: Encoding, content: Buffer): StaticForm => ({
    bytes: content,
    etag: () => `"${(hash ??= hashOf())}-${encoding}"`,
  });
  const forms: StaticFile['forms'] = { identity: form('identity', bytes) };
  for (const [extension, encoding] of Object.entries(formNames)) {
    const stored = paths.get(path + extension);
    if (stored === undefined) continue;
    const content = readFileSync(stored);
    if (content.length < bytes.length) forms[encoding] = form(encoding, content);
  }
  return {
    type: types[extname(path).toLowerCase()] ?? 'application/octet-stream',
    isHashed: path.startsWith('/assets/'),
    forms,
  };
}
