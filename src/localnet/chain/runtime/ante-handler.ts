import { concat, readUint64BigEndian, uint64BigEndian } from "../../../platform/base/bytes.ts";
import type { AccountStep, AnteAccounts, AnteStep } from "./ante-step.ts";
import {
  parseSigner,
  advanceSequences,
  chargeSignatures,
  limitSignatures,
  setPublicKeys,
  verifySignatures,
} from "./signature-steps.ts";
import { formatCoins, parseCoins } from "./coins.ts";
import { type DecodedTx, feeOf } from "./tx.ts";
import * as errors from "./errors.ts";

export interface AnteOptions {
  readonly accounts: AnteAccounts;
  /** Deducts the fee from the payer's account and moves it into escrow. */
  readonly takeFee: AnteStep;
  /** Name of the store that contains the transaction counter, which contracts can read, or undefined on chains without contracts. */
  readonly txCounterStore?: string;
  /** Rejects redundant relayer messages before they reach a block. */
  readonly relayCheck?: AnteStep;
}

/**
 * Creates the ante handler, whose steps run before the messages. The order and the error messages match the deployed release's
 * ante decorators.
 *
 * The order of the steps determines the error that an invalid transaction gets, and the gas that the transaction has used until then. Cheap
 * stateless checks come first. The fee is taken before the signatures are verified, so that a transaction that cannot pay never reaches the
 * most expensive step. Keys are stored before signatures are verified, because an account's first transaction provides its key. Sequences
 * are incremented only after the signatures have been verified. The check for redundant relayer messages runs last, because it costs as
 * much as the messages themselves.
 */
export function createAnteHandler(options: AnteOptions): AnteStep {
  const { accounts, takeFee, txCounterStore, relayCheck } = options;
  const ofAccounts =
    (step: AccountStep): AnteStep =>
    (context, tx) =>
      step(accounts, context, tx);
  const steps: readonly AnteStep[] = [
    ...(txCounterStore === undefined ? [] : [countTx(txCounterStore)]), // wasmd CountTXDecorator
    rejectExtensionOptions, // ExtensionOptionsDecorator
    ofAccounts(validateBasic), // ValidateBasicDecorator
    checkTimeoutHeight, // TxTimeoutHeightDecorator
    ofAccounts(checkMemo), // ValidateMemoDecorator
    ofAccounts(chargeTxSize), // ConsumeTxSizeGasDecorator
    takeFee, // feemarket FeeMarketCheckDecorator, which replaces DeductFeeDecorator
    ofAccounts(setPublicKeys), // SetPubKeyDecorator
    ofAccounts(limitSignatures), // ValidateSigCountDecorator
    ofAccounts(chargeSignatures), // SigGasConsumeDecorator
    ofAccounts(verifySignatures), // SigVerificationDecorator
    ofAccounts(advanceSequences), // IncrementSequenceDecorator
    ...(relayCheck === undefined ? [] : [relayCheck]), // ibc-go RedundantRelayDecorator
  ];
  return (context, tx, environment) => {
    for (const step of steps) step(context, tx, environment);
  };
}

/** Maximum gas limit: the largest signed 64-bit integer (SDK `txtypes.MaxGasWanted`). */
const MAX_GAS = (1n << 63n) - 1n;
/**
 * Size that a simulation assumes for a missing signature, in bytes. As in the SDK, this is 106 bytes for an amino StdSignature with
 * its key, plus 6 bytes.
 */
const SIMULATED_SIGNATURE_BYTES = 112n;
/** wasmd's `TXCounterPrefix`. The value is the height (8 bytes) followed by the transaction count (4 bytes), both big-endian. */
const TX_COUNTER_KEY = Uint8Array.of(8);

/**
 * Counts a block's transactions, but no simulations, in the contract host's store (wasmd `CountTXDecorator`). The count is stored with its
 * block height, and restarts from 0 at the next height.
 */
function countTx(storeName: string): AnteStep {
  return (context) => {
    if (context.mode === "simulate") return;
    const store = context.store(storeName);
    const last = store.get(TX_COUNTER_KEY);
    const count = last !== undefined && readUint64BigEndian(last) === context.height ? readCounter(last) : 0;
    store.set(TX_COUNTER_KEY, concat(uint64BigEndian(context.height), writeCounter(count + 1)));
  };
}

function readCounter(bytes: Uint8Array): number {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(8);
}

function writeCounter(count: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, count);
  return bytes;
}

/** Rejects critical extension options, because the chain defines none. */
const rejectExtensionOptions: AnteStep = (_context, tx) => {
  if (tx.body.extensionOptions.length > 0) throw errors.ErrUnknownExtensionOptions();
};

/**
 * Runs a transaction's stateless checks (SDK `Tx.ValidateBasic`). A recheck skips the checks, because the transaction has already
 * passed them.
 */
const validateBasic: AccountStep = (accounts, context, tx) => {
  if (context.mode === "recheck") return;
  checkFee(tx, accounts);
  const { signatures } = tx.raw;
  if (signatures.length === 0) throw errors.ErrNoSignatures();
  for (const signer of tx.signers) parseSigner(accounts, signer);
  if (signatures.length === tx.signers.length) return;
  throw errors.ErrUnauthorized(
    `wrong number of signers; expected ${tx.signers.length}, got ${signatures.length}`,
  );
};

function checkFee(tx: DecodedTx, accounts: AnteAccounts): void {
  const fee = feeOf(tx);
  if (fee.gasLimit > MAX_GAS)
    throw errors.ErrInvalidRequest(`invalid gas supplied; ${fee.gasLimit} > ${MAX_GAS}`);
  const coins = parseCoins(fee.amount);
  if (coins.some(({ amount }) => amount < 0n))
    throw errors.ErrInsufficientFee(`invalid fee provided: ${formatCoins(coins)}`);
  if (fee.payer === "") return;
  errors.orThrow(
    () => accounts.parseAddress(fee.payer),
    (reason) => errors.ErrInvalidAddress(`Invalid fee payer address (${reason})`),
  );
}

const checkTimeoutHeight: AnteStep = (context, tx) => {
  const { timeoutHeight } = tx.body;
  if (timeoutHeight > 0n && context.height > timeoutHeight)
    throw errors.ErrTxTimeoutHeight(`block height: ${context.height}, timeout height: ${timeoutHeight}`);
};

/**
 * Rejects a memo that is too long. Like the SDK, reads the parameters only if the transaction has a memo, because the read consumes
 * gas.
 */
const checkMemo: AccountStep = (accounts, context, tx) => {
  const length = new TextEncoder().encode(tx.body.memo).length;
  if (length === 0) return;
  const { maxMemoCharacters } = accounts.params(context);
  if (BigInt(length) <= maxMemoCharacters) return;
  throw errors.ErrMemoTooLarge(
    `maximum number of characters is ${maxMemoCharacters} but received ${length} characters`,
  );
};

/**
 * Charges gas for each byte of the transaction. A simulated transaction may lack signatures, so a simulation also charges for the
 * bytes that each missing signature will add.
 */
const chargeTxSize: AccountStep = (accounts, context, tx) => {
  const { txSizeCostPerByte } = accounts.params(context);
  context.gas.consume(txSizeCostPerByte * BigInt(tx.bytes.length), "txSize");
  if (context.mode !== "simulate") return;
  for (const [index, signer] of tx.signers.entries()) {
    if ((tx.raw.signatures[index]?.length ?? 0) > 0) continue;
    // Read the account only to consume the same gas as the SDK, which needs the type of the account's key. On this chain, all keys
    // have the same type.
    accounts.get(context, parseSigner(accounts, signer));
    context.gas.consume(txSizeCostPerByte * SIMULATED_SIGNATURE_BYTES, "txSize");
  }
};
