import { HOUR_MS, NS_PER_MS } from "../../platform/base/time.ts";
import type { PooledChainClient } from "../../cosmos/client/create-chain-client.ts";
import type { EndpointCheck } from "../../cosmos/client/endpoint-pool.ts";
import { ClientError } from "../../cosmos/client/errors.ts";
import { readAccount, readGasPrice } from "../../cosmos/client/tx/tx-queries.ts";
import {
  QueryAllowanceRequest,
  QueryAllowanceResponse,
} from "../../cosmos/proto/gen/cosmos/feegrant/v1beta1/query.ts";
import { type Dec18, formatDec18 } from "../../platform/base/decimal.ts";
import { errorText } from "../../platform/base/errors.ts";
import { readMarketParams, readMarketState } from "../market/read-market.ts";
import { type Preview, type PreviewConnection, servedQueries } from "../preview/open-preview.ts";
import { previewKv } from "../preview/preview-kv.ts";

/** Checks everything that a relayer depends on: chains, account, light clients, queries, proofs. Sends nothing. Rejects only on abort. */
export async function runDoctor(preview: Preview, signal: AbortSignal): Promise<readonly Finding[]> {
  const { config, localClient, connections, context } = preview;
  const { nowMs } = context.clock;
  const local = { chainId: config.chain.id, client: localClient, role: "local", nowMs } as const;
  const groups = await Promise.all([
    checkChain(local, signal),
    checkAccount(preview, signal),
    ...connections.flatMap((connection) => [
      checkChain({ chainId: connection.chainId, client: connection.remote, role: "remote", nowMs }, signal),
      checkConnection(preview, connection, signal),
    ]),
  ]);
  return groups.flat();
}

/** The result of one check. */
export interface Finding {
  /** The checked part, such as "connection-0: light client". */
  readonly subject: string;
  /** "unseen": the check could not read what it needs. */
  readonly outcome: "good" | "problem" | "unseen";
  /** The finding itself. */
  readonly text: string;
  /** What to do; undefined without a problem. */
  readonly advice: string | undefined;
}

/** Creates a finding without a problem. */
function good(subject: string, text: string): Finding {
  return { subject, outcome: "good", text, advice: undefined };
}

/** Creates a finding that needs an operator. */
function problem(subject: string, text: string, advice: string): Finding {
  return { subject, outcome: "problem", text, advice };
}

/** Creates the finding of a check that could not read what it needs. */
function unseen(subject: string, text: string, advice: string): Finding {
  return { subject, outcome: "unseen", text, advice };
}

/** Checks signer, payer and gas price. Rejects only on abort. */
async function checkAccount(preview: Preview, signal: AbortSignal): Promise<readonly Finding[]> {
  const { config, account } = preview;
  const payer = config.signer.fee_granter ?? account.address;
  return Promise.all([
    checkExistence(preview, signal),
    checkBalance(preview, payer, signal),
    checkGasPrice(preview, signal),
    checkMarket(preview, signal),
    ...(config.signer.fee_granter === undefined
      ? []
      : [checkFeeGrant(preview, config.signer.fee_granter, signal)]),
  ]);
}

const NODE_ADVICE = "see the endpoints of the local chain";

async function checkExistence({ localClient, account }: Preview, signal: AbortSignal): Promise<Finding> {
  const subject = "account";
  try {
    const { sequence } = await readAccount(localClient, account.address, signal);
    return good(subject, `${account.address}, sequence ${sequence}`);
  } catch (error) {
    signal.throwIfAborted();
    const isNew = error instanceof ClientError && error.facts.code === "no-account";
    return isNew
      ? problem(subject, `${account.address} does not exist on the chain`, "send it some coins")
      : unseen(subject, errorText(error), NODE_ADVICE);
  }
}

async function checkBalance(
  { local, config }: Preview,
  payer: string,
  signal: AbortSignal,
): Promise<Finding> {
  const subject = "balance";
  const { denom } = config.gas;
  try {
    const amount = await local.balance(payer, denom, signal);
    const text = `${payer} has ${amount} ${denom}`;
    return amount > 0n ? good(subject, text) : problem(subject, text, `send ${denom} to ${payer}`);
  } catch (error) {
    signal.throwIfAborted();
    return unseen(subject, errorText(error), NODE_ADVICE);
  }
}

async function checkGasPrice({ localClient, config }: Preview, signal: AbortSignal): Promise<Finding> {
  const subject = "gas price";
  const { denom, price_multiplier: multiplier, max_price: cap, fallback_price: fallback } = config.gas;
  try {
    const found = await readGasPrice(localClient, { denom, multiplier, cap, fallback }, signal);
    return good(subject, `${priceText(found)} ${denom}, at most ${priceText(cap)}`);
  } catch (error) {
    signal.throwIfAborted();
    const isHigh = error instanceof ClientError && error.facts.code === "gas-price-above-cap";
    return isHigh
      ? problem(subject, error.message, "raise gas.max_price, or wait")
      : unseen(subject, errorText(error), NODE_ADVICE);
  }
}

async function checkMarket({ localClient, config }: Preview, signal: AbortSignal): Promise<Finding> {
  const subject = "fee market";
  const { denom, max_price: cap } = config.gas;
  try {
    const params = await readMarketParams(localClient, signal);
    if (params === undefined) return good(subject, "the chain has none: its price is constant");
    const { baseGasPrice: price } = await readMarketState(localClient, signal);
    const minimum = params.minBaseGasPrice;
    const text = `price ${priceText(price)} ${denom}, at least ${priceText(minimum)}; it rises with blocks above ${params.maxBlockUtilization / 2n} gas`;
    if (params.feeDenom === denom && cap < minimum)
      return problem(
        subject,
        `${text}; gas.max_price is ${priceText(cap)}`,
        "raise gas.max_price: nothing is sent",
      );
    return good(subject, text);
  } catch (error) {
    signal.throwIfAborted();
    return unseen(subject, errorText(error), NODE_ADVICE);
  }
}

async function checkFeeGrant(
  { localClient, account }: Preview,
  granter: string,
  signal: AbortSignal,
): Promise<Finding> {
  const subject = "fee grant";
  try {
    const request = QueryAllowanceRequest.encode({ granter, grantee: account.address }).finish();
    const path = "/cosmos.feegrant.v1beta1.Query/Allowance";
    const { allowance } = QueryAllowanceResponse.decode(await localClient.grpcQuery(path, request, signal));
    const type = allowance?.allowance?.typeUrl.replace(/^.*\./, "");
    if (type !== undefined) return good(subject, `${granter} grants ${type}`);
    return noGrant(subject, granter, account.address);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ClientError && error.facts.code === "abci")
      return noGrant(subject, granter, account.address, error.facts.log);
    return unseen(subject, errorText(error), NODE_ADVICE);
  }
}

function noGrant(subject: string, granter: string, grantee: string, log = ""): Finding {
  const reason = log === "" ? "" : ` (${log})`;
  return problem(
    subject,
    `${granter} grants no fees to ${grantee}${reason}`,
    "grant them, or remove signer.fee_granter",
  );
}

/** Formats an amount without trailing zeros. */
function priceText(amount: Dec18): string {
  return formatDec18(amount).replace(/\.?0+$/, "");
}

/** A chain to check. */
interface CheckedChain {
  readonly chainId: string;
  readonly client: PooledChainClient;
  readonly role: "local" | "remote";
  /** Wall-clock time, ms. */
  readonly nowMs: () => number;
}

/** Maximum distance of an endpoint behind its chain's best one, blocks. */
const MAX_LAG = 5n;
/** Maximum age of the newest block. Beyond it, the chain has stopped or the clock is wrong. */
const MAX_AGE_MS = 60_000;
/** Normal clock difference of a node, when its newest block is in the future. */
const MAX_AHEAD_MS = 10_000;

/** Checks every endpoint of a chain, its newest block, and its transaction index. Rejects only on abort. */
async function checkChain(chain: CheckedChain, signal: AbortSignal): Promise<readonly Finding[]> {
  const checks = await chain.client.pool.check(signal);
  signal.throwIfAborted();
  const heights = checks.flatMap((check) => (check.ok ? [check.status.latestHeight] : []));
  const best = heights.reduce((most, height) => (height > most ? height : most), 0n);
  const findings = checks.map((check) => checkEndpoint(chain, check, best));
  if (heights.length === 0) return findings;
  return [...findings, ...(await checkIndex(chain, best, signal))];
}

function checkEndpoint({ chainId, nowMs }: CheckedChain, check: EndpointCheck, best: bigint): Finding {
  const subject = `${chainId}: endpoint ${check.name}`;
  if (!check.ok) {
    const text = errorText(check.error);
    const isWrong = check.error instanceof ClientError && check.error.facts.code === "wrong-chain";
    return isWrong
      ? problem(subject, text, "correct the endpoint or the chain id in the configuration")
      : unseen(subject, text, "start the node, or replace the endpoint");
  }
  const { latestHeight, latestTimeNs, earliestHeight, catchingUp } = check.status;
  if (catchingUp)
    return problem(subject, `it is catching up, at height ${latestHeight}`, "wait, or replace it");
  if (latestHeight + MAX_LAG < best)
    return problem(subject, `it is ${best - latestHeight} blocks behind another endpoint`, "replace it");
  const ageMs = nowMs() - Number(latestTimeNs / NS_PER_MS);
  if (ageMs > MAX_AGE_MS)
    return problem(
      subject,
      `its newest block, ${latestHeight}, is ${Math.round(ageMs / 1_000)} s old`,
      "the chain has stopped, the node does not follow it, or the clock of this machine is ahead",
    );
  if (ageMs < -MAX_AHEAD_MS)
    return problem(
      subject,
      `its newest block is ${Math.round(-ageMs / 1_000)} s in the future`,
      "set the clock of this machine: client updates fail when it is behind",
    );
  return good(subject, `height ${latestHeight}, blocks from ${earliestHeight}`);
}

/** SHA-256 of the empty string, base64: no transaction has it, so a node with an index reports "not found". */
const NO_HASH = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";

async function checkIndex(
  { chainId, client, role }: CheckedChain,
  height: bigint,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const subject = `${chainId}: transaction index`;
  try {
    const read = { decode: (result: unknown) => result };
    await (role === "local"
      ? client.pool.read({ ...read, method: "tx", params: { hash: NO_HASH, prove: false } }, signal)
      : client.pool.read(
          {
            ...read,
            method: "tx_search",
            params: { query: `tx.height=${height}`, prove: false, page: "1", per_page: "1" },
          },
          signal,
        ));
    return [good(subject, "on")];
  } catch (error) {
    signal.throwIfAborted();
    const text = errorText(error);
    const data = error instanceof ClientError && error.facts.code === "rpc" ? error.facts.data : "";
    if (/not found/i.test(data)) return [good(subject, "on")];
    if (!/indexing is disabled/i.test(data)) return [unseen(subject, text, "check the node's log")];
    return role === "local"
      ? [
          problem(
            subject,
            "off",
            'set tx_index.indexer = "kv" on the node: results cannot be confirmed without it',
          ),
        ]
      : [good(subject, "off: TX queries scan the blocks, one call per block")];
  }
}

/** Remaining hours before a client's expiry below which it is a problem. */
const MIN_HOURS = 24;

/** Checks the light client, the queries, and one proof end to end, over one connection. Rejects only on abort. */
async function checkConnection(
  preview: Preview,
  connection: PreviewConnection,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  return [
    await orUnseen(`${connection.id}: light client`, signal, () => checkClient(preview, connection, signal)),
    ...(await checkQueries(preview, connection, signal)),
  ];
}

async function orUnseen(
  subject: string,
  signal: AbortSignal,
  check: () => Promise<Finding>,
): Promise<Finding> {
  try {
    return await check();
  } catch (error) {
    signal.throwIfAborted();
    return unseen(subject, errorText(error), "see the endpoints above");
  }
}

async function checkClient(
  { local, context }: Preview,
  { id, chainId }: PreviewConnection,
  signal: AbortSignal,
): Promise<Finding> {
  const subject = `${id}: light client`;
  const clientId = await local.clientOfConnection(id, signal);
  const [client, status] = await Promise.all([
    local.clientState(clientId, signal),
    local.clientStatus(clientId, signal),
  ]);
  if (client.chainId !== chainId)
    return problem(
      subject,
      `${clientId} follows ${client.chainId}, and the configuration says ${chainId}`,
      "correct the connection id or the remote chain in the configuration",
    );
  if (status !== "Active")
    return problem(subject, `${clientId} is ${status}`, "nothing can be proven until governance recovers it");
  const timeNs = await local.consensusTimeNs(clientId, client.latestHeight, signal);
  const leftMs = Number((timeNs + client.trustingPeriodNs) / NS_PER_MS) - context.clock.nowMs();
  const hours = leftMs / HOUR_MS;
  const text = `${clientId} is active at height ${client.latestHeight.height}, and expires in ${formatHours(hours)} without an update`;
  const isShort = leftMs < Number(client.trustingPeriodNs / NS_PER_MS) / 3;
  return hours < MIN_HOURS && isShort
    ? problem(subject, text, "run a relayer on this connection before that")
    : good(subject, text);
}

function formatHours(hours: number): string {
  return hours >= 48 ? `${Math.floor(hours / 24)} days` : `${hours.toFixed(1)} hours`;
}

async function checkQueries(
  preview: Preview,
  connection: PreviewConnection,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const subject = `${connection.id}: queries`;
  const { owners, ids } = preview.config.queries;
  try {
    const served = await servedQueries(preview, connection.id, [], signal);
    const all = await preview.local.registeredQueries(connection.id, signal);
    const text = `${served.length} of ${all.length} are served`;
    if (served.length === 0)
      return [
        problem(
          subject,
          text,
          owners.length + ids.length > 0
            ? "compare queries.owners and queries.ids with the registered queries"
            : "register a query over this connection, or correct its id",
        ),
      ];
    const [kv] = served.filter(({ type }) => type === "kv");
    const proof =
      kv === undefined
        ? good(`${connection.id}: proof`, "there is no KV query to prove")
        : await checkProof(preview, connection, kv, signal);
    return [good(subject, text), proof];
  } catch (error) {
    signal.throwIfAborted();
    return [unseen(subject, errorText(error), "see the endpoints above")];
  }
}

function checkProof(
  preview: Preview,
  connection: PreviewConnection,
  query: Parameters<typeof previewKv>[2][number],
  signal: AbortSignal,
): Promise<Finding> {
  const subject = `${connection.id}: proof`;
  return orUnseen(subject, signal, async () => {
    const [one] = await previewKv(preview, connection, [query], signal);
    if (one === undefined) return unseen(subject, "nothing was proven", "try again");
    const { outcome, at } = one;
    if (outcome.kind === "accepted")
      return good(
        subject,
        `query ${query.id} at remote height ${at.height}: the chain accepts it for ${outcome.gas} gas`,
      );
    if (outcome.kind === "answered")
      return good(
        subject,
        `query ${query.id} at remote height ${at.height}: proven; another relayer has just answered it`,
      );
    const advice = `see "relaywatch relayer inspect ${query.id}"`;
    return problem(subject, `query ${query.id}: ${outcome.kind}: ${outcome.reason}`, advice);
  });
}
