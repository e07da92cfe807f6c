// How texts from outside sound: as people write them, or as an attacker would. Every text of the tape that a
// vendor would pass on goes through a voice, so that the hostile day attacks wherever the plain one speaks.

export type Voice = {
  title: (plain: string) => string;
  /** Keeps its beginning, by which a branch is tied to its ticket. */
  branch: (plain: string) => string;
  login: (plain: string) => string;
  comment: (plain: string) => string;
  label: (plain: string) => string;
  url: (plain: string) => string;
};

const same = (plain: string): string => plain;

export const plainVoice: Voice = {
  title: same,
  branch: same,
  login: same,
  comment: same,
  label: same,
  url: same,
};

const escape = String.fromCharCode(0x1b);
const rightToLeft = String.fromCharCode(0x202e);
const zeroWidth = String.fromCharCode(0x200b);

/** What a page would set if any of it ran. */
export const PWNED = '__pwned';

const attacks: readonly string[] = [
  `<script>window.${PWNED}='script'</script>`,
  `<img src=x onerror="window.${PWNED}='img'">`,
  `"><svg/onload=window.${PWNED}='svg'>`,
  `<a href="javascript:window.${PWNED}='link'">click</a>`,
  `[click](javascript:window.${PWNED}='markdown')`,
  `{{constructor.constructor("window.${PWNED}='template'")()}}`,
  `\${window.${PWNED}='literal'}`,
  `<iframe srcdoc="<script>parent.${PWNED}='frame'</script>"></iframe>`,
  `<style>*{display:none!important}</style>`,
  `<base href="https://attacker.example/">`,
  `'; window.${PWNED}='quote'; //`,
  `${escape}[31m${escape}]0;title${String.fromCharCode(7)}red${escape}[2J`,
  `${rightToLeft}gnp.exe${zeroWidth}`,
  `__proto__`,
  `<math><mtext></mtext><img src=x onerror=window.${PWNED}='math'></math>`,
];

/** The same text is always attacked in the same way; all attacks appear all over; some titles are very long. */
export const hostileVoice: Voice = {
  title: (plain) => {
    const attacked = `${attackFor(plain, 1)} ${plain}`;
    return plain.length % 7 === 0 ? `${attacked} ${'long '.repeat(2_000)}`.slice(0, 10_000) : attacked;
  },
  branch: (plain) => `${plain}-${attackFor(plain, 2)}`.slice(0, 200),
  login: (plain) => `${plain}${attackFor(plain, 3)}`.slice(0, 200),
  comment: (plain) => `${attackFor(plain, 4)}\n\n${plain}\n\n${attackFor(plain, 5)}`,
  label: (plain) => `${plain} ${attackFor(plain, 6)}`.slice(0, 200),
  url: (plain) => `javascript:window.${PWNED}='url'//${plain}`,
};

function attackFor(plain: string, salt: number): string {
  let sum = salt * 7;
  for (const letter of plain) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 1_000_003;
  return attacks[sum % attacks.length] ?? '';
}
