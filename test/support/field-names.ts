/** Returns the names of all fields of a JSON value, at any depth. */
export function fieldNames(value: unknown): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  const inner = Object.values(value).flatMap(fieldNames);
  return Array.isArray(value) ? inner : [...Object.keys(value), ...inner];
}
