// Exits 0 while the daemon in this container makes progress. RELAYWATCH_HEALTH_URL replaces the address of its HTTP server.
const { env } = process;
const listen =
  env.RELAYWATCH_RELAYER_HTTP_LISTEN ||
  env.RELAYWATCH_WATCHDOG_HTTP_LISTEN ||
  env.RELAYER_LISTEN_ADDR ||
  "127.0.0.1:9999";
const port = /:(\d+)$/.exec(listen)?.[1] ?? "9999";
const url = env.RELAYWATCH_HEALTH_URL || `http://127.0.0.1:${port}/livez`;
const response = await fetch(url, { signal: AbortSignal.timeout(4_000) }).catch(() => undefined);
process.exitCode = response?.ok ? 0 : 1;
