/** The result of one check. */
export interface Finding {
  /** The checked part, such as "connection-0: light client". */
  readonly subject: string;
  /** "unseen": the check could not read what it needs. "advice": the relayer works, but something could be better. */
  readonly outcome: "good" | "advice" | "problem" | "unseen";
  /** The finding itself. */
  readonly text: string;
  /** What to do; undefined if there is no problem. */
  readonly advice: string | undefined;
}

/** Creates a finding without a problem. */
export function good(subject: string, text: string): Finding {
  return { subject, outcome: "good", text, advice: undefined };
}

/** Creates a finding for something that works but could be better. */
export function advise(subject: string, text: string, advice: string): Finding {
  return { subject, outcome: "advice", text, advice };
}

/** Creates a finding that requires an operator. */
export function problem(subject: string, text: string, advice: string): Finding {
  return { subject, outcome: "problem", text, advice };
}

/** Creates a finding for a check that could not read what it needs. */
export function unseen(subject: string, text: string, advice: string): Finding {
  return { subject, outcome: "unseen", text, advice };
}
