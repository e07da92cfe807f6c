// The recorded day with an attack in every text that comes from outside: titles, branches, logins, comments, labels,
// addresses. The same text is always attacked in the same way, so the day ends in the same state.
import type { DayRecord } from '../../../demo/src/day.ts';

const escape = String.fromCharCode(0x1b);
const rightToLeft = String.fromCharCode(0x202e);
const zeroWidth = String.fromCharCode(0x200b);

/** The variable that a page would set if any attack ran. */
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

type Attack = (plain: string) => string;

/** Some titles are very long. */
const title: Attack = (plain) => {
  const attacked = `${attackFor(plain, 1)} ${plain}`;
  return plain.length % 7 === 0 ? `${attacked} ${'long '.repeat(2_000)}`.slice(0, 10_000) : attacked;
};
/** Keeps its start, which links a branch to its ticket. */
const branch: Attack = (plain) => `${plain}-${attackFor(plain, 2)}`.slice(0, 200);
const login: Attack = (plain) => `${plain}${attackFor(plain, 3)}`.slice(0, 200);
const comment: Attack = (plain) => `${attackFor(plain, 4)}\n\n${plain}\n\n${attackFor(plain, 5)}`;
const label: Attack = (plain) => `${plain} ${attackFor(plain, 6)}`.slice(0, 200);
const url: Attack = (plain) => `javascript:window.${PWNED}='url'//${plain}`;
const ref: Attack = (plain) =>
  /^(?:refs\/heads\/)?main$/.test(plain)
    ? plain
    : plain.replace(/^(refs\/heads\/)?(.*)$/, (_, folder = '', name) => folder + branch(name));

function attackFor(plain: string, salt: number): string {
  let sum = salt * 7;
  for (const letter of plain) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) % 1_000_003;
  return attacks[sum % attacks.length] ?? '';
}

/** By the name of the field. */
const fields: Readonly<Record<string, Attack>> = {
  title,
  branch,
  head_branch: branch,
  ref,
  login,
  body: comment,
  description: comment,
  message: comment,
  context: label,
  slug: label,
  environment_url: url,
  log_url: url,
  target_url: url,
};

/** The attack on a `name` depends on its parent. */
const names: Readonly<Record<string, Attack>> = {
  labels: label,
  app: label,
  branches: branch,
  project: title,
  assignee: login,
  actor: login,
  user: login,
  pusher: login,
};

export function hostileDay(records: readonly DayRecord[]): DayRecord[] {
  return records.map((record) => attackedFields(record, '') as DayRecord);
}

/** `parent` is the name of the field that contains the value, or the list with it. */
function attackedFields(value: unknown, parent: string): unknown {
  if (Array.isArray(value)) return value.map((item) => attackedFields(item, parent));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => {
      if (typeof field !== 'string') return [name, attackedFields(field, name)];
      const attack = name === 'name' ? names[parent] : parent === 'owner' ? undefined : fields[name];
      return [name, attack === undefined ? field : attack(field)];
    }),
  );
}
