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

/** Counts one message of a WebSocket provider, or one failed attempt to connect. `healthy` holds those connected. */
export function recordWebSocketProvider(
  families: SidecarFamilies,
  event: ProviderEvent,
  healthy: Set<string>,
): void {
  const { provider, latencyMs } = event;
  const connection = (status: string): void => families.connectionStatus.add({ provider, status });
  if (!event.alive) {
    if (healthy.delete(provider)) connection("read_err");
    connection("dial_err");
    connection("unhealthy");
    return;
  }
  if (!healthy.has(provider)) {
    healthy.add(provider);
    for (const status of ["dial_success", "write_success", "healthy"]) connection(status);
    families.dataHandlerStatus.add({ provider, status: "create_message_success" });
  }
  connection("read_success");
  families.dataHandlerStatus.add({ provider, status: "handle_message_success" });
  families.webSocketLatency.observe({ provider }, latencyMs);
  families.queryDuration.observe({ provider }, latencyMs / 1000);
}
