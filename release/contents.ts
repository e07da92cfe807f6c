// What may be in a package that is published: only what is meant, nothing of the workshop, and not more than it
// was. Pure; the list of files is what `npm pack --json` says.

export type PackedFile = { path: string; size: number; mode: number };

export type ContentsRule = {
  /** Every file matches one of these. */
  allowed: readonly RegExp[];
  required: readonly string[];
  /** A package that grows past them grows on purpose: raise the number in the same change. */
  maxPackedBytes: number;
  maxUnpackedBytes: number;
};

export type Packed = {
  files: readonly PackedFile[];
  packedBytes: number;
  unpackedBytes: number;
  /** Name of the command and the file it starts. */
  bin: Readonly<Record<string, string>>;
};

/** Never in a package, whatever its allow-list says. */
const NEVER: readonly [RegExp, string][] = [
  [/\.(?:test|spec)\.[^/]*$|(?:^|\/)(?:e2e|testing|__tests__|__snapshots__)\//, 'a test'],
  [/\.map$/, 'a source map'],
  [/\.tsbuildinfo$/, 'a note of the compiler'],
  [/(?<!\.d)\.[cm]?tsx?$/, 'source'],
  [/(?:^|\/)\.(?!well-known)[^/]+/, 'a hidden file'],
  [/\.(?:pem|key|p12|pfx|crt|sqlite|db|log|tgz)$/, 'a key, a database or a log'],
  [/(?:^|\/)node_modules\//, 'a bundled folder of dependencies'],
];

/** Packed by npm into every package, and wanted in each. */
const ALWAYS = ['package.json', 'README.md', 'LICENSE'];

export function contentProblems(rule: ContentsRule, packed: Packed): string[] {
  const paths = new Map(packed.files.map((file) => [file.path, file]));
  const problems: string[] = [];
  for (const path of paths.keys()) {
    const never = NEVER.find(([pattern]) => pattern.test(path));
    if (never !== undefined) problems.push(`${path} is ${never[1]}`);
    else if (!ALWAYS.includes(path) && !rule.allowed.some((pattern) => pattern.test(path)))
      problems.push(`${path} is not on the list of what the package may hold`);
  }
  for (const path of [...ALWAYS, ...rule.required]) if (!paths.has(path)) problems.push(`${path} is missing`);
  for (const [command, target] of Object.entries(packed.bin)) {
    const file = paths.get(target.replace(/^\.\//, ''));
    if (file === undefined) problems.push(`the command ${command} starts ${target}, which is missing`);
    else if ((file.mode & 0o111) !== 0o111) problems.push(`${target} cannot be executed`);
  }
  problems.push(...sizeProblem('packed', packed.packedBytes, rule.maxPackedBytes));
  problems.push(...sizeProblem('unpacked', packed.unpackedBytes, rule.maxUnpackedBytes));
  return problems;
}

function sizeProblem(what: string, bytes: number, limit: number): string[] {
  return bytes > limit ? [`${what} it has ${kilobytes(bytes)}, and may have ${kilobytes(limit)}`] : [];
}

export const kilobytes = (bytes: number): string => `${Math.ceil(bytes / 1_000).toLocaleString('en')} kB`;
