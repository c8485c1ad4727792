import { toHex } from "../../../../base/bytes.ts";
import { sha256 } from "../../../../base/sha256.ts";
import type { RegisteredQuery } from "../../../../proto/gen/neutron/interchainqueries/genesis.ts";
import type { Block, TxValue } from "../../../../proto/gen/neutron/interchainqueries/tx.ts";
import type { Context } from "../../../runtime/context.ts";
import { wrapErrors } from "../../../runtime/wrap-errors.ts";
import { callTxOwner } from "./callbacks.ts";
import { internal, invalidHeader, invalidType, wrapTwice } from "../errors.ts";
import type { Environment } from "../handlers.ts";
import type { BlockHeader } from "./block-headers.ts";
import { checkConsecutive, readHeader, unpackHeader } from "./block-headers.ts";
import { isSubmitted, markSubmitted, setQuery } from "../keeper.ts";
import { verifyTransaction } from "./verify-transaction.ts";

/** A transaction submitted for a query over the connection's client. */
export interface TxSubmission {
  readonly query: RegisteredQuery;
  readonly clientId: string;
  readonly block: Block;
  readonly tx: TxValue;
}

/**
 * Takes one remote transaction: both headers through the light client, then, unless this query has seen the
 * transaction, its proofs and the owner's callback. Nothing of the transaction is stored but its hash. The query's
 * local height moves either way; its remote height never does.
 */
export function submitTxResult(context: Context, submission: TxSubmission, environment: Environment): void {
  const { query } = submission;
  if (query.queryType !== "tx") throw invalidType(`invalid query result for query type: ${query.queryType}`);
  wrapErrors(
    (error) => wrapTwice("failed to ProcessBlock", error),
    () => processBlock(context, submission, environment),
  );
  setQuery(context, { ...query, lastSubmittedResultLocalHeight: context.height });
}

function processBlock(context: Context, submission: TxSubmission, environment: Environment): void {
  const { query, tx } = submission;
  const { header, next } = verifyHeaders(context, submission, environment);
  const hash = sha256(tx.data);
  if (isSubmitted(context, { queryId: query.id, hash })) return;
  const hashHex = toHex(hash);
  wrapErrors(
    (error) => internal(`failed to verifyTransaction ${hashHex}: ${error.message}`),
    () => verifyTransaction(tx, { dataHash: header.dataHash, resultsHash: next.lastResultsHash }),
  );
  const height = { revisionNumber: header.trustedRevision, revisionHeight: header.height };
  callTxOwner(context, environment.contracts, query, { height, data: tx.data, hash: hashHex });
  markSubmitted(context, { queryId: query.id, hash });
}

/** Both headers become consensus states of the client; then the second must follow the first. */
function verifyHeaders(
  context: Context,
  { clientId, block }: TxSubmission,
  { ibc }: Environment,
): { readonly header: BlockHeader; readonly next: BlockHeader } {
  const packed = [
    unpackHeader(block.header, "block header"),
    unpackHeader(block.nextBlockHeader, "next block header"),
  ] as const;
  return wrapErrors(
    (error) => invalidHeader(`failed to verify headers: ${error.message}`),
    () => {
      for (const header of packed)
        wrapErrors(
          (error) => wrapTwice("failed to update client", error),
          () => ibc.updateClient(context, clientId, header.packed),
        );
      const [header, next] = [readHeader(packed[0]), readHeader(packed[1])];
      checkConsecutive(header, next);
      return { header, next };
    },
  );
}
