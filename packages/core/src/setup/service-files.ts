// The files by which a service manager runs the daemon: a unit of systemd for the user, an agent of launchd. They
// hold where programs are and which folders are meant, and never a secret: the daemon reads those from its files.
// Each begins with a mark, so that nothing is replaced or removed that somebody else has written.

export const SERVICE_NAME = 'svc-monitor';
export const LAUNCHD_LABEL = 'svc.monitor';

const MARK = 'made by: svc monitor install';

export type ServiceFacts = {
  /** Node, its flags, the start file of svc, the verb; paths are absolute. */
  program: readonly string[];
  /** PATH for the daemon: gh, git and agents are found there. */
  path: string;
  /** Settings of this machine that differ from the defaults. */
  settings: readonly { variable: string; value: string }[];
};

/** What cannot be written to such a file in a way that is read back the same. */
export function serviceProblem({ program, path, settings }: ServiceFacts): string | undefined {
  const values = [...program, path, ...settings.map(({ value }) => value)];
  const wrong = values.find((value) => /\p{Cc}/u.test(value));
  if (wrong !== undefined) return `${JSON.stringify(wrong)} has a control character in it`;
  return program[0]?.startsWith('/') === true
    ? undefined
    : `${JSON.stringify(program[0] ?? '')} is no absolute path`;
}

/**
 * A unit for `systemctl --user`. `KillMode=process`: agents are processes of their own, and go on while the daemon
 * is restarted. `/` is in no project, so that only the listed ones are served. There is no PrivateTmp: agents need
 * what others put into /tmp, such as the socket of ssh-agent.
 */
export function systemdUnit({ program, path, settings }: ServiceFacts): string {
  const [file = '', ...words] = program;
  // Variables are put in for every word but the first.
  const command = [quoted(file), ...words.map((word) => quoted(word).replaceAll('$', '$$$$'))].join(' ');
  return [
    `# ${MARK}`,
    '# To change it: systemctl --user edit svc-monitor. To remove it: svc monitor uninstall',
    '[Unit]',
    'Description=svc monitor: what agents, pull requests and deploys are doing',
    'StartLimitIntervalSec=300',
    'StartLimitBurst=5',
    '',
    '[Service]',
    'Type=exec',
    `ExecStart=${command}`,
    'WorkingDirectory=/',
    ...[{ variable: 'PATH', value: path }, ...settings].map(
      ({ variable, value }) => `Environment=${quoted(`${variable}=${value}`)}`,
    ),
    'Restart=on-failure',
    'RestartSec=5',
    '# Wrong usage or configuration: another try would not help.',
    'RestartPreventExitStatus=2 4',
    'KillMode=process',
    'TimeoutStopSec=20',
    'NoNewPrivileges=true',
    'LockPersonality=true',
    'RestrictRealtime=true',
    '',
    '[Install]',
    'WantedBy=default.target',
    '',
  ].join('\n');
}

/** An agent for `launchctl bootstrap gui/<uid>`. `errorFile` takes what the daemon says before its log is open. */
export function launchdAgent(
  { program, path, settings }: ServiceFacts,
  { errorFile }: { errorFile: string },
): string {
  const entries = [{ variable: 'PATH', value: path }, ...settings].flatMap(({ variable, value }) => [
    `    <key>${escaped(variable)}</key>`,
    `    <string>${escaped(value)}</string>`,
  ]);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<!-- ${MARK} -->`,
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    '<plist version="1.0">',
    '<dict>',
    '  <key>Label</key>',
    `  <string>${LAUNCHD_LABEL}</string>`,
    '  <key>ProgramArguments</key>',
    '  <array>',
    ...program.map((word) => `    <string>${escaped(word)}</string>`),
    '  </array>',
    '  <key>WorkingDirectory</key>',
    '  <string>/</string>',
    '  <key>EnvironmentVariables</key>',
    '  <dict>',
    ...entries,
    '  </dict>',
    '  <key>RunAtLoad</key>',
    '  <true/>',
    '  <key>KeepAlive</key>',
    '  <dict>',
    '    <key>SuccessfulExit</key>',
    '    <false/>',
    '  </dict>',
    '  <key>ThrottleInterval</key>',
    '  <integer>10</integer>',
    '  <key>AbandonProcessGroup</key>',
    '  <true/>',
    '  <key>StandardErrorPath</key>',
    `  <string>${escaped(errorFile)}</string>`,
    '</dict>',
    '</plist>',
    '',
  ].join('\n');
}

/** Whether the file is one of ours. */
export function isOwnService(text: string): boolean {
  return text.split('\n', 3).some((line) => line === `# ${MARK}` || line === `<!-- ${MARK} -->`);
}

/** The command of a file that one of the functions above made; undefined when it has none. */
export function programOfService(text: string): string[] | undefined {
  const [, command] = /^ExecStart=(.*)$/m.exec(text) ?? [];
  if (command !== undefined)
    return [...command.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, word = ''], index) => {
      const read = word.replaceAll(/\\(.)/g, '$1').replaceAll('%%', '%');
      return index === 0 ? read : read.replaceAll('$$', '$');
    });
  const [, list] = /<key>ProgramArguments<\/key>\s*<array>(.*?)<\/array>/s.exec(text) ?? [];
  if (list === undefined) return undefined;
  return [...list.matchAll(/<string>(.*?)<\/string>/gs)].map(([, word = '']) => unescaped(word));
}

/**
 * PATH for a daemon without a shell: the folders of the person's own PATH that last, that of node, and the usual
 * ones. Relative folders, and those that npm adds for one run, are left out.
 */
export function servicePath(
  given: string | undefined,
  { nodeFolder, platform }: { nodeFolder: string; platform: string },
): string {
  const usual = [
    '/usr/local/bin',
    '/usr/bin',
    '/bin',
    ...(platform === 'darwin' ? ['/opt/homebrew/bin'] : []),
  ];
  const own = (given ?? '')
    .split(':')
    .filter((folder) => folder.startsWith('/') && !/\/node_modules\/|\/_npx\/|\p{Cc}/u.test(`${folder}/`));
  return [...new Set([...own, nodeFolder, ...usual])].join(':');
}

/** Quoted for a unit file: `%` begins a specifier, a backslash an escape. */
function quoted(word: string): string {
  return `"${word.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('%', '%%')}"`;
}

const entities = [
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
] as const;

function escaped(text: string): string {
  return entities.reduce((done, [sign, entity]) => done.replaceAll(sign, entity), text);
}

function unescaped(text: string): string {
  return entities.toReversed().reduce((done, [sign, entity]) => done.replaceAll(entity, sign), text);
}
