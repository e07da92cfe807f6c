// A packed board as bytes, and back, in pieces of some hundred entities: each is made or read in about a
// millisecond, so that other work of the daemon gets its turn in between, and no text of the whole is held.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompressSync } from 'node:zlib';
import type { Share } from './share-entities.ts';

export type Packed = Record<string, unknown>;

const PIECE_CHARACTERS = 64 * 1024;
/** Far above any piece: what grows larger was not written here. */
const LARGEST_PIECE_BYTES = 16 * 1024 * 1024;

const compress = promisify(zstdCompress);
/** The fastest level: for text like this, higher ones cost several times as much and save a tenth. */
const level = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };

/** Each piece is `[field, some of its list]`; the last is `[null, all that is not a list]`. */
export async function* toPieces(packed: object): AsyncGenerator<Uint8Array> {
  const rest: Packed = {};
  for (const [field, value] of Object.entries(packed)) {
    if (Array.isArray(value) && value.length > 0) yield* listPieces(field, value);
    else rest[field] = value;
  }
  yield compress(JSON.stringify([null, rest]), level);
}

async function* listPieces(field: string, list: readonly unknown[]): AsyncGenerator<Uint8Array> {
  let texts: string[] = [];
  let characters = 0;
  for (const [index, value] of list.entries()) {
    const text = JSON.stringify(value);
    texts.push(text);
    characters += text.length;
    if (characters < PIECE_CHARACTERS && index < list.length - 1) continue;
    yield compress(`[${JSON.stringify(field)},[${texts.join(',')}]]`, level);
    texts = [];
    characters = 0;
  }
}

/** Throws when a piece is damaged. */
export async function fromPieces(pieces: Iterable<Uint8Array>, share?: Share): Promise<Packed> {
  const lists = new Map<string, unknown[]>();
  let rest: Packed = {};
  for (const bytes of pieces) {
    const text = zstdDecompressSync(bytes, { maxOutputLength: LARGEST_PIECE_BYTES }).toString();
    const [field, value] = JSON.parse(text) as [string, unknown[]] | [null, Packed];
    if (field === null) {
      rest = value;
    } else {
      const list = lists.get(field) ?? [];
      lists.set(field, list);
      for (const item of value) list.push(share === undefined ? item : share(field, item));
    }
    await nextTurn();
  }
  return { ...rest, ...Object.fromEntries(lists) };
}
