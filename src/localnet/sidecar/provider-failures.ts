import type { FaultName, FaultSet } from "./faults.ts";
import type { Feed } from "./markets.ts";

/** How the exchange with a provider fails. */
export interface ProviderFailure {
  /** Value of the label `code` (error codes of a deployed sidecar, or the HTTP status). */
  readonly code: string;
  /** Value of the label `internal_status` of REST providers. */
  readonly text: string;
  /** HTTP status of a REST provider. No response counts as 500. */
  readonly httpStatus?: number;
  /** The connection of a WebSocket provider is lost. Otherwise its messages arrive and cannot be used. */
  readonly disconnected?: true;
}

/** Failures of single providers by fault. */
const SINGLE: readonly (readonly [FaultName, string, ProviderFailure])[] = [
  ["provider-rate-limited", "kraken_api", { code: "1", text: "rate limit exceeded", httpStatus: 429 }],
  ["provider-blocked", "kraken_api", { code: "451", text: "unknown error", httpStatus: 451 }],
  ["provider-no-response", "kraken_api", { code: "7", text: "got no response", httpStatus: 500 }],
  ["provider-invalid-response", "kraken_api", { code: "8", text: "invalid response", httpStatus: 200 }],
  ["provider-decode-error", "okx_ws", { code: "12", text: "failed to decode message" }],
];

const LOST: ProviderFailure = {
  code: "5",
  text: "failed to start websocket connection",
  disconnected: true,
};

/** Length of one half of a flap: connected, then not. */
const FLAP_MS = 15_000;

/** Returns how a provider fails at a time; undefined when it works. */
export function failureOf(
  { provider, kind }: Feed,
  faults: FaultSet,
  nowMs: number,
): ProviderFailure | undefined {
  if (kind === "websockets" && faults.has("websocket-providers-down")) return LOST;
  if (provider === "binance_ws" && faults.has("websocket-flap") && isFlapHalf(nowMs)) return LOST;
  return SINGLE.find(([fault, name]) => name === provider && faults.has(fault))?.[2];
}

function isFlapHalf(nowMs: number): boolean {
  return Math.floor(nowMs / FLAP_MS) % 2 === 1;
}
