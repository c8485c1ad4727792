import type { SidecarFamilies } from "./sidecar-families.ts";

/** One exchange with a provider. */
export interface ProviderEvent {
  readonly provider: string;
  readonly alive: boolean;
  readonly latencyMs: number;
}

/** Counts one REST request. */
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

/** Where a WebSocket provider stands. */
export interface SocketState {
  connected: boolean;
  /** When it was last dialled in vain. */
  dialledMs: number;
}

/** A provider dials again this long after a failure. */
const RECONNECT_MS = 10_000;

/** Counts one message of a WebSocket provider, or, when it is not alive, its attempts to connect. False when there was none. */
export function recordWebSocketProvider(
  families: SidecarFamilies,
  event: ProviderEvent & { readonly nowMs: number },
  socket: SocketState,
): boolean {
  const { provider, latencyMs } = event;
  const connection = (status: string): void => families.connectionStatus.add({ provider, status });
  if (!event.alive) {
    if (socket.connected) connection("read_err");
    else if (event.nowMs - socket.dialledMs < RECONNECT_MS) return false;
    connection("dial_err");
    connection("unhealthy");
    socket.connected = false;
    socket.dialledMs = event.nowMs;
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
