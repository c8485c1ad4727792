import { errorText } from "../../../../base/errors.ts";
import { bad, good, type Result } from "../../../../base/result.ts";
import { parseAddress } from "../../../runtime/address.ts";
import type { Context } from "../../../runtime/context.ts";
import type { ErrorKind } from "../../../runtime/module-error.ts";
import { type ContractCode, ContractError } from "../contract.ts";
import { invalid, noSuchCode, noSuchContract } from "../errors.ts";
import { codes, contracts } from "../keeper.ts";

/** Finds a code by its hash. */
export type FindCode = (hash: Uint8Array) => ContractCode | undefined;

/** A contract that can be called. */
interface LoadedContract {
  readonly bytes: Uint8Array;
  readonly code: ContractCode;
}

/** A contract by address. Throws wasm/14, wasm/22 or wasm/28. */
export function loadContract(
  context: Context,
  address: string,
  { bech32Prefix, findCode }: { readonly bech32Prefix: string; readonly findCode: FindCode },
): LoadedContract {
  const bytes = readAddress(bech32Prefix, address);
  if (!bytes.ok) throw invalid(`contract: ${bytes.error}`);
  const info = contracts.get(context, bytes.value);
  if (info === undefined) throw noSuchContract(`address ${address}`);
  return { bytes: bytes.value, code: loadCode(context, info.codeId, findCode) };
}

/** A code by id. Throws wasm/28. */
export function loadCode(context: Context, codeId: bigint, findCode: FindCode): ContractCode {
  const info = codes.get(context, codeId);
  const code = info === undefined ? undefined : findCode(info.codeHash);
  if (code === undefined) throw noSuchCode(`code id ${codeId}`);
  return code;
}

/** The bytes of an address, or what is wrong with it. */
export function readAddress(prefix: string, address: string): Result<Uint8Array, string> {
  try {
    return good(parseAddress(prefix, address));
  } catch (error) {
    return bad(errorText(error));
  }
}

/** The entry point of a code, or one that refuses when it has none. */
export function entryOf<K extends "execute" | "sudo" | "reply" | "query">(
  code: ContractCode,
  name: K,
): NonNullable<ContractCode[K]> {
  const entry = code[name];
  if (entry === undefined) throw new ContractError(`contract ${code.name} has no entry point ${name}`);
  return entry;
}

/** A refusal of the contract becomes an error of the chain: "text: execute wasm contract failed". */
export function refusable<T>(failed: ErrorKind, call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw error instanceof ContractError ? failed(error.message) : error;
  }
}
