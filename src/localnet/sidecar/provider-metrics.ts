import type { ProviderFailure } from "./provider-failures.ts";
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
