export interface Finding {
  /** The checked part, for example "connection-0: light client". */
  readonly subject: string;
  /** "unseen": the check could not read its data. "advice": the relayer works, but a change would improve it. */
  readonly outcome: "good" | "advice" | "problem" | "unseen";
  readonly text: string;
  /** What the operator should do; undefined if there is no problem. */
  readonly advice: string | undefined;
}

export function good(subject: string, text: string): Finding {
  return { subject, outcome: "good", text, advice: undefined };
}

export function advise(subject: string, text: string, advice: string): Finding {
  return { subject, outcome: "advice", text, advice };
}

export function problem(subject: string, text: string, advice: string): Finding {
  return { subject, outcome: "problem", text, advice };
}

export function unseen(subject: string, text: string, advice: string): Finding {
  return { subject, outcome: "unseen", text, advice };
}
