/** What the verification of one recorded case says. */
export interface ProofVerdict {
  readonly name: string;
  /** "membership", "non-membership", "query refused", "transaction" or "light client". */
  readonly kind: string;
  /** What the proof shows, or why it does not. */
  readonly says: string;
  readonly valid: boolean;
  /** What the file says that the verdict must be. */
  readonly expected: boolean;
}

/** Whether the verdict is the recorded one. */
export function agrees(verdict: ProofVerdict): boolean {
  return verdict.valid === verdict.expected;
}
