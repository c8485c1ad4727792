import type { SubmitGate } from "../../src/relayer/result/submit-gate.ts";

/** A gate that admits every transaction. */
export const openGate: SubmitGate = {
  admit: () => Promise.resolve({ admitted: true, release: () => {} }),
};
