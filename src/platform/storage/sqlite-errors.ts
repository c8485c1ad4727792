/** Thrown for a database file of zero bytes. */
export class EmptyDatabaseError extends Error {}

/** Returns true if an error or its cause means that a file is damaged, empty or not a database. */
export function isDamaged(error: unknown): boolean {
  return isCausedBy(
    error,
    (one) => one instanceof EmptyDatabaseError || codeMatches(one, /^SQLITE_(?:CORRUPT|NOTADB)/),
  );
}

/** Returns true if the disk did not accept a write, because it is full, failing, or mounted read-only. */
export function isDiskProblem(error: unknown): boolean {
  return isCausedBy(error, (one) =>
    codeMatches(one, /^(?:SQLITE_(?:FULL|IOERR|READONLY|CANTOPEN)|ENOSPC|EDQUOT)/),
  );
}

/** Returns true if a write failed because the disk is full, so that it can succeed once there is space. */
export function isDiskFull(error: unknown): boolean {
  return isCausedBy(error, (one) => codeMatches(one, /^(?:SQLITE_FULL|ENOSPC|EDQUOT)/));
}

/** Remedy for a full disk, to append to an error message. */
export const MAKE_ROOM = "free space on its disk, and start again";

function isCausedBy(error: unknown, matches: (error: Error) => boolean): boolean {
  return error instanceof Error && (matches(error) || isCausedBy(error.cause, matches));
}

function codeMatches(error: Error, codes: RegExp): boolean {
  return "code" in error && typeof error.code === "string" && codes.test(error.code);
}
