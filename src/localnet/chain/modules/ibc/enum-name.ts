/** Returns the name of a value of an enum, or the number of an unknown one, as Go prints it. */
export function enumName(values: Readonly<Record<string, number>>, value: number): string {
  return Object.entries(values).find(([, known]) => known === value)?.[0] ?? value.toString();
}
