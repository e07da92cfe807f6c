// The web app at `/`, on node:http: its files by their exact path, and its page for every other path outside the API, so
// links into the app can be opened and shared. If it is not built, a plain page explains how to build it.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { basename, join } from 'node:path';
import type { Logger } from 'pino';
import { type Encoding, loadStaticFiles, type StaticFile, type StaticFiles } from './load-static-files.ts';
import { answerJson, type DirectHandler, type OnAnswer } from './server.ts';

/** No external content, no inline scripts, no frames. Scripts may set styles, as charts do. */
export const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const headersOfAll: readonly string[] = [
  'Content-Security-Policy',
  pagePolicy,
  'Cross-Origin-Opener-Policy',
  'same-origin',
  'Cross-Origin-Resource-Policy',
  'same-origin',
  'Referrer-Policy',
  'no-referrer',
  'X-Content-Type-Options',
  'nosniff',
  'X-Frame-Options',
  'DENY',
  'Vary',
  'Accept-Encoding',
];

/** One year, the practical maximum. */
const KEEP = 'public, max-age=31536000, immutable';
const ASK_AGAIN = 'no-cache';
const PAGE = '/index.html';

/** Answers every path outside the API. Undefined files mean that the web app is not built. */
export function createStaticHandler({
  files,
  onAnswer,
}: {
  files: StaticFiles | undefined;
  onAnswer: OnAnswer;
}): DirectHandler {
  return (request, response) => {
    const { method = '' } = request;
    if (method !== 'GET' && method !== 'HEAD') return false;
    const path = pathOf(request.url ?? '');
    // An absolute address as the request target is not one of our pages.
    if (!path.startsWith('/') || isOfTheRoutes(path)) return false;
    const started = performance.now();
    const status =
      files === undefined ? sendPlain(request, response) : answer(request, response, files, path);
    onAnswer('dashboard', method, status, performance.now() - started);
    return true;
  };
}

function answer(
  request: IncomingMessage,
  response: ServerResponse,
  files: StaticFiles,
  path: string,
): number {
  const file = fileFor(files, path, request.headers.accept);
  if (file !== undefined) return sendFile(request, response, file);
  const error = `No such route: ${request.method} ${path.slice(0, 200)}.`;
  answerJson(response, 404, { error, code: 'no-such-route' });
  return 404;
}

function pathOf(url: string): string {
  const path = url.split(/[?#]/, 1)[0] ?? '';
  try {
    return decodeURIComponent(path);
  } catch {
    // It matches no file in any case.
    return path;
  }
}

/** Routes for programs outside /api/. */
const programPaths: ReadonlySet<string> = new Set(['/api', '/metrics', '/openapi.json']);

function isOfTheRoutes(path: string): boolean {
  return programPaths.has(path) || path.startsWith('/api/');
}

/** A file by its name, otherwise the page; nothing for a missing file. */
function fileFor(files: StaticFiles, path: string, accept: string | undefined): StaticFile | undefined {
  const file = files.get(path);
  if (file !== undefined) return file;
  const isFile = path.startsWith('/assets/') || (/\.[a-z0-9]{1,12}$/i.test(path) && !wantsPage(accept));
  return isFile ? undefined : files.get(PAGE);
}

function wantsPage(accept = ''): boolean {
  return accept.includes('text/html');
}

function sendFile(request: IncomingMessage, response: ServerResponse, file: StaticFile): number {
  const encoding = encodingFor(request.headers['accept-encoding'], file);
  const form = file.forms[encoding] ?? file.forms.identity;
  const etag = form.etag();
  const headers = [
    ...headersOfAll,
    'Cache-Control',
    file.isHashed ? KEEP : ASK_AGAIN,
    'ETag',
    etag,
    'Content-Type',
    file.type,
  ];
  if (encoding !== 'identity') headers.push('Content-Encoding', encoding);
  if (isKnown(request.headers['if-none-match'], etag)) {
    response.writeHead(304, headers).end();
    return 304;
  }
  response.writeHead(200, [...headers, 'Content-Length', String(form.bytes.length)]);
  response.end(request.method === 'HEAD' ? undefined : form.bytes);
  return 200;
}

/** Brotli before gzip; an encoding with `q=0` is not used. */
function encodingFor(accepted: string | undefined, { forms }: StaticFile): Encoding {
  const named = new Map(
    (accepted ?? '').split(',').map((part) => {
      const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
      return [name, !parameters.some((text) => /^q=0(?:\.0*)?$/.test(text))] as const;
    }),
  );
  const isAccepted = (encoding: Encoding): boolean => named.get(encoding) ?? named.get('*') ?? false;
  return (['br', 'gzip'] as const).find((one) => forms[one] !== undefined && isAccepted(one)) ?? 'identity';
}

function isKnown(given: string | undefined, etag: string): boolean {
  if (given === undefined) return false;
  return given.split(',').some((one) => {
    const tag = one.trim();
    return tag === '*' || tag.replace(/^W\//, '') === etag;
  });
}

const notBuilt = `<!doctype html><html lang="en"><title>svc</title><body>
<p>The dashboard is not built. Build it and start the daemon again:</p>
<pre>npm run build
svc monitor restart</pre>
<p>The command line works without it: <code>svc board</code></p>
</body></html>
`;

function sendPlain(request: IncomingMessage, response: ServerResponse): number {
  response.writeHead(503, [
    ...headersOfAll,
    'Cache-Control',
    'no-store',
    'Content-Type',
    'text/html; charset=utf-8',
    'Content-Length',
    String(Buffer.byteLength(notBuilt)),
  ]);
  response.end(request.method === 'HEAD' ? undefined : notBuilt);
  return 503;
}

// Finds the built web app: beside the bundled program, or in its own package when the daemon runs from source.

/** `folder` is the folder of this file: `…/dist` in a build. */
export function dashboardFolder(folder: string = import.meta.dirname): string {
  return basename(folder) === 'dist' ? join(folder, 'dashboard') : join(folder, '../../../../dashboard/dist');
}

/** Undefined when the web app is not built or cannot be read; the daemon runs without it. */
export function loadDashboard(logger: Logger, folder = dashboardFolder()): StaticFiles | undefined {
  try {
    const files = loadStaticFiles(folder);
    if (files === undefined) logger.warn({ folder }, 'the dashboard is not built; run npm run build');
    return files;
  } catch (error) {
    logger.error({ err: error, folder }, 'the dashboard cannot be read');
    return undefined;
  }
}
