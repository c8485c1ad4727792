import type { RunningNode } from "../node/create-node.ts";
import { request } from "undici";
import type { SignedHeader } from "../../cosmos/comet/block-types.ts";
import { parseSignedHeader } from "../../cosmos/comet/rpc-json.ts";
import { withDeadline } from "../../platform/base/abort.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { CodedError } from "../../platform/base/errors.ts";
import { isRecord } from "../../platform/base/json.ts";
import { readTextBody } from "../../platform/base/read-text.ts";
import { parseRfc3339Ns } from "../../platform/base/time.ts";

/** Thrown if the remote chain serves no header that the local chain's light client could trust. */
class RemoteChainError extends CodedError<
  | { readonly code: "remote-unreachable" }
  | { readonly code: "remote-wrong-chain"; readonly expected: string; readonly got: string }
> {}

interface RemoteChain {
  readonly rpcUrl: string;
  readonly chainId: string;
  /** Deadline for the remote chain's first block. */
  readonly timeoutMs: number;
}

const RETRY_MS = 100;
const RESPONSE_TIMEOUT_MS = 2_000;
const MAX_RESPONSE_BYTES = 4_194_304;

/**
 * Reads the remote chain's newest signed header and its genesis time. Waits for the first block if necessary. Rejects with {@link
 * RemoteChainError} at the deadline or if the RPC server belongs to another chain, and with the signal's reason on abort.
 */
export async function fetchRemoteStart(
  remote: RemoteChain,
  clock: Clock,
  signal: AbortSignal,
): Promise<{ readonly header: SignedHeader; readonly genesisTimeNs: bigint }> {
  let lastError: unknown;
  try {
    return await withDeadline("the remote chain's first header", remote.timeoutMs, signal, async (inner) => {
      for (;;) {
        try {
          const commit = await fetchResult(new URL("/commit", remote.rpcUrl), inner);
          const header = checkChain(parseSignedHeader(commit["signed_header"]), remote.chainId);
          return { header, genesisTimeNs: await fetchGenesisTime(remote.rpcUrl, inner) };
        } catch (error) {
          // Give up if the RPC server belongs to another chain, because the configuration is wrong. Retry after other errors,
          // which may go away once the remote chain is up.
          if (error instanceof RemoteChainError || inner.aborted) throw error;
          lastError = error;
        }
        await clock.sleep(RETRY_MS, inner);
      }
    });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof RemoteChainError) throw error;
    throw new RemoteChainError(
      { code: "remote-unreachable" },
      `the remote chain ${remote.chainId} served no block within ${remote.timeoutMs / 1000} s; start it first with "relaywatch localnet start remote"`,
      { cause: lastError ?? error },
    );
  }
}

async function fetchGenesisTime(rpcUrl: string, signal: AbortSignal): Promise<bigint> {
  const { genesis } = await fetchResult(new URL("/genesis", rpcUrl), signal);
  const time = isRecord(genesis) ? genesis["genesis_time"] : undefined;
  if (typeof time !== "string") throw new Error("the remote chain serves no genesis time");
  return parseRfc3339Ns(time);
}

async function fetchResult(url: URL, signal: AbortSignal): Promise<Readonly<Record<string, unknown>>> {
  const response = await request(url, {
    signal,
    headersTimeout: RESPONSE_TIMEOUT_MS,
    bodyTimeout: RESPONSE_TIMEOUT_MS,
  });
  const parsed: unknown = JSON.parse(await readTextBody(response.body, MAX_RESPONSE_BYTES));
  const result = isRecord(parsed) ? parsed["result"] : undefined;
  if (!isRecord(result)) throw new Error(`the remote chain has no block yet (status ${response.statusCode})`);
  return result;
}

function checkChain(signed: SignedHeader, expected: string): SignedHeader {
  const got = signed.header.chainId;
  if (got === expected) return signed;
  throw new RemoteChainError(
    { code: "remote-wrong-chain", expected, got },
    `the RPC for ${expected} belongs to ${got}`,
  );
}

/**
 * The first block whose header can prove state. Nodes serve proofs from height 2 on, and the header of block 3 contains the state
 * root of height 2.
 */
const FIRST_PROVING_BLOCK = 3n;

/** Makes a new chain's blocks 1 to 3 without pauses, so that relayers can prove the chain's state immediately. */
export function makeProvable({ view, control }: RunningNode): void {
  const missing = FIRST_PROVING_BLOCK - view.status().latestHeight;
  if (missing > 0n && !control.isHalted()) control.produce(Number(missing));
}
