import type { AnteAccounts, AnteStep } from "./ante-step.ts";
import {
  chargeTxSize,
  checkMemo,
  checkTimeoutHeight,
  countTx,
  rejectExtensionOptions,
  validateBasic,
} from "./basic-steps.ts";
import {
  advanceSequences,
  chargeSignatures,
  limitSignatures,
  setPublicKeys,
  verifySignatures,
} from "./signature-steps.ts";

/** What the order of checks is built from. */
export interface AnteOptions {
  readonly accounts: AnteAccounts;
  /** Takes the fee into escrow. */
  readonly takeFee: AnteStep;
  /** Store of the contract host, when the chain has one: it counts transactions there. */
  readonly txCounterStore?: string;
}

/** The checks before the messages, in the order of the deployed chain: the fee is taken before signatures are looked at. */
export function createAnteHandler(options: AnteOptions): AnteStep {
  const { accounts, takeFee, txCounterStore } = options;
  const steps: readonly AnteStep[] = [
    ...(txCounterStore === undefined ? [] : [countTx(txCounterStore)]),
    rejectExtensionOptions,
    validateBasic(accounts),
    checkTimeoutHeight,
    checkMemo(accounts),
    chargeTxSize(accounts),
    takeFee,
    setPublicKeys(accounts),
    limitSignatures(accounts),
    chargeSignatures(accounts),
    verifySignatures(accounts),
    advanceSequences(accounts),
  ];
  return (context, tx, environment) => {
    for (const step of steps) step(context, tx, environment);
  };
}
