// Images that are sent with the next message: pasted, dropped or chosen, shown before they are sent.
import { ImagePlus, X } from 'lucide-react';
import { useRef, useState } from 'react';
import type { ImageType } from 'svc-monitor/src/features/agents/images.ts';
import {
  imageTypeOf,
  imageTypes,
  imageWords,
  MOST_IMAGE_BYTES,
  MOST_IMAGES,
  notAnImage,
  tooManyImages,
} from 'svc-monitor/src/features/agents/images.ts';
import { shownText } from '../../parts/agent-text.tsx';
import { Button } from '../../parts/button.tsx';

type Image = { id: number; name: string; type: ImageType; size: number; data: string };
/** `data` is in base64. */
export type SentImage = { name: string; data: string };
export type Images = ReturnType<typeof useImages>;

const LONGEST_NAME = 200;

/** `onChange` is called when another message would be sent. */
export function useImages(onChange: () => void) {
  const [images, setImages] = useState<readonly Image[]>([]);
  const [problem, setProblem] = useState<string | null>(null);
  const next = useRef(0);
  const add = async (files: readonly File[]): Promise<void> => {
    setProblem(null);
    if (!fit([...images, ...files])) return setProblem(tooManyImages);
    for (const file of files) {
      const start = await file
        .slice(0, 16)
        .arrayBuffer()
        .catch(() => new ArrayBuffer(0));
      const type = imageTypeOf(new Uint8Array(start));
      if (type === undefined) {
        setProblem(notAnImage(file.name));
        continue;
      }
      const data = await base64Of(file).catch(() => null);
      if (data === null) {
        setProblem(`${file.name} cannot be read. Choose it again.`);
        continue;
      }
      const name = file.name.slice(0, LONGEST_NAME) || 'image';
      next.current += 1;
      const image = { id: next.current, name, type, size: file.size, data };
      setImages((before) => (fit([...before, image]) ? [...before, image] : before));
      onChange();
    }
  };
  return {
    images,
    problem,
    add,
    remove(id: number): void {
      setProblem(null);
      setImages((before) => before.filter((image) => image.id !== id));
      onChange();
    },
    clear: () => setImages([]),
    sent: (): SentImage[] => images.map(({ name, data }) => ({ name, data })),
  };
}

function fit(all: readonly { size: number }[]): boolean {
  return all.length <= MOST_IMAGES && all.reduce((sum, { size }) => sum + size, 0) <= MOST_IMAGE_BYTES;
}

function base64Of(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => {
      const url = typeof reader.result === 'string' ? reader.result : '';
      resolve(url.slice(url.indexOf(',') + 1));
    });
    reader.addEventListener('error', () => reject(reader.error ?? new Error('the file cannot be read')));
    reader.readAsDataURL(file);
  });
}

export function ImageList({ images, problem, remove }: Pick<Images, 'images' | 'problem' | 'remove'>) {
  return (
    <>
      {images.length > 0 && (
        <ul aria-label="Images to send" className="flex flex-wrap gap-2">
          {images.map(({ id, name, type, size, data }) => (
            <li
              key={id}
              className="flex min-w-0 max-w-full items-center gap-2 rounded-control border border-line bg-ground p-1 text-small"
            >
              <img
                src={`data:${type};base64,${data}`}
                alt=""
                className="size-12 shrink-0 rounded-control bg-sunken object-cover"
              />
              <span className="from-outside min-w-0 truncate">
                {shownText(imageWords({ name, type, bytes: size }))}
              </span>
              <Button quiet aria-label={`Remove ${shownText(name)}`} onClick={() => remove(id)}>
                <X aria-hidden="true" className="size-3.5" />
              </Button>
            </li>
          ))}
        </ul>
      )}
      {problem !== null && (
        <p role="alert" className="from-outside text-broken text-small">
          {shownText(problem)}
        </p>
      )}
    </>
  );
}

export function ImageButton({
  disabled,
  onFiles,
}: {
  disabled: boolean;
  onFiles: (files: readonly File[]) => void;
}) {
  const field = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={field}
        type="file"
        hidden
        multiple
        accept={imageTypes.join(',')}
        onChange={({ target }) => {
          onFiles([...(target.files ?? [])]);
          // The same file can be chosen again.
          target.value = '';
        }}
      />
      <Button disabled={disabled} onClick={() => field.current?.click()}>
        <ImagePlus aria-hidden="true" className="size-3.5" />
        Attach image
      </Button>
    </>
  );
}
