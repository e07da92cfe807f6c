// status: whether the daemon and what it listens to are well, in a few lines.
import { z } from 'zod';
import { needDaemon } from '../../session.ts';
import { looksOnly, tool } from '../tool.ts';

export const statusTool = tool({
  name: 'status',
  title: 'Health of the daemon and its feeds',
  description:
    'Whether the daemon works and which feeds (code host, tracker) are live, late or blind, with the reason and the command that mends it. A blind feed means that events may be missing.',
  scope: 'read',
  hints: looksOnly,
  input: z.strictObject({}),
  output: z.looseObject({
    status: z.string(),
    version: z.string(),
    feeds: z.array(z.looseObject({ feeds: z.array(z.string()), grade: z.string() })),
    problems: z.array(z.string()),
  }),
  async call(_given, { terminal }) {
    const daemon = await needDaemon(terminal);
    const [health, { tunnels }] = await Promise.all([daemon.get('/api/health'), daemon.get('/api/feeds')]);
    const { status, version, url, startedAt, configuration, log } = health;
    const feeds = tunnels.map(({ feeds: names, grade, since, why, remedy }) => ({
      feeds: names,
      grade,
      since,
      why,
      remedy,
    }));
    return {
      structured: {
        status,
        version,
        url,
        startedAt,
        projects: configuration.folders,
        problems: configuration.problems.map(({ text, remedy }) => `${text} ${remedy}`),
        log: log === undefined ? null : { state: log.state, lastSeq: log.lastSeq, why: log.why ?? null },
        feeds,
      },
      text: [
        `The daemon is ${status} (version ${version}, ${url}); the log is ${log?.state ?? 'not open'}.`,
        ...feeds.map(({ feeds: names, grade, why, remedy }) =>
          [`${names.join(' and ')}: ${grade}`, why ?? [], remedy ?? []].flat().join('. '),
        ),
        ...(feeds.length === 0 ? ['No feed is configured: only what is reported locally arrives.'] : []),
        ...configuration.problems.map(({ text, remedy }) => `${text} ${remedy}`),
      ].join('\n'),
    };
  },
});
