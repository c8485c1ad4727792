import * as goJson from "../../../../platform/base/go-json.ts";
import * as keeper from "./keeper.ts";
import { headerHash, txResultLeaf } from "../../../../cosmos/comet/block-hashes.ts";
import { CometError } from "../../../../cosmos/comet/comet-error.ts";
import { signedHeaderFromProto } from "../../../../cosmos/comet/proto-blocks.ts";
import {
  checkSimpleProof,
  type SimpleProof,
  verifySimpleProof,
} from "../../../../cosmos/merkle/simple-tree.ts";
import type { Any } from "../../../../cosmos/proto/gen/google/protobuf/any.ts";
import { Header as TendermintHeader } from "../../../../cosmos/proto/gen/ibc/lightclients/tendermint/v1/tendermint.ts";
import type { TxValue } from "../../../../cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import type { Proof } from "../../../../cosmos/proto/gen/tendermint/crypto/proof.ts";
import { TYPE_URL } from "../../../../cosmos/proto/registry.ts";
import { equalBytes, sha256, toHex, upperHex } from "../../../../platform/base/bytes.ts";
import { errorText } from "../../../../platform/base/errors.ts";
import { ErrTxDecode, type ModuleError } from "../../runtime/errors.ts";

const OPERATORS: readonly string[] = ["eq", "gt", "gte", "lt", "lte"];
const FORBIDDEN: readonly string[] = ["\t", "\n", "\r", "\\", "(", ")", '"', "'", "=", ">", "<"];

/**
 * Checks a `transactions_filter`: a JSON array of `{field, op, value}` with at most `maxFilters` items, or null. The module
 * stores the text unchanged and never applies it (chain-extension-modules.md, "Errors", known behaviour 2). Throws
 * ErrInvalidTransactionsFilter for an invalid filter.
 */
export function validateTransactionsFilter(text: string, maxFilters: bigint): void {
  const items = readFilter(text);
  if (BigInt(items.length) > maxFilters)
    throw keeper.ErrInvalidTransactionsFilter(
      `too many transactions filters, provided=${items.length}, max=${maxFilters}`,
    );
  for (const [index, item] of items.entries()) {
    const error = itemError(item);
    if (error !== undefined)
      throw keeper.ErrInvalidTransactionsFilter(
        `transactions filter condition idx=${index} is invalid: ${error}`,
      );
  }
}

function readFilter(text: string): readonly FilterItem[] {
  try {
    return decodeFilter(goJson.parseGoJson(text));
  } catch (error) {
    if (!(error instanceof goJson.GoJsonError)) throw error;
    throw keeper.ErrInvalidTransactionsFilter(`failed to unmarshal transactions filter: ${error.message}`);
  }
}

function itemError(item: FilterItem): string | undefined {
  if (FORBIDDEN.some((character) => item.field.includes(character)))
    return `special symbols ${FORBIDDEN.join("")} are not allowed`;
  if (item.field === "") return "field couldn't be empty";
  return valueError(item.value) ?? operatorError(item.op);
}

function valueError(value: goJson.GoJson): string | undefined {
  if (value.kind === "string") return undefined;
  if (value.kind !== "number")
    // Don't correct "on of", because Go's message has the same typo.
    return `value '${goJson.printGoValue(value)}' is expected to be on of: string, number`;
  const number = Number(value.text);
  return isInt64(number) ? undefined : `value ${goJson.formatGoFloat(number)} can't be a decimal number`;
}

/** Returns whether a float64 keeps its value when converted to int64, like Go's `value == float64(int64(value))`. */
function isInt64(value: number): boolean {
  return Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 63;
}

function operatorError(op: string): string | undefined {
  if (OPERATORS.includes(op.toLowerCase())) return undefined;
  return `op '${op}' is expected to be one of: ${OPERATORS.join(", ")}`;
}

/** One condition of a filter, decoded but not validated. Missing members are empty or null, like Go's zero values. */
interface FilterItem {
  readonly field: string;
  readonly op: string;
  readonly value: goJson.GoJson;
}

const NULL: goJson.GoJson = { kind: "null" };
const EMPTY: FilterItem = { field: "", op: "", value: NULL };
const LIST = "value of type types.TransactionsFilter";

/**
 * Decodes a filter like Go's `encoding/json`. Member names match in any case, unknown members are ignored, the last occurrence of
 * a member wins, and null leaves a string unchanged. A null filter has no conditions. Throws {@link GoJsonError} with Go's
 * message for the first error.
 */
function decodeFilter(json: goJson.GoJson): readonly FilterItem[] {
  if (json.kind === "null") return [];
  if (json.kind !== "array") throw typeMismatch(json.kind, LIST);
  return json.items.map(decodeItem);
}

function decodeItem(json: goJson.GoJson): FilterItem {
  if (json.kind === "null") return EMPTY;
  if (json.kind !== "object") throw typeMismatch(json.kind, `${LIST}Item`);
  return json.members.reduce((item, [name, value]) => withMember(item, name, value), EMPTY);
}

function withMember(item: FilterItem, name: string, value: goJson.GoJson): FilterItem {
  switch (name.toLowerCase()) {
    case "field":
      return { ...item, field: decodeText("field", value, item.field) };
    case "op":
      return { ...item, op: decodeText("op", value, item.op) };
    case "value":
      requireFiniteNumbers(value);
      return { ...item, value };
    default:
      return item;
  }
}

function decodeText(member: string, value: goJson.GoJson, previous: string): string {
  if (value.kind === "null") return previous;
  if (value.kind === "string") return value.value;
  throw typeMismatch(value.kind, `struct field TransactionsFilterItem.${member} of type string`);
}

/**
 * Rejects numbers outside the float64 range at any depth, in document order, as Go does for `value any`. Uses a work list instead
 * of recursion, because values can be nested 10,000 levels deep and recursion could overflow the stack.
 */
function requireFiniteNumbers(value: goJson.GoJson): void {
  const work: goJson.GoJson[] = [value];
  for (let next = work.pop(); next !== undefined; next = work.pop()) {
    if (next.kind === "array") work.push(...next.items.toReversed());
    if (next.kind === "object") work.push(...next.members.map(([, inner]) => inner).toReversed());
    if (next.kind === "number" && !Number.isFinite(Number(next.text)))
      throw typeMismatch(`number ${next.text}`, "struct field TransactionsFilterItem.value of type float64");
  }
}

function typeMismatch(source: string, target: string): goJson.GoJsonError {
  return new goJson.GoJsonError(`json: cannot unmarshal ${source} into Go ${target}`);
}

/** Name of the Go interface into which packed headers are decoded, as it appears in error messages. */
const INTERFACE = "*exported.ClientMessage";

/** The fields of a remote header against which a TX result is verified. */
export interface BlockHeader {
  readonly height: bigint;
  /** Revision number in the header's trusted height, which Go passes to the callback as the block's revision. */
  readonly trustedRevision: bigint;
  readonly hash: Uint8Array;
  readonly lastBlockHash: Uint8Array;
  readonly validatorsHash: Uint8Array;
  readonly nextValidatorsHash: Uint8Array;
  readonly dataHash: Uint8Array;
  readonly lastResultsHash: Uint8Array;
}

/** A decoded header that has not been verified, and the `Any` that contained the header. */
interface UnpackedHeader {
  readonly packed: Any;
  readonly message: TendermintHeader;
}

/**
 * Decodes a packed header. `name` names the header in error messages ("block header"). Throws ErrProtoUnmarshal unless `packed` decodes as
 * a Tendermint header.
 */
export function unpackHeader(packed: Any | undefined, name: string): UnpackedHeader {
  const unpackError = (reason: string): ModuleError =>
    keeper.ErrProtoUnmarshal(`failed to unpack ${name}: ${reason}`);
  if (packed === undefined || packed.typeUrl === "")
    throw unpackError("protobuf Any message cannot be nil: failed unpacking protobuf message from Any");
  if (packed.typeUrl !== TYPE_URL.tendermintHeader) throw unpackError(noConcreteType(packed.typeUrl));
  try {
    return { packed, message: TendermintHeader.decode(packed.value) };
  } catch (error) {
    throw unpackError(errorText(error));
  }
}

/** Reads a header that the light client has verified. Throws ErrInvalidHeader if the header lacks required parts. */
export function readHeader({ message }: UnpackedHeader): BlockHeader {
  try {
    const { header } = signedHeaderFromProto(message.signedHeader);
    return {
      ...header,
      trustedRevision: message.trustedHeight?.revisionNumber ?? 0n,
      hash: headerHash(header),
      lastBlockHash: header.lastBlockId.hash,
    };
  } catch (error) {
    throw error instanceof CometError ? keeper.ErrInvalidHeader(error.message) : error;
  }
}

/**
 * Rejects a packed message that is not a Tendermint header, before any message runs, because Go unpacks headers while decoding the
 * transaction. A missing header is accepted.
 */
export function requireClientMessage(packed: Any | undefined): void {
  if (packed === undefined || packed.typeUrl === "" || packed.typeUrl === TYPE_URL.tendermintHeader) return;
  throw ErrTxDecode(noConcreteType(packed.typeUrl));
}

/**
 * Checks that `next` directly follows `header`: its height, its validators and its last block id must match `header`. Throws
 * ErrInvalidHeader if `next` does not follow.
 */
export function checkConsecutive(header: BlockHeader, next: BlockHeader): void {
  const error = orderError(header, next);
  if (error === undefined) return;
  // Go wraps ErrInvalidHeader in ErrInvalidHeader, so the message ends with the description twice.
  const inner = keeper.ErrInvalidHeader(error);
  throw keeper.ErrInvalidHeader(`block.NextBlockHeader is not next for the block.Header: ${inner.message}`);
}

function noConcreteType(typeUrl: string): string {
  return `no concrete type registered for type URL ${typeUrl} against interface ${INTERFACE}`;
}

function orderError(header: BlockHeader, next: BlockHeader): string | undefined {
  if (next.height !== header.height + 1n)
    return `nextHeader.Height (${next.height}) is not actually next for a header with height ${header.height}`;
  if (!equalBytes(header.nextValidatorsHash, next.validatorsHash))
    return `header.NextValidatorsHash is not equal to nextHeader.ValidatorsHash: ${upperHex(header.nextValidatorsHash)} != ${upperHex(next.validatorsHash)}`;
  if (!equalBytes(header.hash, next.lastBlockHash))
    return `header hash is not equal to nextHeader.LastBlockId.Hash: ${upperHex(header.hash)} != ${upperHex(next.lastBlockHash)}`;
  return undefined;
}

/** Merkle roots against which the transaction's proofs are verified. */
interface BlockRoots {
  /** `data_hash` of the transaction's block. */
  readonly dataHash: Uint8Array;
  /** `last_results_hash` of the next block. */
  readonly resultsHash: Uint8Array;
}

/**
 * Checks that the transaction is in its block, that `response` is its result, and that it succeeded. The log, info, events and
 * codespace are not proven, because CometBFT hashes only a result's code, data, gas wanted and gas used. Throws `ModuleError`.
 */
export function verifyTransaction(tx: TxValue, roots: BlockRoots): void {
  const inclusion = readProof(tx.inclusionProof);
  verifyProof("inclusion", roots.dataHash, sha256(tx.data), inclusion);
  const delivery = readProof(tx.deliveryProof);
  const { response } = tx;
  // A missing response fails the transaction. The deployed chain panics in this case.
  if (response === undefined)
    throw keeper.ErrInvalidType("failed to verify delivery proof: response is missing");
  verifyProof("delivery", roots.resultsHash, txResultLeaf(response), delivery);
  if (response.code !== 0)
    throw keeper.ErrInternal(
      `tx ${toHex(sha256(tx.data))} is unsuccessful: ResponseDelivery.Code = ${response.code}`,
    );
  // A transaction and its result have the same index, because results are in the order of the block's transactions.
  if (delivery.index !== inclusion.index)
    throw keeper.ErrInvalidProof(
      `inclusion proof index and delivery proof index are not equal: ${inclusion.index} != ${delivery.index}`,
    );
}

function verifyProof(name: string, root: Uint8Array, leaf: Uint8Array, proof: SimpleProof): void {
  const result = verifySimpleProof(root, leaf, proof);
  if (!result.ok) throw keeper.ErrInvalidProof(`failed to verify ${name} proof: ${result.error.text}`);
}

function readProof(proof: Proof | undefined): SimpleProof {
  const words = "failed to convert proto proof to merkle proof";
  if (proof === undefined) throw keeper.ErrInvalidType(`${words}: nil proof`);
  const checked = checkSimpleProof(proof);
  if (!checked.ok) throw keeper.ErrInvalidType(`${words}: ${checked.error.text}`);
  return proof;
}
