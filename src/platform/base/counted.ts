/** Formats a number and its noun: "1 query", "2 queries". `plural` defaults to the singular and "s". */
export function counted(count: number, singular: string, plural = `${singular}s`): string {
  return `${count} ${count === 1 ? singular : plural}`;
}
