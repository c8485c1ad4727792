const MIN_LENGTH = 10;
const MAX_LENGTH = 64;
const ALLOWED = /^[A-Za-z0-9._+\-#[\]<>]+$/;

/**
 * Why a text cannot be a connection id (ICS-24), in ibc-go's words, or undefined. Such a lookup fails before the store
 * is read, with gRPC status InvalidArgument.
 */
export function connectionIdError(id: string): string | undefined {
  if (id.trim() === "") return "identifier cannot be blank: invalid identifier";
  if (id.includes("/")) return `identifier ${id} cannot contain separator '/': invalid identifier`;
  const length = new TextEncoder().encode(id).length;
  if (length < MIN_LENGTH || length > MAX_LENGTH)
    return `identifier ${id} has invalid length: ${length}, must be between ${MIN_LENGTH}-${MAX_LENGTH} characters: invalid identifier`;
  if (ALLOWED.test(id)) return undefined;
  return `identifier ${id} must contain only alphanumeric or the following characters: '.', '_', '+', '-', '#', '[', ']', '<', '>': invalid identifier`;
}
