import { withDeadline } from "../../base/abort.ts";
import { request } from "undici";
import type { Clock } from "../../base/clock.ts";
import { CodedError } from "../../base/errors.ts";
import { isRecord } from "../../base/json.ts";
import type { SignedHeader } from "../../comet/block-types.ts";
import { parseSignedHeader } from "../../comet/rpc-parse.ts";

/** The remote chain did not show a header that the local chain could start from. */
class RemoteChainError extends CodedError<
  | { readonly code: "remote-unreachable" }
  | { readonly code: "remote-wrong-chain"; readonly expected: string; readonly got: string }
> {}

/** Where the remote chain is. */
export interface RemoteChain {
  readonly rpcUrl: string;
  readonly chainId: string;
  /** How long to wait for its first block. */
  readonly timeoutMs: number;
}

const RETRY_MS = 100;
const ANSWER_TIMEOUT_MS = 2_000;
const MAX_ANSWER_BYTES = 4_194_304;

/**
 * Reads the newest signed header of the remote chain, waiting for its first block. Rejects with {@link RemoteChainError}
 * when none comes in time or another chain answers, and with the signal's reason.
 */
export async function fetchRemoteHeader(
  remote: RemoteChain,
  clock: Clock,
  signal: AbortSignal,
): Promise<SignedHeader> {
  let lastError: unknown;
  try {
    return await withDeadline("the remote chain's first header", remote.timeoutMs, signal, async (inner) => {
      for (;;) {
        try {
          return checkChain(await fetchHeader(remote.rpcUrl, inner), remote.chainId);
        } catch (error) {
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
      `the remote chain ${remote.chainId} showed no block within ${remote.timeoutMs / 1000} s; start it first (localnet start --part remote) or say where its RPC is`,
      { cause: lastError ?? error },
    );
  }
}

async function fetchHeader(rpcUrl: string, signal: AbortSignal): Promise<SignedHeader> {
  const answer = await request(new URL("/commit", rpcUrl), {
    signal,
    headersTimeout: ANSWER_TIMEOUT_MS,
    bodyTimeout: ANSWER_TIMEOUT_MS,
  });
  let text = "";
  for await (const chunk of answer.body.setEncoding("utf8")) {
    text += String(chunk);
    if (text.length > MAX_ANSWER_BYTES) throw new Error("the remote chain's answer is too long");
  }
  const parsed: unknown = JSON.parse(text);
  const result = isRecord(parsed) ? parsed["result"] : undefined;
  if (!isRecord(result)) throw new Error(`the remote chain has no block yet (status ${answer.statusCode})`);
  return parseSignedHeader(result["signed_header"]);
}

function checkChain(signed: SignedHeader, expected: string): SignedHeader {
  const got = signed.header.chainId;
  if (got === expected) return signed;
  throw new RemoteChainError(
    { code: "remote-wrong-chain", expected, got },
    `the RPC that was given for ${expected} belongs to ${got}`,
  );
}
