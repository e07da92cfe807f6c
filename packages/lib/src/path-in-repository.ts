// Paths that somebody else names, as paths in a repository.

/** The path in the repository, as git has it; undefined for one that is outside of the folder. */
export function pathInRepository(file: string, folder: string): string | undefined {
  const path = file.startsWith(`${folder}/`) ? file.slice(folder.length + 1) : file.replace(/^(?:\.\/)+/, '');
  const isPlain = path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
  return isPlain && !path.includes('\0') ? path : undefined;
}
