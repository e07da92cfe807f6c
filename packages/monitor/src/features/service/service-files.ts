// The files for service managers: a systemd user unit and a launchd agent. They contain paths and settings, never a
// secret: the daemon reads secrets from its own files. Each starts with a mark, so a file that we did not write is
// never replaced or removed.

export const SERVICE_NAME = 'svc-monitor';
export const LAUNCHD_LABEL = 'svc.monitor';

const MARK = 'made by: svc monitor install';

export type ServiceFacts = {
  /** Node, its flags, the entry file of svc, the verb; paths are absolute. */
  program: readonly string[];
  /** PATH of the daemon, for gh, git and agents. */
  path: string;
  /** Settings of this machine that differ from the defaults. */
  settings: readonly { variable: string; value: string }[];
};

/** Why these facts cannot be written to such a file and read back unchanged. */
export function serviceProblem({ program, path, settings }: ServiceFacts): string | undefined {
  const values = [...program, path, ...settings.map(({ value }) => value)];
  const wrong = values.find((value) => /\p{Cc}/u.test(value));
  if (wrong !== undefined) return `${JSON.stringify(wrong)} contains a control character`;
  return program[0]?.startsWith('/') === true
    ? undefined
    : `${JSON.stringify(program[0] ?? '')} is not an absolute path`;
}

/**
 * A unit for `systemctl --user`. `KillMode=process`: agents are separate processes that keep running while the daemon
 * restarts. `/` is not in a project, so only the configured ones are served. No PrivateTmp: agents need files of other
 * programs in /tmp, such as the socket of ssh-agent.
 */
export function systemdUnit({ program, path, settings }: ServiceFacts): string {
  const [file = '', ...words] = program;
  // systemd expands variables in every word but the first.
  const command = [quoted(file), ...words.map((word) => quoted(word).replaceAll('$', '$$$$'))].join(' ');
  return [
    `# ${MARK}`,
    '# To change it: systemctl --user edit svc-monitor. To remove it: svc monitor uninstall',
    '[Unit]',
    'Description=svc monitor: watches agents, pull requests and deploys',
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
    '# Wrong usage or configuration: a retry would not help.',
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

/** An agent for `launchctl bootstrap gui/<uid>`. `errorFile` gets the daemon's output from before its log is open. */
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

/** Whether svc wrote the file. */
export function isOwnService(text: string): boolean {
  return text.split('\n', 3).some((line) => line === `# ${MARK}` || line === `<!-- ${MARK} -->`);
}

/** The command in a file that was written by the functions above; undefined if it has none. */
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
 * PATH for a daemon without a shell: the permanent folders of the user's PATH, that of node, and the usual ones.
 * Relative folders, and those that npm adds for one run, are left out.
 */
export function servicePath(
  given: string | undefined,
  { nodeFolder, serviceManager }: { nodeFolder: string; serviceManager: string | undefined },
): string {
  const usual = [
    '/usr/local/bin',
    '/usr/bin',
    '/bin',
    ...(serviceManager === 'launchd' ? ['/opt/homebrew/bin'] : []),
  ];
  const own = (given ?? '')
    .split(':')
    .filter((folder) => folder.startsWith('/') && !/\/node_modules\/|\/_npx\/|\p{Cc}/u.test(`${folder}/`));
  return [...new Set([...own, nodeFolder, ...usual])].join(':');
}

/** Quoted for a unit file: `%` starts a specifier, a backslash an escape. */
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
