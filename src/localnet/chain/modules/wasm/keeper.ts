import * as wire from "../../../../cosmos/proto/gen/cosmwasm/wasm/v1/types.ts";
import {
  concat,
  fromHex,
  prefixEnd,
  readUint64BigEndian,
  sha256,
  toHex,
  uint64BigEndian,
  utf8,
} from "../../../../platform/base/bytes.ts";
import { unreachable } from "../../../../platform/base/errors.ts";
import { tryParseAddress } from "../../runtime/address.ts";
import type { Context } from "../../runtime/context.ts";
import { createGasMeter } from "../../runtime/gas.ts";
import * as collections from "../../store/collections.ts";
import type { Entry, KVStore } from "../../store/cache-store.ts";
import type { ContractCode } from "./contract.ts";
import { ErrInvalid, ErrNoSuchCode, ErrNoSuchContract, MODULE_NAME, ErrEmpty } from "./keys.ts";
import { defineParams } from "../../runtime/params.ts";

// The store layout is the same as wasmd's, except for the code bytes. Numbers in keys are encoded as 8 bytes, big-endian.

/** Code infos, stored under `0x01 | id`. */
export const codes = collections.createMap(
  MODULE_NAME,
  Uint8Array.of(0x01),
  collections.uint64Codec,
  collections.messageCodec<wire.CodeInfo>(wire.CodeInfo),
);

/** Contract infos, stored under `0x02 | address`. */
export const contracts = collections.createMap(
  MODULE_NAME,
  Uint8Array.of(0x02),
  collections.bytesCodec,
  collections.messageCodec<wire.ContractInfo>(wire.ContractInfo),
);

/** Key prefix of the entries that contracts write. A key is `0x03 | address | the contract's key`. */
const STATE_PREFIX = Uint8Array.of(0x03);

/** Store keys of the counters for codes and contract instances. */
export const CODE_SEQUENCE_KEY = concat(Uint8Array.of(0x04), utf8("lastCodeId"));
export const INSTANCE_SEQUENCE_KEY = concat(Uint8Array.of(0x04), utf8("lastContractId"));

/** The next code id, starting with 1. The id is not stored before the first code is stored. */
export const codeSequence = collections.createSequence(MODULE_NAME, CODE_SEQUENCE_KEY, 1n);

/** The next instance number, starting with 1. The number is not stored before the first contract is created. */
export const instanceSequence = collections.createSequence(MODULE_NAME, INSTANCE_SEQUENCE_KEY, 1n);

/** Identifies an entry in a contract's code history, whose entries are numbered from 1. */
interface HistoryKey {
  readonly address: Uint8Array;
  readonly number: bigint;
}

const historyCodec: collections.Codec<HistoryKey> = {
  encode: ({ address, number }) => concat(address, uint64BigEndian(number)),
  decode: (key) => ({ address: key.subarray(0, -8), number: readUint64BigEndian(key.subarray(-8)) }),
};

/** Entries of contracts' code histories, stored under `0x05 | address | number`. */
export const histories = collections.createMap(
  MODULE_NAME,
  Uint8Array.of(0x05),
  historyCodec,
  collections.messageCodec<wire.ContractCodeHistoryEntry>(wire.ContractCodeHistoryEntry),
);

/** Pinned codes, whose instances cost less gas. The key is `0x07 | code id`, and the value is the byte 1. */
export const pinned = collections.createMap(
  MODULE_NAME,
  Uint8Array.of(0x07),
  collections.uint64Codec,
  collections.bytesCodec,
);

/**
 * Key of the ante handler's transaction counter. The value contains the height (8 bytes) and the transaction number (4 bytes),
 * big-endian.
 */
const TX_COUNTER_KEY = Uint8Array.of(0x08);

/** Key prefix of the code bytes, stored under `0xff | checksum`. wasmd stores code bytes in files instead. */
const CODE_BYTES_PREFIX = Uint8Array.of(0xff);

/** Returns whether a code is pinned. Instances of pinned code cost less gas. */
export function isPinned(context: Context, codeId: bigint): boolean {
  return pinned.has(context, codeId);
}

export function setPinned(context: Context, codeId: bigint, pin: boolean): void {
  if (pin) pinned.set(context, codeId, Uint8Array.of(1));
  else pinned.delete(context, codeId);
}

/** Returns the current transaction's index in its block, as counted by the ante handler. Returns undefined before the first transaction. */
export function transactionIndex(context: Context): number | undefined {
  const counter = context.store(MODULE_NAME).get(TX_COUNTER_KEY);
  if (counter === undefined || readUint64BigEndian(counter) !== context.height) return undefined;
  return new DataView(counter.buffer, counter.byteOffset, counter.byteLength).getUint32(8) - 1;
}

/**
 * Returns the running transaction's index without consuming gas, or undefined in block hooks, queries and simulations. Block hooks, which
 * run in the mode `deliver` too, have no gas limit.
 */
export function runningTransaction(context: Context): number | undefined {
  if (context.mode !== "deliver" || context.gas.limit === undefined) return undefined;
  return transactionIndex(context.withGas(createGasMeter()));
}

/** Returns the hash of a TypeScript contract's code, which is the SHA-256 hash of the code's name. */
export function codeHash(code: ContractCode): Uint8Array {
  return sha256(utf8(`relaywatch/contract/${code.name}`));
}

/** Returns a function that finds a TypeScript contract's code by the code's hash. */
export function createCodeRegistry(
  codesByName: readonly ContractCode[],
): (hash: Uint8Array) => ContractCode | undefined {
  const byHash = new Map(codesByName.map((code) => [toHex(codeHash(code)), code]));
  return (hash) => byHash.get(toHex(hash));
}

function bytesKey(checksum: Uint8Array): Uint8Array {
  return concat(CODE_BYTES_PREFIX, checksum);
}

/** Stores a code's bytes without consuming gas, because the deployed chain stores code bytes in files. */
export function setCodeBytes(context: Context, checksum: Uint8Array, code: Uint8Array): void {
  const store = context.withGas(createGasMeter()).store(MODULE_NAME);
  if (!store.has(bytesKey(checksum))) store.set(bytesKey(checksum), code);
}

/** Returns a code's bytes by hash, or undefined for a TypeScript contract. Consumes no gas. */
export function findCodeBytes(context: Context, checksum: Uint8Array): Uint8Array | undefined {
  return context.withGas(createGasMeter()).store(MODULE_NAME).get(bytesKey(checksum));
}

/** Returns a stored code's bytes by hash in hex. */
export function codeBytes(context: Context, checksum: string): Uint8Array {
  return (
    findCodeBytes(context, fromHex(checksum)) ?? unreachable(`the bytes of code ${checksum} are not stored`)
  );
}

/** Returns the key prefix for a contract's state in the module's store. */
export function statePrefix(address: Uint8Array): Uint8Array {
  return concat(STATE_PREFIX, address);
}

/** Returns a view of a contract's own entries, with unprefixed keys. */
export function contractStore(context: Context, address: Uint8Array): KVStore {
  const prefix = statePrefix(address);
  const parent = context.store(MODULE_NAME);
  const own = (key: Uint8Array): Uint8Array => concat(prefix, key);
  const range = (start?: Uint8Array, end?: Uint8Array): readonly [Uint8Array, Uint8Array | undefined] => [
    start === undefined ? prefix : own(start),
    end === undefined ? prefixEnd(prefix) : own(end),
  ];
  return {
    get: (key) => parent.get(own(key)),
    has: (key) => parent.has(own(key)),
    set: (key, value) => parent.set(own(key), value),
    delete: (key) => parent.delete(own(key)),
    iterate: (start, end) => withoutPrefix(parent.iterate(...range(start, end)), prefix.length),
    iterateReverse: (start, end) => withoutPrefix(parent.iterateReverse(...range(start, end)), prefix.length),
  };
}

/** Returns a view that throws on writes, because a query must not change the state. */
export function readOnly(store: KVStore): KVStore {
  return { ...store, set: refuseWrite, delete: refuseWrite };
}

function refuseWrite(): never {
  throw new Error("this is a bug: a contract wrote during a query");
}

function* withoutPrefix(entries: IterableIterator<Entry>, length: number): IterableIterator<Entry> {
  for (const [key, value] of entries) yield [key.subarray(length), value];
}

/** Length of an `AbsoluteTxPosition` in a key: the transaction's height and index, 8 bytes each. */
export const POSITION_BYTES = 16;

const EMPTY = new Uint8Array(0);

/**
 * Returns the index key prefix for a code's contracts, `0x06 | code id`. The rest of each key is the position and address, so the
 * contracts are in creation order.
 */
export function codeIndexPrefix(codeId: bigint): Uint8Array {
  return concat(Uint8Array.of(0x06), uint64BigEndian(codeId));
}

/**
 * Returns the index key prefix for a creator's contracts, `0x09 | length | creator`. The rest of each key is the position and
 * address, so the contracts are in creation order.
 */
export function creatorIndexPrefix(creator: Uint8Array): Uint8Array {
  return concat(Uint8Array.of(0x09, creator.length), creator);
}

/**
 * Writes the index entries and the history of a new contract. The store accesses are the same as in wasmd, because each access
 * consumes gas.
 */
export function indexContract(
  context: Context,
  contract: { readonly address: Uint8Array; readonly creator: Uint8Array },
  entry: wire.ContractCodeHistoryEntry,
): void {
  const { address, creator } = contract;
  const store = context.store(MODULE_NAME);
  store.set(codeIndexKey(entry, address), EMPTY);
  store.set(concat(creatorIndexPrefix(creator), positionOf(entry), address), EMPTY);
  appendHistory(context, address, entry);
}

/** Writes an imported contract's indexes and history, indexing the contract under the code in its last entry. */
export function indexImported(
  context: Context,
  contract: { readonly address: Uint8Array; readonly creator: Uint8Array },
  entries: readonly wire.ContractCodeHistoryEntry[],
): void {
  const [first, ...migrations] = entries;
  if (first === undefined) return;
  indexContract(context, contract, first);
  for (const entry of migrations) indexMigration(context, contract.address, entry);
}

/** Records a contract's migration to new code, both in the index and in the history. */
export function indexMigration(
  context: Context,
  address: Uint8Array,
  entry: wire.ContractCodeHistoryEntry,
): void {
  const store = context.store(MODULE_NAME);
  const last = lastHistory(context, address)?.entry ?? unreachable("a contract has no history");
  store.delete(codeIndexKey(last, address));
  appendHistory(context, address, entry);
  store.set(codeIndexKey(entry, address), EMPTY);
}

function codeIndexKey(entry: wire.ContractCodeHistoryEntry, address: Uint8Array): Uint8Array {
  return concat(codeIndexPrefix(entry.codeId), positionOf(entry), address);
}

function appendHistory(context: Context, address: Uint8Array, entry: wire.ContractCodeHistoryEntry): void {
  const number = (lastHistory(context, address)?.number ?? 0n) + 1n;
  histories.set(context, { address, number }, entry);
}

/** Returns the last entry in a contract's history, with its number. */
function lastHistory(
  context: Context,
  address: Uint8Array,
): { readonly number: bigint; readonly entry: wire.ContractCodeHistoryEntry } | undefined {
  const { store, prefix } = histories.range(context, address);
  const [last] = store.iterateReverse(prefix, prefixEnd(prefix));
  if (last === undefined) return undefined;
  const [key, value] = last;
  return {
    number: readUint64BigEndian(key.subarray(prefix.length)),
    entry: wire.ContractCodeHistoryEntry.decode(value),
  };
}

function positionOf({ updated }: wire.ContractCodeHistoryEntry): Uint8Array {
  return concat(uint64BigEndian(updated?.blockHeight ?? 0n), uint64BigEndian(updated?.txIndex ?? 0n));
}

/** A contract and the code that runs when it is called. */
export interface LoadedCode {
  /** Bech32 address. */
  readonly address: string;
  readonly bytes: Uint8Array;
  readonly hash: Uint8Array;
  /** True if the code is written in TypeScript and is part of this program. */
  readonly isTypeScript?: true;
}

export interface LoadedContract extends LoadedCode {
  readonly info: wire.ContractInfo;
}

/** Loads a contract's info and code hash by bech32 address. Throws ErrInvalid, ErrNoSuchContract or ErrNoSuchCode. */
export function loadContract(context: Context, address: string, bech32Prefix: string): LoadedContract {
  const bytes = tryParseAddress(bech32Prefix, address);
  if (!bytes.ok) throw ErrInvalid(`contract: ${bytes.error}`);
  const info = contracts.get(context, bytes.value);
  if (info === undefined) throw ErrNoSuchContract(`address ${address}`);
  const code = codes.get(context, info.codeId);
  if (code === undefined) throw ErrNoSuchCode(`code id ${info.codeId}`);
  return { address, bytes: bytes.value, hash: code.codeHash, info };
}

const { ACCESS_TYPE_ANY_OF_ADDRESSES, ACCESS_TYPE_EVERYBODY, ACCESS_TYPE_UNSPECIFIED } = wire.AccessType;

/** Permission that lets every account upload or instantiate code. */
export const EVERYBODY: wire.AccessConfig = { permission: ACCESS_TYPE_EVERYBODY, addresses: [] };

/** Module parameters: the permission to upload code, and the default permission to instantiate code. */
export const moduleParams = defineParams<wire.Params>({
  store: MODULE_NAME,
  key: Uint8Array.of(0x10),
  type: wire.Params,
  defaults: { codeUploadAccess: EVERYBODY, instantiateDefaultPermission: ACCESS_TYPE_EVERYBODY },
  validate: ({ codeUploadAccess, instantiateDefaultPermission }) => {
    if (instantiateDefaultPermission === ACCESS_TYPE_UNSPECIFIED)
      throw ErrEmpty("type").wrap("instantiate default permission");
    if (codeUploadAccess === undefined || codeUploadAccess.permission === ACCESS_TYPE_UNSPECIFIED)
      throw ErrEmpty("type").wrap("upload access");
  },
});

/** Returns whether an account has a permission. */
export function isAllowed(config: wire.AccessConfig | undefined, account: string): boolean {
  if (config?.permission === ACCESS_TYPE_ANY_OF_ADDRESSES) return config.addresses.includes(account);
  return config?.permission === ACCESS_TYPE_EVERYBODY;
}

/** Returns whether everyone allowed by `config` is also allowed by `of`. */
export function isSubset(config: wire.AccessConfig, of: wire.AccessConfig): boolean {
  if (of.permission === ACCESS_TYPE_EVERYBODY || config.permission === wire.AccessType.ACCESS_TYPE_NOBODY)
    return true;
  const areLists = [config, of].every(({ permission }) => permission === ACCESS_TYPE_ANY_OF_ADDRESSES);
  return areLists && config.addresses.every((address) => of.addresses.includes(address));
}

/**
 * Returns a contract's 32-byte address (wasmd `BuildContractAddressClassic`). `instance` is the contract's number on the chain,
 * starting with 1.
 */
export function classicContractAddress(codeId: bigint, instance: bigint): Uint8Array {
  return moduleAddressOf(concat(uint64BigEndian(codeId), uint64BigEndian(instance)));
}

/** The values that determine a predictable address (`MsgInstantiateContract2`). */
interface PredictableContract {
  /** SHA-256 hash of the code (32 bytes). */
  readonly checksum: Uint8Array;
  readonly creator: Uint8Array;
  readonly salt: Uint8Array;
  /** The JSON message, or empty if the address does not depend on the message. */
  readonly message: Uint8Array;
}

/** Returns the 32-byte address of a contract created with a salt (wasmd `BuildContractAddressPredictable`). */
export function predictableContractAddress(contract: PredictableContract): Uint8Array {
  const parts = [contract.checksum, contract.creator, contract.salt, contract.message];
  return moduleAddressOf(concat(...parts.flatMap((part) => [uint64BigEndian(BigInt(part.length)), part])));
}

/** Derives a new contract's address from a salt or, without a salt, from the code id and the next instance number. */
export function addressOf(
  context: Context,
  contract: Pick<PredictableContract, "checksum" | "creator" | "message"> & {
    readonly codeId: bigint;
    readonly salt?: { readonly bytes: Uint8Array; readonly isMessageFixed: boolean };
  },
): Uint8Array {
  const { checksum, creator, salt, message, codeId } = contract;
  if (salt === undefined) return classicContractAddress(codeId, instanceSequence.take(context));
  const fixed = salt.isMessageFixed ? message : new Uint8Array(0);
  return predictableContractAddress({ checksum, creator, salt: salt.bytes, message: fixed });
}

/** Computes the SDK's `address.Module` for a derivation key. */
function moduleAddressOf(derivation: Uint8Array): Uint8Array {
  return sha256(concat(sha256(utf8("module")), utf8(MODULE_NAME), new Uint8Array([0]), derivation));
}
