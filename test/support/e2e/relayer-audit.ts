import { fromBase64, toHex, sha256 } from "../../../src/platform/base/bytes.ts";
import { isRecord } from "../../../src/platform/base/json.ts";
import { AuthInfo, TxBody, TxRaw } from "../../../src/cosmos/proto/gen/cosmos/tx/v1beta1/tx.ts";
import { MsgSubmitQueryResult } from "../../../src/cosmos/proto/gen/neutron/interchainqueries/tx.ts";
import { getJson } from "./cli-process.ts";
import { deep, type LocalnetEndpoints } from "./localnet-endpoints.ts";

/** What the local chain says about the transactions of a relayer. */
export interface RelayerAudit {
  /** By query id: local heights of the included KV results, ascending. */
  readonly kv: ReadonlyMap<bigint, readonly bigint[]>;
  /** By query id: upper-case hex hashes of the delivered remote transactions, in the order of the local chain. */
  readonly tx: ReadonlyMap<bigint, readonly string[]>;
  /** Transactions that failed in a block: they cost a fee and delivered nothing. */
  readonly failed: readonly string[];
}

const PAGE_SIZE = 50;

/** Reads all transactions of an account from the local chain. */
export async function auditRelayer(localnet: LocalnetEndpoints, address: string): Promise<RelayerAudit> {
  const kv = new Map<bigint, bigint[]>();
  const tx = new Map<bigint, string[]>();
  const failed: string[] = [];
  for await (const one of transactionsOf(localnet, address)) {
    const execution = deep(one, ["tx_result"]);
    if (isRecord(execution) && execution["code"] !== 0) failed.push(String(execution["log"]));
    else
      addMessages(fromBase64(String(deep(one, ["tx"]))), BigInt(String(deep(one, ["height"]))), { kv, tx });
  }
  return { kv, tx, failed };
}

async function* transactionsOf({ rpc }: LocalnetEndpoints, address: string): AsyncGenerator<unknown> {
  for (let page = 1; ; page++) {
    const query = encodeURIComponent(`"message.sender='${address}'"`);
    const url = `${rpc.local}/tx_search?query=${query}&page=${page}&per_page=${PAGE_SIZE}&order_by=%22asc%22`;
    const result = deep(await getJson(url), ["result"]);
    const txs = deep(result, ["txs"]);
    if (!Array.isArray(txs)) throw new Error("a list of transactions was expected");
    yield* txs;
    if (page * PAGE_SIZE >= Number(deep(result, ["total_count"]))) return;
  }
}

/** A transaction of an account, with the fee that the chain has charged. */
export interface PaidFee {
  /** Upper-case hex. */
  readonly hash: string;
  readonly height: bigint;
  readonly fee: bigint;
}

/** Reads what the account paid, transaction by transaction, from the local chain. */
export async function paidFees(localnet: LocalnetEndpoints, address: string): Promise<readonly PaidFee[]> {
  const paid: PaidFee[] = [];
  for await (const one of transactionsOf(localnet, address)) {
    const { authInfoBytes } = TxRaw.decode(fromBase64(String(deep(one, ["tx"]))));
    const [coin] = AuthInfo.decode(authInfoBytes).fee?.amount ?? [];
    paid.push({
      hash: String(deep(one, ["hash"])),
      height: BigInt(String(deep(one, ["height"]))),
      fee: BigInt(coin?.amount ?? "0"),
    });
  }
  return paid;
}

function addMessages(
  bytes: Uint8Array,
  height: bigint,
  { kv, tx }: { readonly kv: Map<bigint, bigint[]>; readonly tx: Map<bigint, string[]> },
): void {
  const { messages } = TxBody.decode(TxRaw.decode(bytes).bodyBytes);
  for (const { typeUrl, value } of messages) {
    if (!typeUrl.endsWith("MsgSubmitQueryResult")) continue;
    const { queryId, result } = MsgSubmitQueryResult.decode(value);
    const data = result?.block?.tx?.data;
    if (data === undefined) kv.set(queryId, [...(kv.get(queryId) ?? []), height]);
    else tx.set(queryId, [...(tx.get(queryId) ?? []), toHex(sha256(data)).toUpperCase()]);
  }
}

/** Pairs of KV results of one query that are closer than its update period: one of them was sent twice. */
export function doubledValues(
  audit: RelayerAudit,
  ids: readonly bigint[],
  updatePeriod: bigint,
): readonly string[] {
  return ids.flatMap((id) => {
    const heights = audit.kv.get(id) ?? [];
    return heights.flatMap((height, index) => {
      const before = heights[index - 1];
      return before !== undefined && height - before < updatePeriod
        ? [`query ${id}: ${before} and ${height}`]
        : [];
    });
  });
}
