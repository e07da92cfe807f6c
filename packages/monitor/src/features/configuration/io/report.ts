// The configuration of a project as the daemon uses it, for `GET /api/config`.

import type { Board } from '../../../kernel/board/board.ts';
import type { Machine } from '../../../kernel/config/environment.ts';
import { type ConfigProblem, formatProblem, reportProblem } from '../../../kernel/config/problems.ts';
import type { Projects } from '../../../kernel/config/projects.ts';
import { withoutCredentials } from '../../../kernel/config/public-value.ts';
import { draft, type EventDraft } from '../../../kernel/log/event-line.ts';
import { attentionId } from '../../attention/reduce-attention.ts';
import { addressFingerprint } from '../../feeds/io/address-fingerprint.ts';
import type { ConfigReport, ProjectEntry } from '../api.ts';
import { configEntry, projectEntry } from '../config-report.ts';

/** `folder` is that of a served project; undefined means the folder that the daemon was started in. */
export function reportConfig(
  machine: Machine,
  { projects: served, started }: Projects,
  folder: string | undefined,
  projects: ProjectEntry[],
): ConfigReport {
  const { files, values, problems } = served.find((project) => project.folder === folder) ?? started;
  const { folder: found, file } = files.project;
  return {
    project: found === undefined ? null : projectEntry(found, values).id,
    projects,
    files: {
      project: found === undefined ? null : file,
      secrets: files.secrets.file,
      global: files.global,
    },
    values: values.map((value) => configEntry(value, problems, addressFingerprint)),
    machine: machine.settings.map((setting) => ({ ...setting, value: withoutCredentials(setting.value) })),
    problems: problems.map(reportProblem),
  };
}

// One attention item, as long as a configuration file has an error.

const reason = 'config-invalid';

/** Most errors in the message; each has the file, the key, what is expected and what was found. */
const MOST_SHOWN = 3;

export function createConfigAttention(options: {
  problems: () => readonly ConfigProblem[];
  board: () => Pick<Board, 'attention'>;
  append: (draft: EventDraft) => Promise<unknown>;
}): { update: () => Promise<void> } {
  /** What this daemon has raised, possibly not folded yet; null means nothing. */
  let raised: string | null | undefined;

  return {
    async update() {
      const id = attentionId({ orchestrator: null, ticket: null, reason });
      const before = raised === undefined ? (options.board().attention.get(id)?.message ?? null) : raised;
      raised = messageOf(options.problems().filter(({ severity }) => severity === 'error'));
      if (raised === before) return;
      try {
        await options.append(raised === null ? resolvedDraft() : raisedDraft(raised));
      } catch (error) {
        raised = before;
        throw error;
      }
    },
  };
}

function raisedDraft(message: string): EventDraft {
  return draft('comms.attention', {}, { reason, message, severity: 'high', remedy: 'svc config validate' });
}

function resolvedDraft(): EventDraft {
  return draft('comms.attention_resolved', {}, { reason, message: 'The configuration is valid again' });
}

function messageOf(errors: readonly ConfigProblem[]): string | null {
  if (errors.length === 0) return null;
  const shown = errors.slice(0, MOST_SHOWN).map(formatProblem);
  const more = errors.length > MOST_SHOWN ? [`and ${errors.length - MOST_SHOWN} more`] : [];
  return `The last valid values stay in effect, if there are any. ${[...shown, ...more].join(' ')}`;
}
