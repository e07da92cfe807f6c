/**
 * Whether a topic fits a glob, in which `*` stands for any characters, dots included.
 * Takes time in proportion to the lengths whatever the glob, which a regular expression would not.
 * `matchesGlob('codehost.pr.*', 'codehost.pr.merged')`
 */
export function matchesGlob(glob: string, topic: string): boolean {
  let at = 0;
  let inGlob = 0;
  let star = -1;
  let resume = 0;
  while (at < topic.length) {
    if (glob[inGlob] === '*') {
      star = inGlob;
      inGlob += 1;
      resume = at;
    } else if (glob[inGlob] === topic[at]) {
      inGlob += 1;
      at += 1;
    } else if (star >= 0) {
      resume += 1;
      at = resume;
      inGlob = star + 1;
    } else {
      return false;
    }
  }
  while (glob[inGlob] === '*') inGlob += 1;
  return inGlob === glob.length;
}
