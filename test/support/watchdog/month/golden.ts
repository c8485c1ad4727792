/** What the watchdog must leave of the generated month, polled every {@link GOLDEN_INTERVAL_MS}. Read by eye. */
export const GOLDEN_FILE = "test/vectors/watchdog/month-2026-10.txt";

/** Short enough for every alert of the month to fire. */
export const GOLDEN_INTERVAL_MS = 600_000;

/** The sections of the golden file, one for each validator. */
export function goldenSections(text: string): readonly string[] {
  return text.split(/^(?=## )/m).map((section) => section.replace(/\n\n$/, "\n"));
}
