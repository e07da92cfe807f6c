// status: whether the daemon and its feeds work.
import { z } from 'zod';
import { needDaemon } from '../../cli/kit/daemon.ts';
import { readOnly, tool } from '../../cli/kit/tool.ts';
import type { DoctorFinding } from '../../kernel/check/finding.ts';

const withRemedy = ({ what, remedy }: DoctorFinding): string => [what, remedy ?? []].flat().join('. ');

export const statusTool = tool({
  name: 'status',
  title: 'Health of the daemon and its feeds',
  description:
    'Whether the daemon works and which feeds (code host, tracker) are live, late or blind, with the reason and the command that fixes it. A blind feed means that events may be missing.',
  scope: 'read',
  hints: readOnly,
  input: z.strictObject({}),
  output: z.looseObject({
    status: z.string(),
    version: z.string(),
    feeds: z.array(z.looseObject({ feeds: z.array(z.string()), grade: z.string() })),
    problems: z.array(z.string()),
  }),
  async call(_given, { terminal }) {
    const daemon = await needDaemon(terminal);
    const { status, version, url, startedAt, configuration, log, sources, findings } =
      await daemon.get('/api/health');
    const problems = findings.filter(({ grade }) => grade !== 'ok').map(withRemedy);
    const live = findings.filter(({ part, grade }) => part === 'feeds' && grade === 'ok').map(withRemedy);
    return {
      structured: {
        status,
        version,
        url,
        startedAt,
        projects: configuration.folders,
        problems,
        log: { state: log.state, lastSeq: log.lastSeq, why: log.why ?? null },
        feeds: sources.tunnels.map(({ feeds, grade, since, why, remedy }) => ({
          feeds,
          grade,
          since,
          why,
          remedy,
        })),
      },
      text: [
        `The daemon is ${status} (version ${version}, ${url}); the log is ${log.state}.`,
        ...problems,
        ...live,
        ...(sources.tunnels.length === 0 ? ['No feed is configured: only local reports arrive.'] : []),
      ].join('\n'),
    };
  },
});
