import { Failure } from "../../../../cosmos/proto/gen/neutron/contractmanager/failure.ts";
import {
  concat,
  prefixEnd,
  readUint64BigEndian,
  uint64BigEndian,
  utf8,
} from "../../../../platform/base/bytes.ts";
import type { Context } from "../../runtime/context.ts";
import { errorsOf } from "../../runtime/errors.ts";
import type { RelayedPacket } from "../ibc/channel/ibc-module.ts";

/** Name of the module and its store, and the error codespace. */
export const MODULE_NAME = "contractmanager";

/** `0x01` | address (text) | `/` | id (8 bytes, big-endian) → `Failure`. */
export const FAILURES_PREFIX = Uint8Array.of(1);

/** Returns the key prefix of one contract's failures. */
export function failuresOf(address: string): Uint8Array {
  return concat(FAILURES_PREFIX, utf8(`${address}/`));
}

export interface ContractManagerOptions {
  /** The chain's own name, used as the package prefix in type URLs and query paths. */
  readonly chainName: string;
  /** Bech32 prefix of account addresses. */
  readonly bech32Prefix: string;
  /** Bech32 address of the account that may change the params. */
  readonly authority: string;
}

/** Contract host methods that the module calls. */
interface ContractKeeper {
  readonly isContract: (context: Context, address: string) => boolean;
  /** Calls a contract's sudo entry point with JSON text. Throws `ModuleError` if the contract fails. */
  readonly sudo: (context: Context, address: string, message: string) => void;
}

/** Pays relayers for relaying the results of packets that contracts sent. */
export interface FeeKeeper {
  readonly distributeAcknowledgementFee: (
    context: Context,
    relayer: Uint8Array,
    packet: RelayedPacket,
  ) => void;
  readonly distributeTimeoutFee: (context: Context, relayer: Uint8Array, packet: RelayedPacket) => void;
}

export interface ContractManagerDeps {
  readonly contracts: ContractKeeper;
  /** If absent, relayers are not paid. */
  readonly fees?: FeeKeeper;
}

/** Options, and keepers of other modules. */
export interface Keepers extends ContractManagerOptions, ContractManagerDeps {}

const register = errorsOf(MODULE_NAME);
export const IncorrectFailureToResubmit = register(1101, "incorrect failure to resubmit");
export const FailedToResubmitFailure = register(1102, "failed to resubmit failure");
export const ErrSudoOutOfGas = register(
  1103,
  "sudo handling went beyond the gas limit allowed by the module",
);
export const ErrNotContractResubmission = register(
  1104,
  "failures resubmission is only allowed to be called by a smart contract",
);

/** Stores and returns a failed call under its contract's next number. The number of a removed last failure is reused. */
export function addFailure(context: Context, failed: Omit<Failure, "id">): Failure {
  const failure = { ...failed, id: nextId(context, failed.address) };
  setFailure(context, failure);
  return failure;
}

export function setFailure(context: Context, failure: Failure): void {
  context.store(MODULE_NAME).set(keyOf(failure.address, failure.id), Failure.encode(failure).finish());
}

export function getFailure(context: Context, address: string, id: bigint): Failure | undefined {
  const bytes = context.store(MODULE_NAME).get(keyOf(address, id));
  return bytes === undefined ? undefined : Failure.decode(bytes);
}

export function removeFailure(context: Context, { address, id }: Failure): void {
  context.store(MODULE_NAME).delete(keyOf(address, id));
}

/** Returns all failures, ordered by address and number. */
export function allFailures(context: Context): readonly Failure[] {
  const entries = context.store(MODULE_NAME).iterate(FAILURES_PREFIX, prefixEnd(FAILURES_PREFIX));
  return Array.from(entries, ([, value]) => Failure.decode(value));
}

/** Returns the number after a contract's last failure, or 0 if it has none. */
function nextId(context: Context, address: string): bigint {
  const prefix = failuresOf(address);
  const last = context.store(MODULE_NAME).iterateReverse(prefix, prefixEnd(prefix)).next();
  return last.done === true ? 0n : readUint64BigEndian(last.value[0].subarray(prefix.length)) + 1n;
}

function keyOf(address: string, id: bigint): Uint8Array {
  return concat(failuresOf(address), uint64BigEndian(id));
}
