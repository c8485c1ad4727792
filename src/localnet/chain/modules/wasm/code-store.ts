import { gunzipSync } from "node:zlib";
import { AccessType, type AccessConfig } from "../../../../cosmos/proto/gen/cosmwasm/wasm/v1/types.ts";
import { sha256, toHex } from "../../../../platform/base/bytes.ts";
import { errorMessage } from "../../../../platform/base/errors.ts";
import { decodeModule } from "../../../vm/decode-module.ts";
import { reportedText, VmError } from "../../../vm/errors.ts";
import { GAS_MULTIPLIER } from "../../../vm/gas.ts";
import type { Vm } from "../../../vm/vm.ts";
import { type Context, event } from "../../runtime/context.ts";
import { ErrUnauthorized } from "../../runtime/errors.ts";
import { consumeCallGas } from "./gas.ts";
import * as keeper from "./keeper.ts";
import { ErrCreateFailed, ErrLimit } from "./keys.ts";

/** The deployed chain's maximum code size in bytes, both in a message and unpacked. */
export const MAX_CODE_BYTES = 1_677_722;

/** wasmd's price per compiled byte, in chain gas. */
const COMPILE_COST = 3n;
/** wasmd's price for unpacking 100 bytes of gzip, in chain gas. */
const UNCOMPRESS_COST_OF_100 = 15n;

interface Upload {
  readonly creator: string;
  /** WebAssembly code, optionally compressed with gzip. */
  readonly code: Uint8Array;
  /** Accounts that may instantiate the code. If undefined, the module's parameters determine the permission. */
  readonly permission: AccessConfig | undefined;
  /** True if the authority uploads the code. The parameters do not restrict the authority. */
  readonly isAuthority: boolean;
}

/** Checks and stores code. Returns the code's id and SHA-256 hash. Throws ErrCreateFailed with the virtual machine's message. */
export function storeCode(
  context: Context,
  vm: Vm,
  { creator, code, permission, isAuthority }: Upload,
): { readonly codeId: bigint; readonly checksum: Uint8Array } {
  const allowed = defaultPermission(context, creator);
  const instantiateConfig = permission ?? allowed;
  const { codeUploadAccess } = keeper.moduleParams.get(context);
  if (
    !isAuthority &&
    !(keeper.isAllowed(codeUploadAccess, creator) && keeper.isSubset(instantiateConfig, allowed))
  )
    throw ErrUnauthorized("can not create code");
  const unpacked = isGzip(code) ? uncompress(context, code) : code;
  const checksum = sha256(unpacked);
  const problem = checkCode(vm, toHex(checksum), unpacked);
  consumeCallGas(context.gas, COMPILE_COST * BigInt(unpacked.length) * GAS_MULTIPLIER);
  if (problem !== undefined) throw ErrCreateFailed(problem);
  keeper.setCodeBytes(context, checksum, unpacked);
  const codeId = keeper.codeSequence.take(context);
  keeper.codes.set(context, codeId, { codeHash: checksum, creator, instantiateConfig });
  context.emit(
    event("store_code", [
      ["code_checksum", toHex(checksum)],
      ["code_id", codeId.toString()],
    ]),
  );
  return { codeId, checksum };
}

/** Returns the instantiation permission for code from this creator, used if the upload does not specify a permission. */
export function defaultPermission(context: Context, creator: string): AccessConfig {
  const permission = keeper.moduleParams.get(context).instantiateDefaultPermission;
  const isList = permission === AccessType.ACCESS_TYPE_ANY_OF_ADDRESSES;
  return { permission, addresses: isList ? [creator] : [] };
}

/** Runs the same checks as an upload. Returns the chain's error message, or undefined if the virtual machine accepts the code. */
export function checkCode(vm: Vm, checksum: string, code: Uint8Array): string | undefined {
  try {
    vm.store(checksum, code);
    return undefined;
  } catch (error) {
    if (!(error instanceof VmError)) throw error;
    return reportedText(error);
  }
}

function isGzip(code: Uint8Array): boolean {
  return code[0] === 0x1f && code[1] === 0x8b && code[2] === 0x08;
}

function uncompress(context: Context, code: Uint8Array): Uint8Array {
  const cost = (UNCOMPRESS_COST_OF_100 * BigInt(code.length)) / 100n;
  context.gas.consume(cost, "Uncompress gzip bytecode");
  try {
    return new Uint8Array(gunzipSync(code, { maxOutputLength: MAX_CODE_BYTES }));
  } catch (error) {
    throw ErrCreateFailed(`uncompress wasm archive: ${unpackText(error)}`);
  }
}

/** zlib's error codes, and Go's messages for them. */
const UNPACK_TEXTS: Readonly<Record<string, string>> = {
  Z_BUF_ERROR: "unexpected EOF",
  Z_DATA_ERROR: "gzip: invalid checksum",
  ERR_BUFFER_TOO_LARGE: ErrLimit().message,
};

function unpackText(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return UNPACK_TEXTS[code] ?? errorMessage(error);
}

/** Properties of a code's binary that the chain needs. */
export interface CodeReport {
  readonly hasIbcEntryPoints: boolean;
  /** The version in the custom section `cw_migrate_version`, or undefined if the code has no such section. */
  readonly migrateVersion: bigint | undefined;
}

const IBC_ENTRY_POINTS = [
  "ibc_channel_open",
  "ibc_channel_connect",
  "ibc_channel_close",
  "ibc_packet_receive",
  "ibc_packet_ack",
  "ibc_packet_timeout",
];

const TYPESCRIPT: CodeReport = { hasIbcEntryPoints: false, migrateVersion: undefined };

/** Creates a function that returns the report on a stored code. Reports are cached, because code never changes. */
export function createCodeReports(): (context: Context, checksum: Uint8Array) => CodeReport {
  const known = new Map<string, CodeReport>();
  return (context, checksum) => {
    const key = toHex(checksum);
    const found = known.get(key);
    if (found !== undefined) return found;
    const bytes = keeper.findCodeBytes(context, checksum);
    if (bytes === undefined) return TYPESCRIPT;
    const { exports, migrateVersion } = decodeModule(bytes);
    const functions = new Set(exports.filter(({ kind }) => kind === "func").map(({ name }) => name));
    const report = {
      hasIbcEntryPoints: IBC_ENTRY_POINTS.every((name) => functions.has(name)),
      migrateVersion,
    };
    known.set(key, report);
    return report;
  };
}
