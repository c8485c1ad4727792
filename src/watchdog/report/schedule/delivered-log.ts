import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { z } from "zod";

/** Which reports went where, so that a restart repeats none and loses none. */
export interface DeliveredLog {
  /** `place` is "file" or the name of a channel. */
  readonly has: (report: string, place: string) => boolean;
  /** Durable when the call returns. */
  readonly note: (report: string, place: string, atMs: number) => void;
}

const stored = z.record(z.string(), z.number());

/** Entries that are kept; the oldest go first. */
const MAX_ENTRIES = 1000;

/** Name of the file in the folder of the reports. */
const FILE = "delivered.json";

/** Opens the log of a folder, or one in memory. A file that cannot be read counts as empty: reports are repeated then. */
export function openDeliveredLog(directory: string | undefined): DeliveredLog {
  const path = directory === undefined ? undefined : join(directory, FILE);
  let entries = path === undefined ? {} : readEntries(path);
  return {
    has: (report, place) => Object.hasOwn(entries, `${report} ${place}`),
    note: (report, place, atMs) => {
      const all = Object.entries({ ...entries, [`${report} ${place}`]: atMs });
      entries = Object.fromEntries(all.toSorted(([, a], [, b]) => a - b).slice(-MAX_ENTRIES));
      if (path !== undefined) writeDurably(path, JSON.stringify(entries, null, 2));
    },
  };
}

function readEntries(path: string): Readonly<Record<string, number>> {
  if (!existsSync(path)) return {};
  try {
    return stored.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch {
    return {};
  }
}

/** Writes a file as a whole: after a crash, the old or the new content is there. Creates its folder. */
export function writeDurably(path: string, text: string): void {
  mkdirSync(join(path, ".."), { recursive: true, mode: 0o700 });
  const temporary = `${path}.tmp`;
  const file = openSync(temporary, "w", 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
}
