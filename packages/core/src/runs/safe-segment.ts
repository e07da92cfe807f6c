// Names that become a part of a path: a run's folder, a worker's file.
const segment = /^(?!\.)[A-Za-z0-9._-]{1,120}$/;

/** Whether the text names one file or folder and nothing else. A leading dot is for hidden and temporary files. */
export function safeSegment(text: string): boolean {
  return segment.test(text);
}
