/** Faults that can be injected into a sidecar, and their visible effects. */
export const SIDECAR_FAULTS = {
  "sidecar-down":
    "the process is stopped: it drains for 7.75 s with malformed responses, then all ports refuse connections; it starts again with new counters when the fault is switched off",
  "sidecar-killed":
    "the process is killed: all ports refuse connections immediately; it starts again with new counters when the fault is switched off",
  startup: "a new process has not finished its first tick: prices are {} with the timestamp of year 1",
  "market-map-empty":
    "a new process cannot read the market map (code 15): prices are {}, no provider is queried",
  "all-prices-missing": "the prices response is {} with a current timestamp",
  "pair-missing": "TIA/USD is absent from the prices response",
  "major-pairs-missing": "BTC/USD, ETH/USD and NTRN/USD are absent from the prices response",
  "malformed-price": "the price of BTC/USD is not an integer",
  slow: "the prices response takes 3 s, longer than the node waits",
  "http-500": "the prices response is HTTP 500, oracle is not running",
  "websocket-providers-down":
    "every WebSocket provider fails; prices disappear once they exceed the maximum age of 2 min",
  "websocket-flap": "binance_ws loses its connection every 15 s and reconnects 15 s later",
  "provider-rate-limited": "kraken_api responds with HTTP 429: code 1",
  "provider-blocked": "kraken_api responds with HTTP 451: code 451",
  "provider-no-response": "kraken_api does not respond: code 7",
  "provider-invalid-response": "kraken_api responds with an invalid body: code 8",
  "provider-decode-error": "messages of okx_ws cannot be decoded: code 12",
  "timestamp-stale": "the price loop hangs: timestamp, prices and counters do not change",
  "v1-only": "version 2 paths respond with 404",
  "v2-only": "version 1 paths respond with 404",
} as const;

export type FaultName = keyof typeof SIDECAR_FAULTS;

/** The set of faults that are currently on. */
export interface FaultSet {
  readonly has: (name: FaultName) => boolean;
}

/** Names of all sidecar faults, in the order of {@link SIDECAR_FAULTS}. */
export const SIDECAR_FAULT_NAMES: readonly FaultName[] = Object.keys(SIDECAR_FAULTS).filter(isFaultName);

function isFaultName(name: string): name is FaultName {
  return Object.hasOwn(SIDECAR_FAULTS, name);
}
