import { Failure } from "../../../../cosmos/proto/gen/neutron/contractmanager/failure.ts";
import { Params } from "../../../../cosmos/proto/gen/neutron/contractmanager/params.ts";
import {
  concat,
  fromUtf8,
  prefixEnd,
  readUint64BigEndian,
  uint64BigEndian,
  utf8,
} from "../../../../platform/base/bytes.ts";
import type { Context } from "../../runtime/context.ts";
import { errorsOf } from "../../runtime/errors.ts";
import type { ParamsModuleOptions } from "../../runtime/params-module.ts";
import { defineParams, type ModuleParams } from "../../runtime/params.ts";
import { type Codec, createMap, messageCodec } from "../../store/collections.ts";
import type { RelayedPacket } from "../ibc/channel/ibc-module.ts";
import type { ContractKeeper } from "../wasm/types.ts";

/** Name of the module and its store, and the error codespace. */
export const MODULE_NAME = "contractmanager";

/** `sudo_call_gas_limit`: the gas limit for each sudo call on behalf of the chain. */
export const moduleParams: ModuleParams<Params> = defineParams({
  store: MODULE_NAME,
  key: Uint8Array.of(2),
  type: Params,
  defaults: { sudoCallGasLimit: 1_000_000n },
});

type FailureKey = Pick<Failure, "address" | "id">;

const keyCodec: Codec<FailureKey> = {
  encode: ({ address, id }) => concat(failuresOf(address), uint64BigEndian(id)),
  decode: (key) => ({ address: fromUtf8(key.subarray(0, -9)), id: readUint64BigEndian(key.subarray(-8)) }),
};

/** Failed calls: `0x01 | address (text) | "/" | id (8 bytes, big-endian)`. */
export const failures = createMap(MODULE_NAME, Uint8Array.of(1), keyCodec, messageCodec<Failure>(Failure));

/** Returns the key prefix of one contract's failures. */
export function failuresOf(address: string): Uint8Array {
  return utf8(`${address}/`);
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
export interface Keepers extends ParamsModuleOptions, ContractManagerDeps {}

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

/**
 * Stores and returns a failed call under the number after its contract's last failure, starting at 0. The number of a removed last
 * failure is reused.
 */
export function addFailure(context: Context, failed: Omit<Failure, "id">): Failure {
  const { store, prefix } = failures.range(context, failuresOf(failed.address));
  const [last] = store.iterateReverse(prefix, prefixEnd(prefix));
  const id = last === undefined ? 0n : readUint64BigEndian(last[0].subarray(prefix.length)) + 1n;
  const failure = { ...failed, id };
  failures.set(context, failure, failure);
  return failure;
}
