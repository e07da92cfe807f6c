// A notification on the desktop of this machine. The texts are arguments of a program, never part of a script
// or of a shell's line.
import type { Environment } from '@svc/core';
import { type Deliver, type Notification, NotTold } from './delivery.ts';

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 16_384;
const OFF = 'switch it off: svc config set svc.notify.desktop.enabled false';
/** What a program needs to find the desktop; no secret of the daemon's goes to it. */
const passedOn = [
  'PATH',
  'HOME',
  'LANG',
  'DISPLAY',
  'WAYLAND_DISPLAY',
  'XDG_RUNTIME_DIR',
  'DBUS_SESSION_BUS_ADDRESS',
];

/** Runs a program without a shell, bounded in time and output. */
export type RunProgram = (program: {
  file: string;
  args: readonly string[];
  environment: Readonly<Record<string, string>>;
  timeoutMs: number;
  maxBytes: number;
}) => Promise<
  | { ended: 'exit'; exitCode: number }
  | { ended: 'not-started'; reason: string }
  | { ended: 'timeout' | 'too-large' | 'stopped' }
>;

export function createDesktopNotifier(means: {
  run: RunProgram;
  platform: string;
  environment: Environment;
}): Deliver {
  const environment = Object.fromEntries(
    passedOn.flatMap((name) => {
      const value = means.environment[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
  return async (notification) => {
    const program = programFor(means.platform, notification);
    if (program === undefined)
      throw new NotTold(`desktop notifications are not known on ${means.platform}; ${OFF}`, {
        permanent: true,
      });
    const end = await means.run({ ...program, environment, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES });
    if (end.ended === 'exit' && end.exitCode === 0) return;
    if (end.ended === 'not-started')
      throw new NotTold(`${program.file} cannot be started (${end.reason}); install it, or ${OFF}`, {
        permanent: true,
      });
    const how = end.ended === 'exit' ? `exit code ${end.exitCode}` : end.ended;
    throw new NotTold(`${program.file} failed (${how})`, { permanent: false });
  };
}

type Program = { file: string; args: string[] };

function programFor(platform: string, { effect, title, text }: Notification): Program | undefined {
  if (platform === 'linux') {
    const urgency = effect.severity === 'high' ? 'critical' : 'normal';
    // Desktops read markup in the body, though not in the title.
    return {
      file: 'notify-send',
      args: ['--app-name=svc', `--urgency=${urgency}`, '--', title, escaped(text)],
    };
  }
  if (platform === 'darwin') return { file: 'osascript', args: [...appleScript, title, text] };
  return undefined;
}

/** The title comes first and begins with a letter: nothing of it is taken for an option. */
const appleScript = [
  'on run argv',
  'display notification (item 2 of argv) with title (item 1 of argv)',
  'end run',
].flatMap((line) => ['-e', line]);

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
