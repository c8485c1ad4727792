import type { RegisteredQuery } from "../../../../../cosmos/proto/gen/neutron/interchainqueries/genesis.ts";
import type { MsgSubmitQueryResult } from "../../../../../cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import type { Context } from "../../../runtime/context.ts";
import { wrapErrors } from "../../../runtime/errors.ts";
import { ErrInvalidConnectionID, wrapTwice } from "../errors.ts";
import { getQuery } from "../keeper.ts";
import { validateSubmit } from "../messages.ts";
import type { Environment } from "../types.ts";
import { submitKvResult } from "./submit-kv-result.ts";
import { submitTxResult } from "./submit-tx-result.ts";

/**
 * MsgSubmitQueryResult, from any sender at any time: `update_period` binds relayers only. As in Go, KV values run first,
 * and a KV result with a callback ends there: a block in the same message is ignored. A block without a transaction is
 * accepted and does nothing.
 */
export function submitQueryResult(
  context: Context,
  message: MsgSubmitQueryResult,
  environment: Environment,
): void {
  const result = validateSubmit(message, environment);
  const query = requireQuery(context, message.queryId);
  const clientId = requireClientId(context, query, environment);
  if (result.kvResults.length > 0) {
    submitKvResult(context, { query, clientId, result }, environment);
    if (result.allowKvCallbacks) return;
  }
  const { block } = result;
  if (block?.tx === undefined) return;
  submitTxResult(context, { query, clientId, block, tx: block.tx }, environment);
}

function requireQuery(context: Context, id: bigint): RegisteredQuery {
  return wrapErrors(
    (error) => wrapTwice("failed to get query by id", error),
    () => getQuery(context, id),
  );
}

/** Uses the connection of the query. The message's own `client_id` is deprecated and ignored. */
function requireClientId(context: Context, query: RegisteredQuery, { ibc }: Environment): string {
  const clientId = ibc.connectionClientId(context, query.connectionId);
  if (clientId !== undefined) return clientId;
  throw ErrInvalidConnectionID(
    `registered query ${query.id} has invalid connection id: ${query.connectionId}`,
  );
}
