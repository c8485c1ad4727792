/** What a check of the doctor found. */
export interface Finding {
  /** What was checked: "connection-0: light client". */
  readonly subject: string;
  /** "unseen": what the check needs could not be read. */
  readonly verdict: "good" | "problem" | "unseen";
  /** What was found. */
  readonly text: string;
  /** What to do; undefined when all is well. */
  readonly advice: string | undefined;
}

/** Creates a finding without a problem. */
export function good(subject: string, text: string): Finding {
  return { subject, verdict: "good", text, advice: undefined };
}

/** Creates a finding that needs an operator. */
export function problem(subject: string, text: string, advice: string): Finding {
  return { subject, verdict: "problem", text, advice };
}

/** Creates a finding of a check that could not read what it needs. */
export function unseen(subject: string, text: string, advice: string): Finding {
  return { subject, verdict: "unseen", text, advice };
}
