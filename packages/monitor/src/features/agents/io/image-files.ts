// The images of messages: files beside the journals of the agent, `<ticket>.<sha-256>.png`. A message names its images by
// their hash, so a file that was changed or removed is never sent as the image that a person attached.
import { createHash } from 'node:crypto';
import { messageOf } from '@svc/lib/errors';
import { readFile } from '@svc/lib/paths';
import { writeFileAtomically } from '../../../kernel/disk/atomic-write.ts';
import { Failure } from '../../../kernel/failure.ts';
import { imageTypeOf, imageWords, MOST_IMAGE_BYTES, notAnImage, tooManyImages } from '../images.ts';
import type { PromptImage } from '../messages.ts';
import type { AttachedImage } from '../schemas.ts';
import { imageFile } from './launch.ts';

export type NewImage = AttachedImage & { content: Buffer };
type WorkerName = { orchestrator: string; ticket: string };

/** The images of a request. What is not an image, or too large, is refused. */
export function imagesOf(given: readonly { name: string; data: string }[]): NewImage[] {
  const images = given.map(({ name, data }) => {
    const content = Buffer.from(data, 'base64');
    const type = content.toString('base64') === data ? imageTypeOf(content) : undefined;
    if (type === undefined) throw new Failure('usage', notAnImage(name));
    return { name, type, bytes: content.length, sha256: hashOf(content), content };
  });
  if (bytesOf(images) > MOST_IMAGE_BYTES) throw new Failure('usage', tooManyImages);
  return images;
}

export function bytesOf(images: readonly AttachedImage[]): number {
  return images.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Durable when it resolves. */
export async function writeImages(
  runsDir: string,
  worker: WorkerName,
  images: readonly NewImage[],
): Promise<AttachedImage[]> {
  for (const image of images)
    await writeFileAtomically(imageFile(runsDir, worker, image), image.content, {
      mode: 0o600,
      folderMode: 0o700,
    });
  return images.map(({ content: _, ...image }) => image);
}

export type SentImages = {
  sent: AttachedImage[];
  images: PromptImage[];
  /** For the agent, of those that are not sent. */
  notes: string[];
};

/** Nothing is dropped silently: of an image that cannot be sent, the agent gets the name and the reason. */
export async function readImages(
  runsDir: string,
  worker: WorkerName,
  attached: readonly AttachedImage[],
  isTaken: boolean,
): Promise<SentImages> {
  const read: SentImages = { sent: [], images: [], notes: [] };
  for (const image of attached) {
    const path = imageFile(runsDir, worker, image);
    const data = isTaken ? await dataOf(path, image) : 'this agent takes no images';
    if (typeof data === 'string')
      read.notes.push(
        `The image ${imageWords(image)} of this message is not sent: ${data}. Its file: ${path}`,
      );
    else {
      read.sent.push(image);
      read.images.push({ mimeType: image.type, data: data.toString('base64') });
    }
  }
  return read;
}

/** A text: why it cannot be sent. */
async function dataOf(path: string, { sha256 }: AttachedImage): Promise<Buffer | string> {
  try {
    const { bytes } = await readFile(path, { links: 'keep', most: MOST_IMAGE_BYTES });
    return hashOf(bytes) === sha256 ? bytes : 'its file was changed';
  } catch (error) {
    return `its file cannot be read (${messageOf(error)})`;
  }
}

function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
