/** `counted(1, 'warning')` is `1 warning`, `counted(2, 'warning')` `2 warnings`. */
export function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}
