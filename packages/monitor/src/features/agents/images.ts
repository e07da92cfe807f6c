// Images in a message to an agent: which are accepted, and how they are named. What an image is, its first bytes show.

export const imageTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const;
export type ImageType = (typeof imageTypes)[number];

/** For one message. */
export const MOST_IMAGES = 4;
/** All images of one message together. */
export const MOST_IMAGE_BYTES = 5 * 1024 * 1024;

const starts: readonly (readonly [ImageType, string])[] = [
  ['image/png', '\x89PNG\r\n\x1a\n'],
  ['image/jpeg', '\xff\xd8\xff'],
  ['image/gif', 'GIF87a'],
  ['image/gif', 'GIF89a'],
];
const LONGEST_START = 12;

/** By its first bytes; undefined for anything that agents do not take. */
export function imageTypeOf(bytes: Uint8Array): ImageType | undefined {
  const start = String.fromCharCode(...bytes.subarray(0, LONGEST_START));
  // Between the two is its size.
  if (start.startsWith('RIFF') && start.slice(8) === 'WEBP') return 'image/webp';
  return starts.find(([, known]) => start.startsWith(known))?.[0];
}

export const notAnImage = (name: string): string =>
  `${JSON.stringify(name.slice(0, 200))} is not an image that can be sent. Send a PNG, JPEG, GIF or WebP.`;

export const tooManyImages = `A message can have at most ${MOST_IMAGES} images, together at most ${MOST_IMAGE_BYTES / 1024 ** 2} MiB. Send fewer, or smaller ones.`;

/** `shot.png (png, 12 KiB)` */
export function imageWords({ name, type, bytes }: { name: string; type: ImageType; bytes: number }): string {
  return `${name} (${type.slice('image/'.length)}, ${Math.ceil(bytes / 1024)} KiB)`;
}
