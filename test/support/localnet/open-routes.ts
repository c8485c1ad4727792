import { silentLogger } from "../../../src/platform/base/logger.ts";
import type { HttpRoute } from "../../../src/platform/http/http-route.ts";
import { openRouteServer } from "../../../src/platform/http/route-server.ts";

/** Serves routes on a free port of loopback until the signal aborts. Returns their URL. */
export async function openHttp(routes: readonly HttpRoute[], signal: AbortSignal): Promise<string> {
  const listen = { host: "127.0.0.1", port: 0 };
  const { address, close } = await openRouteServer(
    { name: "test", listen, portOption: "none", routes },
    { logger: silentLogger },
  );
  signal.addEventListener("abort", () => void close());
  return `http://127.0.0.1:${address.port}`;
}
