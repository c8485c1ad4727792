import { unregisteredError, wrapErrors } from "../../../runtime/errors.ts";
import { toBase64 } from "../../../../../platform/base/bytes.ts";
import type { RegisteredQuery } from "../../../../../cosmos/proto/gen/neutron/interchainqueries/genesis.ts";
import type { Height } from "../../../../../cosmos/proto/gen/ibc/core/client/v1/client.ts";
import type { Context } from "../../../runtime/context.ts";
import type { ContractKeeper } from "../types.ts";

/** Calls the owner's `kv_query_result`. An error of the contract fails the submission with undefined/1. */
export function callKvOwner(context: Context, contracts: ContractKeeper, query: RegisteredQuery): void {
  callOwner(context, contracts, query, {
    message: `{"kv_query_result":{"query_id":${query.id}}}`,
    failure: `contract ${query.owner} rejected KV query result (query_id: ${query.id})`,
  });
}

/** A verified transaction. `height` is the remote height of its block, `hash` its SHA-256 in lower-case hex. */
export interface DeliveredTx {
  readonly height: Height;
  readonly data: Uint8Array;
  readonly hash: string;
}

/** Calls the owner's `tx_query_result`. An error of the contract fails the submission with undefined/1. */
export function callTxOwner(
  context: Context,
  contracts: ContractKeeper,
  query: RegisteredQuery,
  tx: DeliveredTx,
): void {
  callOwner(context, contracts, query, {
    message: txQueryResult(query.id, tx),
    failure: `contract ${query.owner} rejected transaction query result (tx_hash: ${tx.hash})`,
  });
}

/**
 * Prints the callback as Go's `encoding/json` does: numbers up to 2^64 - 1 as JSON numbers (JSON.stringify would round
 * them), zero members of the height left out, empty data as null because protobuf decodes an absent field to nil.
 */
function txQueryResult(queryId: bigint, { height, data }: DeliveredTx): string {
  const members = [
    ...(height.revisionNumber === 0n ? [] : [`"revision_number":${height.revisionNumber}`]),
    ...(height.revisionHeight === 0n ? [] : [`"revision_height":${height.revisionHeight}`]),
  ];
  const encoded = data.length === 0 ? "null" : `"${toBase64(data)}"`;
  return `{"tx_query_result":{"query_id":${queryId},"height":{${members.join(",")}},"data":${encoded}}}`;
}

/**
 * Calls the owner's sudo entry point in the context of the submission. As in Go, there is no cache layer and no gas limit
 * of its own: writes of the contract and of the module are kept or reverted together. Also as in Go, undefined/1 replaces
 * the codespace and code of the contract's error, and its text is kept. An out-of-gas error passes through unchanged.
 */
function callOwner(
  context: Context,
  contracts: ContractKeeper,
  query: RegisteredQuery,
  call: { readonly message: string; readonly failure: string },
): void {
  wrapErrors(
    (error) => unregisteredError(`${call.failure}: failed to sudo: ${error.message}`),
    () => {
      if (!contracts.isContract(context, query.owner))
        throw unregisteredError(`${query.owner} is not a contract address`);
      contracts.sudo(context, query.owner, call.message);
    },
  );
}
