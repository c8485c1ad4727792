/** Prints a JSON object without spaces. The values are JSON text, so that 64-bit numbers keep all digits. */
export function printGoObject(members: readonly (readonly [name: string, json: string])[]): string {
  return `{${members.map(([name, json]) => `"${name}":${json}`).join(",")}}`;
}
