const ESCAPED = /[<>&\u2028\u2029]/g;

/**
 * Prints a text as Go's `encoding/json` does: as JSON, with `<`, `>`, `&` and the two line separators of Unicode as escapes.
 */
export function printGoString(text: string): string {
  return JSON.stringify(text).replace(
    ESCAPED,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
