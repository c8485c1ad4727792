/**
 * What the submitter reports to a worker about its connection. A worker proves and goes on; what became of its results it
 * learns later, and an error that concerns all of them must stop the next cycle.
 */
export interface SubmissionHealth {
  readonly succeeded: () => void;
  readonly failed: (error: Error) => void;
  /** The last error, until a result was included. */
  readonly error: () => Error | undefined;
  /** Returns the last error when it was not taken yet. */
  readonly take: () => Error | undefined;
}

/** Creates the health of a connection without an error. */
export function createSubmissionHealth(): SubmissionHealth {
  let error: Error | undefined;
  let isNew = false;
  return {
    succeeded: () => {
      error = undefined;
    },
    failed: (last) => {
      [error, isNew] = [last, true];
    },
    error: () => error,
    take: () => {
      const taken = isNew ? error : undefined;
      isNew = false;
      return taken;
    },
  };
}
