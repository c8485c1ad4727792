/** Formats a whole number with commas: "2,592,000". */
export function formatCount(count: bigint | number): string {
  return String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
}

/** Formats hundredths of the currency unit: "2,958.00". */
export function formatCents(cents: bigint): string {
  const [sign, size] = cents < 0n ? ["-", -cents] : ["", cents];
  return `${sign}${formatCount(size / 100n)}.${(size % 100n).toString().padStart(2, "0")}`;
}

/** Formats a time: "2026-10-12 03:00:05". UTC. */
export function formatTime(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 19).replace("T", " ");
}

/** Formats a time to the minute: "2026-10-12 03:00". UTC. */
export function formatMinute(atMs: number): string {
  return formatTime(atMs).slice(0, 16);
}

/** Formats a duration with two units at most: "45 s", "12 min", "3 h 5 min", "2 d 4 h". */
export function formatDuration(durationMs: number): string {
  const seconds = Math.max(0, Math.round(durationMs / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 1440) return twoUnits(Math.floor(minutes / 60), "h", minutes % 60, "min");
  const hours = Math.round(minutes / 60);
  return twoUnits(Math.floor(hours / 24), "d", hours % 24, "h");
}

function twoUnits(first: number, firstUnit: string, second: number, secondUnit: string): string {
  return second === 0 ? `${first} ${firstUnit}` : `${first} ${firstUnit} ${second} ${secondUnit}`;
}

/** ISO 8601 for JSON. */
export function isoTime(atMs: number): string {
  return new Date(atMs).toISOString();
}
