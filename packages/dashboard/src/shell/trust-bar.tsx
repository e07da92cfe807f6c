// The first line of every screen: whether its data can be trusted. One quiet line if all is well; each problem is
// listed with since when, why, and how to fix it.
import { Link, useLocation } from '@tanstack/react-router';
import { ChevronDown, Moon, Search, Sun } from 'lucide-react';
import { Collapsible } from 'radix-ui';
import { useState } from 'react';
import type { Meaning } from 'svc-monitor/src/kernel/board/label.ts';
import type { DoctorFinding } from 'svc-monitor/src/kernel/check/finding.ts';
import { doctorFinding, inDoctorOrder } from 'svc-monitor/src/kernel/check/finding.ts';
import { ApiFailure } from '../api/client.ts';
import { chooseTheme, themeChoice } from '../design/theme.ts';
import { useBoard, useBoardFailure, useHealth, useLink, useLiveBoard } from '../live/live.tsx';
import { Ago } from '../parts/age.tsx';
import { Button } from '../parts/button.tsx';
import { classNames } from '../parts/class-names.ts';
import { Findings } from '../parts/findings.tsx';
import { backgroundOf, textOf } from '../parts/meaning.ts';
import { Dot } from '../parts/pill.tsx';
import { Remedy } from '../parts/remedy.tsx';
import { useKeys } from '../parts/use-keys.ts';
import { openPalette } from './keys.tsx';
import { trustLine } from './trust.ts';

const isMac = navigator.platform.startsWith('Mac');

export function TrustBar() {
  const link = useLink();
  const { at } = useLiveBoard();
  const { moment } = useBoard();
  const failure = useBoardFailure();
  const { data: health } = useHealth();
  const findings = health === undefined ? [] : inDoctorOrder([...stale(failure), ...health.findings]);
  // The daemon requires a key that this page does not have.
  if (failure instanceof ApiFailure && failure.status === 401) {
    return (
      <Bar key="locked" meaning="you" words={failure.message} stays>
        <div className="px-6 pb-3 max-wide:px-4">
          <Remedy text={failure.remedy} />
        </div>
      </Bar>
    );
  }
  if (link.state === 'lost') {
    return (
      <Bar
        key="lost"
        meaning="broken"
        stays
        words={`The daemon is not responding. ${at === null ? 'Nothing loaded yet.' : `Showing data from ${clockWithSeconds(at)}.`}`}
      >
        <div className="flex flex-wrap items-center gap-3 px-6 pb-3 max-wide:px-4">
          <span className="text-small text-muted">
            Connection lost <Ago at={link.since} />, retrying.{link.why !== null && ` (${link.why})`}
          </span>
          <Remedy text="Run: svc monitor start" />
        </div>
      </Bar>
    );
  }
  const { meaning, words } =
    health === undefined
      ? { meaning: 'unknown' as const, words: 'Connecting to the daemon' }
      : trustLine(findings, { isPast: moment !== null });
  const problems = findings.filter(({ grade }) => grade !== 'ok');
  return (
    <Bar meaning={meaning} words={words}>
      <div className="flex flex-col gap-2 px-6 pb-4 max-wide:px-4">
        <Findings findings={problems.length === 0 ? findings : problems} />
        {problems.length > 0 && (
          <Link
            to="/doctor"
            className="w-fit text-small underline decoration-line-strong underline-offset-2 hover:decoration-current"
          >
            All {findings.length} checks
          </Link>
        )}
      </div>
    </Bar>
  );
}

/** The daemon responds, but the board on this page could not be refreshed. */
function stale(failure: Error | null): DoctorFinding[] {
  if (failure === null) return [];
  const remedy = failure instanceof ApiFailure ? (failure.remedy ?? null) : null;
  return [doctorFinding('state', 'warning', `this page is stale: ${failure.message}`, { remedy })];
}

/** With seconds, because it shows how old the data is. */
function clockWithSeconds(at: string): string {
  return new Date(at).toLocaleTimeString('en-GB');
}

function Bar(props: BarProps) {
  const loud = props.meaning === 'broken' || props.meaning === 'you';
  // Problems open by themselves.
  return <OpenBar key={loud ? 'loud' : 'quiet'} loud={loud} {...props} />;
}

type BarProps = {
  meaning: Meaning;
  words: string;
  /** Stays open on the way to another screen, because no screen can be relied on. */
  stays?: boolean;
  children: React.ReactNode;
};

function OpenBar({ meaning, words, stays = false, loud, children }: BarProps & { loud: boolean }) {
  const [open, setOpen] = useState(loud);
  const { pathname } = useLocation();
  const [openedOn, setOpenedOn] = useState(pathname);
  if (openedOn !== pathname) {
    setOpenedOn(pathname);
    if (!stays) setOpen(false);
  }
  useKeys(open ? { Escape: () => setOpen(false) } : {});
  return (
    <Collapsible.Root asChild open={open} onOpenChange={setOpen}>
      <section
        aria-label="Data status"
        className={classNames('border-line border-b', loud ? backgroundOf[meaning] : 'bg-surface')}
      >
        <div className="flex min-h-11 items-center gap-2 px-6 max-wide:px-4">
          <Collapsible.Trigger
            className={classNames(
              'group flex min-w-0 items-center gap-2 py-2 text-left text-small font-medium',
              loud ? textOf[meaning] : 'text-muted',
            )}
          >
            <Dot meaning={meaning} />
            <span className="min-w-0 break-words" role="status">
              {words}
            </span>
            <ChevronDown
              aria-hidden="true"
              className="size-4 shrink-0 transition-transform group-data-[state=open]:rotate-180"
            />
            <span className="sr-only">Show all components</span>
          </Collapsible.Trigger>
          <div className="ml-auto flex items-center gap-1">
            <Button quiet onClick={openPalette} title="Search and commands">
              <Search aria-hidden="true" className="size-4" />
              <span className="sr-only">Search and commands</span>
              <kbd className="text-tiny text-muted max-wide:hidden">{isMac ? '⌘ K' : 'Ctrl K'}</kbd>
            </Button>
            <ThemeButton />
          </div>
        </div>
        <Collapsible.Content>{children}</Collapsible.Content>
      </section>
    </Collapsible.Root>
  );
}

function ThemeButton() {
  const [choice, setChoice] = useState(themeChoice());
  const isDark = document.documentElement.dataset['theme'] === 'dark';
  const next = isDark ? 'light' : 'dark';
  const Icon = isDark ? Sun : Moon;
  return (
    <Button
      quiet
      aria-label={`Use ${next} theme`}
      title={`Use ${next} theme${choice === 'system' ? ' (following the system now)' : ''}`}
      onClick={() => {
        chooseTheme(next);
        setChoice(next);
      }}
    >
      <Icon aria-hidden="true" className="size-4" />
    </Button>
  );
}
