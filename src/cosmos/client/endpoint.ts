import {
  endpointHeaders,
  endpointNames,
  type NetworkOptions,
  type Endpoint,
} from "../../platform/http/remote.ts";
import { ClientError } from "../client-error.ts";

/** An endpoint's URL, split for the HTTP and WebSocket transports. */
export interface ParsedEndpoint {
  readonly name: string;
  readonly origin: string;
  /** The URL's path and query, or "/" if the URL has neither. */
  readonly path: string;
  readonly webSocketUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly network: NetworkOptions;
}

/** Splits a chain's endpoint URLs and gives the endpoints distinct names. Throws `bad-endpoint` for a URL that is not http(s). */
export function parseEndpoints(
  endpoints: readonly Endpoint[],
  network: NetworkOptions = {},
): readonly ParsedEndpoint[] {
  const names = endpointNames(endpoints);
  return endpoints.map((endpoint, index) => {
    const url = toUrl(endpoint);
    const base = url.pathname.replace(/\/+$/, "");
    const scheme = url.protocol === "https:" ? "wss:" : "ws:";
    return {
      name: names[index] ?? url.host,
      origin: url.origin,
      path: `${base === "" ? "/" : base}${url.search}`,
      webSocketUrl: `${scheme}//${url.host}${base}/websocket${url.search}`,
      headers: endpointHeaders(endpoint),
      network,
    };
  });
}

function toUrl(endpoint: Endpoint): URL {
  const url = URL.canParse(endpoint.url) ? new URL(endpoint.url) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol)) {
    const { name = "rpc endpoint" } = endpoint;
    const text = `${name} is not an http:// or https:// URL`;
    throw new ClientError({ code: "bad-endpoint", endpoint: name }, text);
  }
  return url;
}
