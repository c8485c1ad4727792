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

export interface AnteOptions {
  readonly accounts: AnteAccounts;
  /** Takes the fee into escrow. */
  readonly takeFee: AnteStep;
  /** Store in which the contract host counts transactions. Absent on a chain without contracts. */
  readonly txCounterStore?: string;
  /** Checks the messages of relayers before they reach a block. */
  readonly relayCheck?: AnteStep;
}

/**
 * Creates the ante handler: the steps before the messages. Steps, order and error texts are those of the SDK's ante
 * decorators, as the deployed release combines them.
 *
 * The order decides which error a bad transaction gets and how much gas it has used by then, and both are part of the
 * result. Cheap stateless checks come first. The fee precedes the signatures, because verifying a signature is the most
 * expensive step: a transaction that cannot pay does not reach it. Keys precede signatures, because the first
 * transaction of an account brings its key. Sequences follow: they advance only for a transaction that passed all checks but
 * those of relayed packets, which are as expensive as the messages themselves.
 */
export function createAnteHandler(options: AnteOptions): AnteStep {
  const { accounts, takeFee, txCounterStore, relayCheck } = options;
  const steps: readonly AnteStep[] = [
    ...(txCounterStore === undefined ? [] : [countTx(txCounterStore)]), // wasmd CountTXDecorator
    rejectExtensionOptions, // ExtensionOptionsDecorator
    validateBasic(accounts), // ValidateBasicDecorator
    checkTimeoutHeight, // TxTimeoutHeightDecorator
    checkMemo(accounts), // ValidateMemoDecorator
    chargeTxSize(accounts), // ConsumeTxSizeGasDecorator
    takeFee, // feemarket FeeMarketCheckDecorator, in the place of DeductFeeDecorator
    setPublicKeys(accounts), // SetPubKeyDecorator
    limitSignatures(accounts), // ValidateSigCountDecorator
    chargeSignatures(accounts), // SigGasConsumeDecorator
    verifySignatures(accounts), // SigVerificationDecorator
    advanceSequences(accounts), // IncrementSequenceDecorator
    ...(relayCheck === undefined ? [] : [relayCheck]), // ibc-go RedundantRelayDecorator
  ];
  return (context, tx, environment) => {
    for (const step of steps) step(context, tx, environment);
  };
}
