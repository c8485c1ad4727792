import { SimulateRequest, SimulateResponse } from "../../proto/gen/cosmos/tx/v1beta1/service.ts";
import type { ChainClient } from "../chain-client.ts";
import { ClientError } from "../errors.ts";
import { badResponse } from "../rpc/rpc-response.ts";
import type { SimulationOutcome } from "./tx-sender.ts";

/** The SDK's code for a transaction that is too large. Also used when the node refuses the request for its size. */
export const TX_TOO_LARGE = { codespace: "sdk", code: 21 } as const;

const SIMULATE_PATH = "/cosmos.tx.v1beta1.Service/Simulate";

/**
 * Simulates an encoded transaction. A refusal by the application is an outcome, also a transaction whose request exceeds
 * the node's limit ({@link TX_TOO_LARGE}). Other errors are thrown.
 */
export async function simulateTransaction(
  client: Pick<ChainClient, "grpcQuery">,
  txBytes: Uint8Array,
  signal: AbortSignal,
): Promise<SimulationOutcome> {
  const request = SimulateRequest.encode({ tx: undefined, txBytes }).finish();
  try {
    const { gasInfo } = SimulateResponse.decode(await client.grpcQuery(SIMULATE_PATH, request, signal));
    if (gasInfo === undefined) throw badResponse("chain", "gas_info", "is missing from a simulation");
    return { ok: true, gasUsed: gasInfo.gasUsed };
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    if (error.facts.code === "request-too-large")
      return { ok: false, ...TX_TOO_LARGE, log: error.message, failedMessage: undefined };
    if (error.facts.code !== "abci") throw error;
    const { abciCode, codespace, log } = error.facts;
    return { ok: false, code: abciCode, codespace, log, failedMessage: failedMessageIndex(log) };
  }
}

/** Returns N of "failed to execute message; message index: N", or undefined when the log has no such text. */
export function failedMessageIndex(log: string): number | undefined {
  const match = /failed to execute message; message index: (\d{1,6})/.exec(log);
  return match === null ? undefined : Number(match[1]);
}

/** `sdk/32`: "account sequence mismatch" */
const SEQUENCE_MISMATCH = 32;

/** Whether CheckTx refused a transaction because of its sequence. */
export function isSequenceMismatch(refusal: { readonly codespace: string; readonly code: number }): boolean {
  return refusal.codespace === "sdk" && refusal.code === SEQUENCE_MISMATCH;
}

/** Returns N of "account sequence mismatch, expected N, got M", or undefined when the log has no such text. */
export function expectedSequence(log: string): bigint | undefined {
  const match = /account sequence mismatch, expected (\d{1,20}), got \d{1,20}/.exec(log);
  return match === null ? undefined : BigInt(match[1] ?? "0");
}

/** Sequences that a simulation tries. */
const SEQUENCE_TRIES = 4;

/**
 * Simulates with the sequence `first`, and then with those that the node expects. A simulation runs on the mempool's state,
 * which already counts transactions that are not in a block yet, and others may arrive meanwhile. `expected` is the last
 * sequence that the node named.
 */
export async function simulateInSequence(
  first: bigint,
  simulate: (sequence: bigint) => Promise<SimulationOutcome>,
): Promise<{ readonly outcome: SimulationOutcome; readonly expected: bigint | undefined }> {
  let expected: bigint | undefined;
  for (let tries = 1; ; tries++) {
    const outcome = await simulate(expected ?? first);
    const next = outcome.ok ? undefined : expectedSequence(outcome.log);
    if (next === undefined || tries >= SEQUENCE_TRIES) return { outcome, expected };
    expected = next;
  }
}
