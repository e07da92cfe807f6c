// Everything that must hold before anything is published, for the packages as they are packed. Prints as it goes.
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { auditLine } from './audit.ts';
import { bundledOf, tarballProblems } from './check-tarball.ts';
import { clientConsumerProblems } from './client-consumer.ts';
import { kilobytes } from './contents.ts';
import { type Licensed, type Lock, licenceProblems, shippedOf } from './licences.ts';
import { lintProblems } from './lint-package.ts';
import { packPackage, type Tarball } from './pack.ts';
import { packages } from './packages.ts';
import { auditOf, nameLine } from './registry.ts';
import { currentVersion, readVersionFiles, root } from './version-files.ts';
import { versionProblems } from './versions.ts';

/** Packs and checks what is built; resolves with the tarballs and every problem, each in a line. */
export async function checkRelease(): Promise<{ tarballs: Tarball[]; problems: string[] }> {
  const version = currentVersion();
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock;
  const problems = [...versionProblems(readVersionFiles(), version), ...lockProblems(lock)];
  const tarballs: Tarball[] = [];
  const shipped: Licensed[] = shippedOf(lock);
  problems.push(...licenceProblems(shipped));
  for (const each of packages) {
    try {
      const tarball = await packPackage(each);
      console.log(describeTarball(tarball));
      tarballs.push(tarball);
      shipped.push(...bundledOf(tarball));
      const found = [...tarballProblems(each, tarball, version, lock), ...(await lintProblems(tarball))];
      if (each.name === '@svc/client') found.push(...(await clientConsumerProblems(tarball.path)));
      problems.push(...found.map((problem) => `${each.name}: ${problem}`));
    } catch (error) {
      // The others are checked all the same.
      problems.push(`${each.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  console.log(`licences: ${new Set(shipped.map(({ name }) => name)).size} packages ship with ours`);
  const audit = await auditOf(shipped);
  console.log(auditLine(audit));
  if (audit.kind === 'found') problems.push(auditLine(audit));
  for (const { name } of packages) console.log(await nameLine(name));
  return { tarballs, problems };
}

function describeTarball({ name, version, path, packed, manifest }: Tarball): string {
  const { files, packedBytes, unpackedBytes } = packed;
  const beside = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }).length;
  return `${name} ${version}: ${relative(root, path)}, ${kilobytes(packedBytes)} packed, ${kilobytes(unpackedBytes)} unpacked, ${files.length} files, ${beside} dependencies`;
}

/** A lock file that names a host installs from there, whatever registry a person has chosen. */
function lockProblems(lock: Lock): string[] {
  const named = Object.entries(lock.packages).filter(([, { resolved }]) => /^https?:/.test(resolved ?? ''));
  return named.map(([path]) => `package-lock.json names a host for ${path}`);
}
