import { Buffer } from "node:buffer";
import type { Secret } from "../../../platform/base/secret.ts";
import { ClientError } from "../errors.ts";

/** CometBFT RPC endpoint of a chain. */
export interface Endpoint {
  /** `http://…` or `https://…`, optionally with a path and `user:password@`. Messages never contain it, because it may contain a secret. */
  readonly url: string;
  /** Sent as `Authorization: Bearer …`. */
  readonly bearerToken?: Secret;
  /** Name in messages and metrics. Default: the URL's host and port. */
  readonly name?: string;
}

/** An endpoint's URL, split for the HTTP and WebSocket transports. */
export interface ParsedEndpoint {
  readonly name: string;
  readonly origin: string;
  /** path and query, at least "/" */
  readonly path: string;
  readonly webSocketUrl: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Splits an endpoint's URL. Throws `bad-endpoint` when it is not an http(s) URL. */
export function parseEndpoint(endpoint: Endpoint): ParsedEndpoint {
  const url = toUrl(endpoint);
  const base = url.pathname.replace(/\/+$/, "");
  const scheme = url.protocol === "https:" ? "wss:" : "ws:";
  return {
    name: endpoint.name ?? url.host,
    origin: url.origin,
    path: `${base === "" ? "/" : base}${url.search}`,
    webSocketUrl: `${scheme}//${url.host}${base}/websocket${url.search}`,
    headers: authorization(url, endpoint.bearerToken),
  };
}

function toUrl(endpoint: Endpoint): URL {
  const url = URL.canParse(endpoint.url) ? new URL(endpoint.url) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol)) {
    const name = endpoint.name ?? "rpc endpoint";
    throw new ClientError(
      { code: "bad-endpoint", endpoint: name },
      `${name} is not an http:// or https:// URL`,
    );
  }
  return url;
}

function authorization(url: URL, token: Secret | undefined): Readonly<Record<string, string>> {
  if (token !== undefined) return { authorization: `Bearer ${token.reveal()}` };
  if (url.username === "") return {};
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return { authorization: `Basic ${Buffer.from(credentials, "utf8").toString("base64")}` };
}
