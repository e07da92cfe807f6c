// The published packages: where each is built, what it may contain, and its size limit.
import { NOTICES } from './notices.ts';

export type ContentsRule = {
  /** Every file matches one of these. */
  allowed: readonly RegExp[];
  required: readonly string[];
  /** Growth beyond these must be on purpose: raise the number in the same change. */
  maxPackedBytes: number;
  maxUnpackedBytes: number;
};

export type PublishedPackage = {
  /** On the registry. */
  name: string;
  /** In the repository, with its README. */
  folder: string;
  /** The program that builds it, run with node. */
  build: string;
  /** Folder with the published package.json, and its parts that go into the package. */
  from: string;
  copy: readonly string[];
  contents: ContentsRule;
};

const MEGABYTE = 1_000_000;
/** A program, or a part of one that is loaded on demand; no test. */
const CHUNK = String.raw`(?!.*\.(?:test|spec)\.)[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*\.js`;

export const packages: readonly PublishedPackage[] = [
  {
    name: 'svc-monitor',
    folder: 'packages/monitor',
    build: 'packages/monitor/build.ts',
    from: 'packages/monitor',
    copy: ['dist'],
    contents: {
      allowed: [
        new RegExp(`^dist/(?:demo/)?${CHUNK}$`),
        // The recorded day.
        /^dist\/demo\/[a-z]+\.jsonl$/,
        /^dist\/bin\/[a-z-]+\.sh$/,
        /^dist\/dashboard\/(?:index\.html|favicon\.svg)(?:\.br|\.gz)?$/,
        /^dist\/dashboard\/assets\/(?!\.|.*\.(?:test|spec)\.)[A-Za-z0-9_.-]+\.(?:(?:js|css)(?:\.br|\.gz)?|woff2)$/,
        /^dist\/skills\/[a-z-]+\/[A-Za-z-]+\.(?:md|mjs|sh)$/,
        // Data for shell completion, and the help of every verb.
        /^dist\/(?:completion|help)\.json$/,
        new RegExp(`^dist/${NOTICES}$`),
      ],
      required: [
        'dist/svc.js',
        'dist/jq-thread.js',
        'dist/demo/demo.js',
        'dist/demo/day.jsonl',
        'dist/demo/decision.jsonl',
        'dist/dashboard/index.html',
        'dist/skills/oneshot/SKILL.md',
        'dist/completion.json',
        'dist/help.json',
        `dist/${NOTICES}`,
      ],
      maxPackedBytes: 3 * MEGABYTE,
      maxUnpackedBytes: 9 * MEGABYTE,
    },
  },
  {
    name: 'svc-relay',
    folder: 'packages/relay',
    build: 'packages/relay/build.ts',
    from: 'packages/relay',
    copy: ['dist'],
    contents: {
      allowed: [new RegExp(`^dist/${CHUNK}$`), new RegExp(`^dist/${NOTICES}$`)],
      required: ['dist/svc-relay.js', `dist/${NOTICES}`],
      maxPackedBytes: 0.15 * MEGABYTE,
      maxUnpackedBytes: 0.5 * MEGABYTE,
    },
  },
  {
    name: 'svc-monitor-client',
    folder: 'packages/client',
    build: 'packages/client/build.ts',
    from: 'packages/client/dist',
    copy: ['.'],
    contents: {
      allowed: [/^[a-z-]+\.(?:js|d\.ts)$/, new RegExp(`^${NOTICES}$`)],
      required: ['index.js', 'index.d.ts', NOTICES],
      maxPackedBytes: 0.05 * MEGABYTE,
      maxUnpackedBytes: 0.3 * MEGABYTE,
    },
  },
];

/** Files of release/out/. */
export const tarballName = ({ name }: PublishedPackage, version: string): string => `${name}-${version}.tgz`;
export const billName = (version: string): string => `svc-${version}.cdx.json`;

export function packageNamed(name: string): PublishedPackage {
  const found = packages.find((each) => each.name === name);
  if (found === undefined) throw new Error(`release/packages.ts has no package ${name}`);
  return found;
}
