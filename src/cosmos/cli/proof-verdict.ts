/** Result of verifying one recorded case. */
export interface ProofVerdict {
  readonly name: string;
  /** "membership", "non-membership", "query refused", "transaction" or "light client". */
  readonly kind: string;
  /** What the proof proves, or why it is invalid. */
  readonly detail: string;
  readonly valid: boolean;
  /** The verdict that the file expects. */
  readonly expected: boolean;
}

/** Whether the verdict is the recorded one. */
export function isAsRecorded(verdict: ProofVerdict): boolean {
  return verdict.valid === verdict.expected;
}
