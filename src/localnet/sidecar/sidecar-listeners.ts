import type { Clock } from "../../platform/base/clock.ts";
import type { Logger } from "../../platform/base/logger.ts";
import type { ListenAddress } from "../../platform/config/config-fields.ts";
import type { HttpReply, HttpRoute, RouteRequest } from "../../platform/http/http-route.ts";
import type { OpenHttpServer } from "../../platform/http/http-server.ts";
import { openRouteServer } from "../../platform/http/route-server.ts";
import { type Family, writeExposition, type OracleFamilies } from "./sidecar-families.ts";
import type { FaultSet } from "./faults.ts";
import type { Market } from "./markets.ts";
import type { PriceSnapshot } from "./price-loop.ts";

/** Prefixes of the two API versions, whose responses are identical. */
const PREFIXES = ["/connect/oracle/v2", "/slinky/oracle/v1"] as const;

/** Go's zero time, which is the timestamp before the first tick. */
const ZERO_TIME = "0001-01-01T00:00:00Z";

/** The fault that hides all paths under a prefix, keyed by prefix. */
const ONLY_OTHER = { "/connect/oracle/v2": "v1-only", "/slinky/oracle/v1": "v2-only" } as const;

/** A draining sidecar's response, which nodes report as "malformed header: missing HTTP content-type". */
const DRAINING: HttpReply = { status: 503, body: "" };

/** Response for unknown paths, identical to the deployed gRPC gateway's response. */
export const NOT_FOUND: HttpReply = {
  status: 404,
  headers: { "content-type": "text/plain; charset=utf-8", "x-content-type-options": "nosniff" },
  body: "Not Found\n",
};

export interface SidecarAddresses {
  readonly prices: ListenAddress;
  readonly oracleMetrics: ListenAddress;
  readonly sidecarMetrics: ListenAddress;
}

export interface PriceRoutesDeps {
  readonly snapshot: () => PriceSnapshot;
  readonly faults: FaultSet;
  /** Returns true if the process is shutting down and no longer serves requests. */
  readonly isDraining: () => boolean;
  readonly markets: readonly Market[];
  readonly oracle: () => OracleFamilies;
  readonly clock: Clock;
  readonly chainId: string;
  readonly version: string;
  /** Response delay during the fault `slow`. */
  readonly slowMs: number;
}

/** Functions that return the metrics pages' families, called for each request. */
interface MetricsPages {
  readonly oracleFamilies: () => readonly Family[];
  readonly sidecarFamilies: () => readonly Family[];
}

/** A sidecar's listeners, which are opened and closed together. Calls to `open` and `close` must not overlap. */
export function createSidecarListeners(
  listen: SidecarAddresses,
  deps: { readonly logger: Logger },
  prices: PriceRoutesDeps,
  pages: MetricsPages,
) {
  const options = { portOption: "--port-offset", dateMs: prices.clock.nowMs, limits: { closeGraceMs: 0 } };
  const priceRoutes = createPriceRoutes(prices);
  let servers: readonly OpenHttpServer[] = [];
  // Reopen the listeners on the addresses of the first start, because clients expect the same ports after a restart. Ports that the
  // system chose (port 0) are also reused.
  let bound = listen;
  const close = async (): Promise<void> => {
    const closing = servers;
    servers = [];
    await Promise.all(closing.map((server) => server.close()));
  };
  const open = async (): Promise<SidecarAddresses> => {
    if (servers.length > 0) return bound;
    const results = await Promise.allSettled(
      [
        { name: "sidecar prices", listen: bound.prices, routes: priceRoutes, notFound: NOT_FOUND },
        {
          name: "sidecar oracle metrics",
          listen: bound.oracleMetrics,
          routes: [pageRoute(pages.oracleFamilies)],
        },
        { name: "sidecar metrics", listen: bound.sidecarMetrics, routes: [pageRoute(pages.sidecarFamilies)] },
      ].map((listener) => openRouteServer({ ...options, ...listener }, deps)),
    );
    servers = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    const failed = results.find((result) => result.status === "rejected");
    if (failed !== undefined) {
      await close();
      throw failed.reason;
    }
    const addresses = servers.map(({ address }) => address);
    bound = {
      prices: addresses[0] ?? listen.prices,
      oracleMetrics: addresses[1] ?? listen.oracleMetrics,
      sidecarMetrics: addresses[2] ?? listen.sidecarMetrics,
    };
    return bound;
  };
  return {
    /** Opens all listeners, unless already open, and returns their addresses. If any listener fails to open, closes all listeners. */
    open,
    /** Closes all listeners and connections, unless already closed. */
    close,
  };
}

/** Serves a metrics page on all paths, like deployed sidecars. */
function pageRoute(families: () => readonly Family[]): HttpRoute {
  const headers = { "content-type": "text/plain; version=0.0.4; charset=utf-8" };
  return {
    method: "GET",
    path: "*",
    handle: () => ({ status: 200, headers, body: writeExposition(families()) }),
  };
}

/** Creates the routes `prices`, `marketmap` and `version` under both prefixes. */
export function createPriceRoutes(deps: PriceRoutesDeps): readonly HttpRoute[] {
  const { faults, version } = deps;
  return PREFIXES.flatMap((prefix) => {
    const served = (path: string, handle: HttpRoute["handle"]): HttpRoute => ({
      method: "GET",
      path: `${prefix}/${path}`,
      handle: (request) => {
        if (deps.isDraining()) return DRAINING;
        return faults.has(ONLY_OTHER[prefix]) ? NOT_FOUND : handle(request);
      },
    });
    return [
      served("prices", (request) => replyPrices(request, deps)),
      served("marketmap", () => gatewayReply(200, { market_map: { markets: marketMap(deps) } })),
      served("version", () => gatewayReply(200, { version })),
    ];
  });
}

async function replyPrices(request: RouteRequest, deps: PriceRoutesDeps): Promise<HttpReply> {
  const startMs = deps.clock.monotonicMs();
  const record = (status: "Success" | "Failure"): void => {
    const { responses, latency } = deps.oracle();
    responses.add({ chain_id: deps.chainId, status });
    latency.observe({ chain_id: deps.chainId }, Math.floor(deps.clock.monotonicMs() - startMs));
  };
  try {
    if (deps.faults.has("slow")) await deps.clock.sleep(deps.slowMs, request.signal);
  } catch (error) {
    // Record a failure, like a node that cancels a request at its timeout.
    record("Failure");
    throw error;
  }
  const failed = deps.faults.has("http-500");
  record(failed ? "Failure" : "Success");
  if (!failed) return gatewayReply(200, pricesBody(deps));
  const message = "oracle is not running";
  return gatewayReply(500, { error: message, code: 2, message, details: [] });
}

function pricesBody({ snapshot, version, faults }: PriceRoutesDeps): unknown {
  const { prices, tickedAtMs } = snapshot();
  const malformed = faults.has("malformed-price") ? { "BTC/USD": "not-a-number" } : {};
  return {
    prices: {
      ...Object.fromEntries([...prices].map(([pair, price]) => [pair, price.toString()])),
      ...malformed,
    },
    timestamp: tickedAtMs === undefined ? ZERO_TIME : new Date(tickedAtMs).toISOString(),
    version,
  };
}

function marketMap({ faults, markets }: PriceRoutesDeps): unknown {
  if (faults.has("market-map-empty")) return {};
  return Object.fromEntries(markets.map((market) => [market.pair, marketEntry(market)]));
}

function marketEntry(market: Market): unknown {
  const [Base = "", Quote = ""] = market.pair.split("/");
  return {
    ticker: {
      currency_pair: { Base, Quote },
      decimals: String(market.decimals),
      min_provider_count: String(market.minProviders),
      enabled: true,
      metadata_JSON: "",
    },
    provider_configs: market.feeds.map((feed) => ({
      name: feed.provider,
      off_chain_ticker: feed.offChainTicker,
      normalize_by_pair: null,
      invert: false,
      metadata_JSON: "",
    })),
  };
}

/** Creates a response with the same headers as the deployed gRPC gateway, which announces gRPC trailers. */
function gatewayReply(status: number, value: unknown): HttpReply {
  return {
    status,
    headers: {
      "Content-Type": "application/json",
      "Grpc-Metadata-Content-Type": "application/grpc",
      "Grpc-Metadata-Trailer": ["Grpc-Status", "Grpc-Message", "Grpc-Status-Details-Bin"],
    },
    body: JSON.stringify(value),
  };
}
