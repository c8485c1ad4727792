import { errorText } from "../../platform/base/errors.ts";
import type { EndpointCheck } from "../../cosmos/client/endpoints/endpoint-pool.ts";
import type { PooledChainClient } from "../../cosmos/client/create-chain-client.ts";
import { ClientError } from "../../cosmos/client/errors.ts";
import { type Finding, good, problem, unseen } from "./finding.ts";

/** A chain to check. */
export interface DoctoredChain {
  readonly chainId: string;
  readonly client: PooledChainClient;
  readonly role: "local" | "remote";
  /** Wall-clock time, ms. */
  readonly nowMs: () => number;
}

/** Blocks that an endpoint may be behind the best one of its chain. */
const MAX_LAG = 5n;
/** Age of the newest block after which a chain counts as stopped, or the clock as wrong. */
const MAX_AGE_MS = 60_000;
/** Difference to a block from the future that clocks of good nodes have. */
const MAX_AHEAD_MS = 10_000;

/** Checks every endpoint of a chain, its newest block, and its transaction index. Throws only on abort. */
export async function checkChain(chain: DoctoredChain, signal: AbortSignal): Promise<readonly Finding[]> {
  const checks = await chain.client.pool.check(signal);
  signal.throwIfAborted();
  const heights = checks.flatMap((check) => (check.ok ? [check.status.latestHeight] : []));
  const best = heights.reduce((most, height) => (height > most ? height : most), 0n);
  const findings = checks.map((check) => checkEndpoint(chain, check, best));
  if (heights.length === 0) return findings;
  return [...findings, ...(await checkIndex(chain, best, signal))];
}

function checkEndpoint({ chainId, nowMs }: DoctoredChain, check: EndpointCheck, best: bigint): Finding {
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
  const ageMs = nowMs() - Number(latestTimeNs / 1_000_000n);
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

/** The hash of no transaction. A node with an index says that it is not found. */
const NO_HASH = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";

async function checkIndex(
  { chainId, client, role }: DoctoredChain,
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
      : [good(subject, "off: TX queries scan the blocks, with a call for each")];
  }
}
