/** Formats a number and its noun: "1 query", "2 queries". `plural` defaults to the singular and "s". */
export function counted(count: number, singular: string, plural = `${singular}s`): string {
  return `${count} ${count === 1 ? singular : plural}`;
}

const UNITS = [
  { name: "d", ms: 86_400_000 },
  { name: "h", ms: 3_600_000 },
  { name: "min", ms: 60_000 },
  { name: "s", ms: 1_000 },
] as const;

/** Formats a duration for people in at most two units: "0 s", "200 s", "12 min 5 s", "2 d 4 h". Rounds down. */
export function formatDuration(ms: number): string {
  // Up to ten minutes, seconds alone are easier to compare with each other.
  if (ms < 600_000) return `${Math.floor(Math.max(0, ms) / 1_000)} s`;
  const first = UNITS.findIndex((unit) => ms >= unit.ms);
  let rest = ms;
  const parts = UNITS.slice(first, first + 2).map((unit) => {
    const count = Math.floor(rest / unit.ms);
    rest -= count * unit.ms;
    return count === 0 ? "" : `${count} ${unit.name}`;
  });
  return parts.filter((part) => part !== "").join(" ");
}

/** Returns the name of a value of an enum, or the number of an unknown one, as Go prints it. */
export function enumName(values: Readonly<Record<string, number>>, value: number): string {
  return Object.entries(values).find(([, known]) => known === value)?.[0] ?? value.toString();
}
