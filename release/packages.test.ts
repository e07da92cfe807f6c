// Compares the package.json of each package with the repository itself.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, test } from 'vitest';
import { declaredBy, type Manifest, publishedManifest, repositoryOf } from './pack.ts';
import { packageNamed, packages } from './packages.ts';
import { root } from './versions.ts';

const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Manifest;

test.each(packages.map(({ name, folder }) => [name, folder]))(
  '%s has a licence and a README',
  (_, folder) => {
    const { license, engines } = manifestOf(folder);
    expect([license, engines]).toEqual(['MIT', { node: '>=24' }]);
    expect(existsSync(join(root, folder, 'README.md'))).toBe(true);
  },
);

it('svc-monitor installs every command name in bin/, and its own for npx', () => {
  const names = readdirSync(join(root, 'bin')).filter((name) => name.endsWith('.sh'));
  const { bin } = manifestOf(packageNamed('svc-monitor').folder);
  expect(bin).toEqual({
    svc: 'dist/svc.js',
    'svc-monitor': 'dist/svc.js',
    ...Object.fromEntries(names.map((name) => [name, `dist/bin/${name}`])),
  });
});

it('a published package has no tools and scripts of the repository', () => {
  const manifest = publishedManifest({
    name: 'x',
    version: '1.0.0',
    private: true,
    scripts: { postinstall: 'node x.js' },
    dependencies: { a: '1' },
    optionalDependencies: { b: '1' },
    devDependencies: { c: '1' },
  });
  expect(manifest).toEqual({
    name: 'x',
    version: '1.0.0',
    dependencies: { a: '1' },
    optionalDependencies: { b: '1' },
  });
  expect([...declaredBy(manifest)]).toEqual(['a', 'b']);
});

it('a package names the repository whose workflow builds it', () => {
  const environment = { GITHUB_SERVER_URL: 'https://code.example', GITHUB_REPOSITORY: 'acme/svc' };
  expect(repositoryOf('packages/x', environment)).toEqual({
    repository: { type: 'git', url: 'git+https://code.example/acme/svc.git', directory: 'packages/x' },
  });
  expect(repositoryOf('packages/x', {})).toEqual({});
});

it('an unknown package is reported', () => {
  expect(() => packageNamed('y')).toThrow('no package y');
});
