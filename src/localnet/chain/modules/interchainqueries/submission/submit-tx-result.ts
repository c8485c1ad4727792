import { toHex, sha256 } from "../../../../../platform/base/bytes.ts";
import type { RegisteredQuery } from "../../../../../cosmos/proto/gen/neutron/interchainqueries/genesis.ts";
import type { Block, TxValue } from "../../../../../cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import type { Context } from "../../../runtime/context.ts";
import { wrapErrors } from "../../../runtime/errors.ts";
import { ErrInternal, ErrInvalidHeader, ErrInvalidType, wrapTwice } from "../errors.ts";
import { isSubmitted, markSubmitted, setQuery } from "../keeper.ts";
import type { Environment } from "../types.ts";
import { type BlockHeader, checkConsecutive, readHeader, unpackHeader } from "./block-headers.ts";
import { callTxOwner } from "./callbacks.ts";
import { verifyTransaction } from "./verify-transaction.ts";

/** The TX part of a submission. `clientId` is the client of the query's connection. */
export interface TxSubmission {
  readonly query: RegisteredQuery;
  readonly clientId: string;
  readonly block: Block;
  readonly tx: TxValue;
}

/**
 * Verifies one remote transaction and delivers it to the owner; stores its hash only. A transaction that was already
 * delivered for this query is skipped without an error, after its headers were verified. The query's local height moves
 * in both cases, which delays its removal by others. Its remote height never moves: transactions may arrive in any
 * order.
 */
export function submitTxResult(context: Context, submission: TxSubmission, environment: Environment): void {
  const { query } = submission;
  if (query.queryType !== "tx")
    throw ErrInvalidType(`invalid query result for query type: ${query.queryType}`);
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
  // Go replaces the code of the inner error by ErrInternal and keeps the text.
  wrapErrors(
    (error) => ErrInternal(`failed to verifyTransaction ${hashHex}: ${error.message}`),
    () => verifyTransaction(tx, { dataHash: header.dataHash, resultsHash: next.lastResultsHash }),
  );
  const height = { revisionNumber: header.trustedRevision, revisionHeight: header.height };
  callTxOwner(context, environment.contracts, query, { height, data: tx.data, hash: hashHex });
  markSubmitted(context, { queryId: query.id, hash });
}

/**
 * Updates the client with both headers, then checks that the second follows the first. These are real client updates:
 * both consensus states stay stored, and a conflicting second header freezes the client without an error, as in Go.
 */
function verifyHeaders(
  context: Context,
  { clientId, block }: TxSubmission,
  { ibc }: Environment,
): { readonly header: BlockHeader; readonly next: BlockHeader } {
  const unpacked = [
    unpackHeader(block.header, "block header"),
    unpackHeader(block.nextBlockHeader, "next block header"),
  ] as const;
  return wrapErrors(
    (error) => ErrInvalidHeader(`failed to verify headers: ${error.message}`),
    () => {
      for (const { packed } of unpacked)
        wrapErrors(
          (error) => wrapTwice("failed to update client", error),
          () => ibc.updateClient(context, clientId, packed),
        );
      const [header, next] = [readHeader(unpacked[0]), readHeader(unpacked[1])];
      checkConsecutive(header, next);
      return { header, next };
    },
  );
}
