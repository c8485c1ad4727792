import { Buffer } from "node:buffer";
import type { Secret } from "../../base/secret.ts";
import { ClientError } from "../errors.ts";

/** Where a chain's CometBFT RPC is reached. */
export interface Endpoint {
  /** `http://…` or `https://…`; may hold a path and `user:password@`. Never shown whole. */
  readonly url: string;
  /** Sent as `Authorization: Bearer …`. */
  readonly bearerToken?: Secret;
  /** How messages and metrics call it; the URL's host when left out. */
  readonly name?: string;
}

/** An endpoint split into what the transports need. */
export interface ParsedEndpoint {
  readonly name: string;
  readonly origin: string;
  /** path and query, "/" when there is none */
  readonly path: string;
  readonly webSocketUrl: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Splits and checks an endpoint. Throws `bad-endpoint` on a text that is no http(s) URL. */
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
  const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return { authorization: `Basic ${Buffer.from(pair, "utf8").toString("base64")}` };
}
