import type { FaultName, FaultSet } from "./faults.ts";
import type { Feed } from "./markets.ts";
import type { SidecarFamilies } from "./sidecar-families.ts";

/** One exchange with a provider. */
export interface ProviderEvent {
  readonly provider: string;
  readonly failure: ProviderFailure | undefined;
  readonly latencyMs: number;
}

/** Records one request to a REST provider. */
export function recordApiProvider(
  families: SidecarFamilies,
  event: ProviderEvent & { readonly id: string },
): void {
  const { provider, id, latencyMs, failure } = event;
  const status = failure?.httpStatus ?? 200;
  families.apiHttpStatus.add({
    provider,
    status_code: `${Math.floor(status / 100)}XX`,
    status_code_exact: String(status),
  });
  families.apiInternalStatus.add({ id, internal_status: failure?.text ?? "success", provider });
  families.apiLatency.observe({ endpoint: "redacted_url", provider }, latencyMs);
  families.queryDuration.observe({ provider }, latencyMs / 1000);
}

/** Connection state of a WebSocket provider. */
export interface SocketState {
  connected: boolean;
  /** Time of the last failed dial. */
  failedDialMs: number;
}

/** Time from a failed dial to the next one. */
const RECONNECT_MS = 10_000;

/** A deployed sidecar reads a lost connection this often before it gives up (`MaxReadErrorCount`). */
const READ_ERRORS = 100;

/**
 * Records one message of a WebSocket provider, or a failed dial when its connection is lost. Returns false when there was
 * neither.
 */
export function recordWebSocketProvider(
  families: SidecarFamilies,
  event: ProviderEvent & { readonly nowMs: number },
  socket: SocketState,
): boolean {
  const { provider, latencyMs, failure } = event;
  const connection = (status: string, amount = 1): void =>
    families.connectionStatus.add({ provider, status }, amount);
  if (failure?.disconnected) {
    if (socket.connected) connection("read_err", READ_ERRORS);
    else if (event.nowMs - socket.failedDialMs < RECONNECT_MS) return false;
    connection("dial_err");
    connection("unhealthy");
    socket.connected = false;
    socket.failedDialMs = event.nowMs;
    return true;
  }
  if (!socket.connected) {
    socket.connected = true;
    for (const status of ["dial_success", "write_success", "healthy"]) connection(status);
    families.dataHandlerStatus.add({ provider, status: "create_message_success" });
  }
  connection("read_success");
  const handled = failure === undefined ? "handle_message_success" : "handle_message_err";
  families.dataHandlerStatus.add({ provider, status: handled });
  families.webSocketLatency.observe({ provider }, latencyMs);
  families.queryDuration.observe({ provider }, latencyMs / 1000);
  return true;
}

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
