// `svc agent send`: a message to an agent, with images where the agent takes them.
import { basename, resolve } from 'node:path';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { messageOf } from '@svc/lib/errors';
import { readFile } from '@svc/lib/paths';
import { needDaemon, requestedBy } from '../../../cli/kit/daemon.ts';
import { commandMachine, onMachineOption } from '../../../cli/kit/on-machine.ts';
import { isInteractive, printJson, type Terminal } from '../../../cli/kit/terminal.ts';
import { plainText } from '../../../cli/kit/text.ts';
import { collect, verb } from '../../../cli/kit/verb.ts';
import { Failure } from '../../../kernel/failure.ts';
import { imageTypeOf, MOST_IMAGE_BYTES, MOST_IMAGES, notAnImage, tooManyImages } from '../images.ts';

export function sendVerb(terminal: Terminal): CommandUnknownOpts {
  return verb('send', {
    summary: 'Send a message to an agent',
    details:
      'A busy agent gets it when it is idle; an agent that has ended is started again. Without a text, a terminal asks for it.',
    example: [
      'svc agent send ABC-12 "Use the existing helper instead"',
      'svc agent send ABC-12 "Make it look like this" --image mockup.png',
      'svc agent send ABC-12 "Use the existing helper instead" --machine kim-laptop',
    ],
    route: 'POST /api/workers/:ticket/agent/message, POST /api/team/commands',
  })
    .argument('<ticket>')
    .argument('[text]')
    .option('--image <file>', 'PNG, JPEG, GIF or WebP; repeatable', collect, [] as string[])
    .option('--key <key>', 'send only once for the same key')
    .option('--orchestrator <run>', 'agent of this run (default: the newest)')
    .option(...onMachineOption)
    .option('--json', 'print JSON')
    .action(async (ticket, given, { image, key, orchestrator, machine, json }) => {
      if (machine !== undefined && image.length > 0)
        throw new Failure(
          'usage',
          'Images are not sent to another machine. Nothing was sent.',
          `Send it on ${machine} itself, or describe the image in the text.`,
        );
      const text = given ?? (await askText(terminal, ticket));
      if (machine !== undefined)
        return commandMachine(terminal, machine, { verb: 'send', ticket, text, orchestrator }, { json, key });
      const daemon = await needDaemon(terminal);
      const result = await daemon.post('/api/workers/{ticket}/agent/message', {
        params: { ticket },
        body: {
          text,
          key,
          orchestrator,
          ...requestedBy(terminal),
          ...(image.length > 0 && { images: await readImages(terminal, image) }),
        },
      });
      if (json) return printJson(terminal, result);
      terminal.out(`Message to ${plainText(ticket)}: ${result.queued}`);
    });
}

/** So that the command that svc shows as a fix, which has no text, can be run as it is. */
async function askText(terminal: Terminal, ticket: string): Promise<string> {
  const question = `Message to the agent of ${plainText(ticket)}: `;
  const text = isInteractive(terminal) ? await terminal.ask(question) : undefined;
  if (text === undefined || text.trim() === '')
    throw new Failure(
      'usage',
      'A message needs a text. Nothing was sent.',
      `Add it: svc agent send ${plainText(ticket)} "Use the existing helper instead"`,
    );
  return text;
}

async function readImages(
  terminal: Terminal,
  files: readonly string[],
): Promise<{ name: string; data: string }[]> {
  if (files.length > MOST_IMAGES) throw new Failure('usage', tooManyImages);
  const images: { name: string; data: string }[] = [];
  let left = MOST_IMAGE_BYTES;
  for (const file of files) {
    const { bytes } = await readFile(resolve(terminal.folder, file), { most: MOST_IMAGE_BYTES }).catch(
      (error: unknown) => {
        throw new Failure('usage', `The image ${plainText(file)} cannot be read: ${messageOf(error)}`);
      },
    );
    if (imageTypeOf(bytes) === undefined) throw new Failure('usage', notAnImage(file));
    left -= bytes.length;
    if (left < 0) throw new Failure('usage', tooManyImages);
    images.push({ name: basename(file).slice(0, 200), data: bytes.toString('base64') });
  }
  return images;
}
