// The exit codes in a few words each; docs/reference/exit-codes.md has the rules.
export const exitCodes: readonly (readonly [code: number, meaning: string])[] = [
  [0, 'The verb did what it was asked, or the answer is yes.'],
  [1, 'The answer is no.'],
  [2, 'Usage: an unknown verb or option, a missing or impossible argument.'],
  [3, 'The feed that could deliver the awaited event is blind (events wait-for --strict).'],
  [4, 'The configuration is invalid.'],
  [5, 'The daemon cannot be reached, and the verb needs it.'],
  [6, 'The environment lacks something: a program, a permission, room on the disk, a free file.'],
  [70, 'A bug in svc; what to report is printed.'],
  [130, 'Interrupted by the user.'],
];
