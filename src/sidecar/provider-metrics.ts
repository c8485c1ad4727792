import type { SidecarFamilies } from "./sidecar-families.ts";

/** One exchange with a provider. */
export interface ProviderEvent {
  readonly provider: string;
  readonly alive: boolean;
  readonly latencyMs: number;
}

/** Records one request to a REST provider. */
export function recordApiProvider(
  families: SidecarFamilies,
  event: ProviderEvent & { readonly id: string },
): void {
  const { provider, id, latencyMs } = event;
  families.apiHttpStatus.add({ provider, status_code: "2XX", status_code_exact: "200" });
  families.apiInternalStatus.add({ id, internal_status: "success", provider });
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

/**
 * Records one message of a WebSocket provider, or a failed dial when the provider is not alive. Returns false when there
 * was neither.
 */
export function recordWebSocketProvider(
  families: SidecarFamilies,
  event: ProviderEvent & { readonly nowMs: number },
  socket: SocketState,
): boolean {
  const { provider, latencyMs } = event;
  const connection = (status: string): void => families.connectionStatus.add({ provider, status });
  if (!event.alive) {
    if (socket.connected) connection("read_err");
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
  families.dataHandlerStatus.add({ provider, status: "handle_message_success" });
  families.webSocketLatency.observe({ provider }, latencyMs);
  families.queryDuration.observe({ provider }, latencyMs / 1000);
  return true;
}
