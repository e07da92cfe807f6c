// Search and commands: every screen, ticket, run, pull request and attention item, and actions that work anywhere.
import { useLocation, useNavigate } from '@tanstack/react-router';
import { Command } from 'cmdk';
import {
  ArrowRight,
  Check,
  Copy,
  History,
  type LucideIcon,
  Moon,
  Pause,
  Play,
  Plus,
  RefreshCw,
  Sun,
  SunMoon,
} from 'lucide-react';
import { Dialog } from 'radix-ui';
import { useEffect, useMemo, useState } from 'react';
import { ApiFailure, client } from '../api/client.ts';
import { chooseTheme, type ThemeChoice, themeChoice } from '../design/theme.ts';
import { useBoard, useDisabledBecause, useLiveBoard } from '../live/live.tsx';
import { timeOfMoment } from '../live/moment.ts';
import { OutsideText } from '../parts/outside.tsx';
import { actor } from '../screens/attention/your-name.ts';
import { openNewTask } from '../screens/start/new-task.tsx';
import { linkTo } from './link-to.ts';
import { commandsFound, type PaletteCommand, paletteCommands, pollWords } from './palette-commands.ts';
import { found, type PaletteEntry, paletteEntries } from './palette-entries.ts';

/** `act` is false if it failed: then the palette stays open and shows why. */
type Action = {
  id: string;
  name: string;
  words: string;
  icon: LucideIcon;
  act: () => void | Promise<boolean | void>;
};

/** `typedBefore` returns, once, what was typed before the palette had loaded. */
export function Palette({ typedBefore, onClose }: { typedBefore: () => string; onClose: () => void }) {
  const [typed, setTyped] = useState('');
  const [message, setMessage] = useState('');
  const [selected, setSelected] = useState('');
  useEffect(() => {
    const early = typedBefore();
    if (early !== '') setTyped((later) => early + later);
  }, [typedBefore]);
  const board = useLiveBoard();
  const navigate = useNavigate();
  const actions = useActions(setMessage);
  const entries = useMemo(() => paletteEntries(board), [board]);
  const groups = useMemo(() => found(entries, typed), [entries, typed]);
  const offered = commandsFound(actions, typed);
  // The best match is selected at once: Enter after a quickly typed name must not open another one.
  const best = [...groups.values()][0]?.[0]?.id ?? (offered[0] && `action ${offered[0].id}`);
  useEffect(() => setSelected(best ?? ''), [best]);
  const open = ({ to, search }: PaletteEntry): void => {
    onClose();
    void navigate({ to, search });
  };
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-sunken opacity-80" />
        <Dialog.Content
          aria-describedby={undefined}
          className="fixed top-[12dvh] left-1/2 z-50 w-[min(38rem,calc(100vw-2rem))] -translate-x-1/2 overflow-hidden rounded-card border border-line bg-raised shadow-float outline-none max-wide:top-4"
        >
          <Dialog.Title className="sr-only">Search and commands</Dialog.Title>
          <Command
            shouldFilter={false}
            loop
            label="Search and commands"
            value={selected}
            onValueChange={setSelected}
          >
            <Command.Input
              value={typed}
              onValueChange={setTyped}
              placeholder="Go to a ticket, run or screen, or type a command: start, allow, pause"
              className="h-12 w-full border-line border-b bg-transparent px-4 text-body text-ink outline-none placeholder:text-muted"
            />
            <Command.List className="max-h-[min(26rem,60dvh)] overflow-y-auto p-2">
              <Command.Empty className="p-3 text-small text-muted">
                No results. Finished runs are in the archive.
              </Command.Empty>
              {[...groups].map(([group, items]) => (
                <Group key={group} heading={group}>
                  {items.map((entry) => (
                    <Item key={entry.id} value={entry.id} onSelect={() => open(entry)}>
                      <OutsideText className="min-w-0 shrink-0 max-w-[70%] truncate font-medium text-ink">
                        {entry.name}
                      </OutsideText>
                      <OutsideText className="min-w-0 truncate text-muted">{entry.note}</OutsideText>
                    </Item>
                  ))}
                </Group>
              ))}
              {offered.length > 0 && (
                <Group heading="Actions">
                  {offered.map(({ id, name, icon: Icon, act }) => (
                    <Item
                      key={id}
                      value={`action ${id}`}
                      onSelect={() => {
                        void Promise.resolve(act()).then(
                          (done) => done !== false && setTimeout(onClose, 400),
                        );
                      }}
                    >
                      <Icon aria-hidden="true" className="size-4 text-muted" />
                      <OutsideText className="min-w-0 truncate font-medium text-ink">{name}</OutsideText>
                    </Item>
                  ))}
                </Group>
              )}
            </Command.List>
            <p
              role="status"
              className="flex items-center gap-3 border-line border-t px-4 py-2 text-tiny text-muted"
            >
              {message === '' ? (
                <>
                  <span>↑ ↓ select</span>
                  <span>Enter open</span>
                  <span>Esc close</span>
                </>
              ) : (
                <span className="flex items-center gap-1.5 text-ink">
                  <Check aria-hidden="true" className="size-3.5" />
                  {message}
                </span>
              )}
            </p>
          </Command>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Group({ heading, children }: { heading: string; children: React.ReactNode }) {
  return (
    <Command.Group
      heading={heading}
      className="[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-tiny [&_[cmdk-group-heading]]:text-muted"
    >
      {children}
    </Command.Group>
  );
}

function Item({
  value,
  onSelect,
  children,
}: {
  value: string;
  onSelect: () => void;
  children: React.ReactNode;
}) {
  return (
    <Command.Item
      value={value}
      onSelect={onSelect}
      className="flex h-9 cursor-default items-center gap-3 rounded-control px-2 text-small data-[selected=true]:bg-sunken max-wide:h-11"
    >
      {children}
    </Command.Item>
  );
}

function useActions(report: (words: string) => void): Action[] {
  const { board, moment } = useBoard();
  const live = useLiveBoard();
  const disabledBecause = useDisabledBecause();
  const { pathname, search } = useLocation();
  const navigate = useNavigate();
  const theme = (choice: ThemeChoice, name: string, icon: LucideIcon): Action => ({
    id: `theme ${choice}`,
    name,
    words: 'theme',
    icon,
    act: () => {
      chooseTheme(choice);
      report(`${name}: done`);
    },
  });
  const themes = [
    theme('light', 'Use light theme', Sun),
    theme('dark', 'Use dark theme', Moon),
    theme('system', 'Use system theme', SunMoon),
  ].filter((_, index) => (['light', 'dark', 'system'] as const)[index] !== themeChoice());
  const link = linkTo(pathname, search, timeOfMoment(moment, board.at));
  const copy = (text: string, done: string) => async (): Promise<boolean> => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      report(`The browser blocked copying: ${text}`);
      return false;
    }
    report(done);
    return true;
  };
  const send =
    <Got,>(request: () => Promise<Got>, done: string | ((got: Got) => string)) =>
    async (): Promise<boolean> => {
      if (disabledBecause !== null) {
        report(disabledBecause);
        return false;
      }
      try {
        const got = await request();
        report(typeof done === 'string' ? done : done(got));
        return true;
      } catch (error) {
        if (!(error instanceof ApiFailure)) throw error;
        report(error.remedy === undefined ? error.message : `${error.message} ${error.remedy}`);
        return false;
      }
    };
  const actionOf = (command: PaletteCommand): Action => {
    const { id, name, words } = command;
    const common = { id, name, words };
    if (command.kind === 'go') {
      const { to, search: target } = command;
      return { ...common, icon: ArrowRight, act: () => void navigate({ to, search: target }) };
    }
    if (command.kind === 'copy') return { ...common, icon: Copy, act: copy(command.text, 'Command copied') };
    if (command.kind === 'new-task')
      return {
        ...common,
        icon: Plus,
        // The dialog takes the place of the palette, which then must not be closed once more.
        act: async () => {
          if (disabledBecause === null) openNewTask();
          else report(disabledBecause);
          return false;
        },
      };
    if (command.kind === 'fetch')
      return {
        ...common,
        icon: RefreshCw,
        act: send(() => client.post('/api/feeds/check', { body: { repair: true } }), pollWords),
      };
    const { action, run } = command;
    return {
      ...common,
      icon: action === 'pause' ? Pause : Play,
      act: send(
        () => client.post(`/api/runs/{run}/${action}`, { params: { run }, body: actor() }),
        action === 'pause' ? `${run} is paused: no more tickets start` : `${run} goes on`,
      ),
    };
  };
  return [
    ...paletteCommands(live, { pathname, search }).map(actionOf),
    ...(moment === null
      ? []
      : [
          {
            id: 'live',
            words: 'now',
            name: 'Back to live',
            icon: History,
            act: () => void navigate({ to: '.', search: (before) => ({ ...before, at: undefined }) }),
          },
        ]),
    {
      id: 'link',
      name: 'Copy link to this screen',
      words: 'address share',
      icon: Copy,
      act: copy(link, 'Link copied'),
    },
    ...themes,
  ];
}
