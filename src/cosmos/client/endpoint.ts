import { Buffer } from "node:buffer";
import type http from "node:http";
import { Duplex } from "node:stream";
import tls from "node:tls";
import { Client } from "undici";
import type { Secret } from "../../platform/base/secret.ts";
import { ClientError } from "./errors.ts";

/** CometBFT RPC endpoint of a chain. */
export interface Endpoint {
  /** `http://…` or `https://…`, optionally with a path and `user:password@`. Messages never contain it, because it may contain a secret. */
  readonly url: string;
  /** Further headers of each request, by name. */
  readonly headers?: Readonly<Record<string, Secret>> | undefined;
  /** Name in messages and metrics. Default: the URL's host and port, with a number where several endpoints share them. */
  readonly name?: string | undefined;
}

/** How endpoints are reached. */
export interface NetworkOptions {
  /** Certificates of private authorities (PEM), trusted in addition to the public ones. */
  readonly ca?: string | undefined;
  /** Has HTTP_PROXY, HTTPS_PROXY and NO_PROXY. Default: the process environment. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** An endpoint's URL, split for the HTTP and WebSocket transports. */
export interface ParsedEndpoint {
  readonly name: string;
  readonly origin: string;
  /** path and query, at least "/" */
  readonly path: string;
  readonly webSocketUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The proxy of its requests; undefined: none. */
  readonly proxy: URL | undefined;
  /** Trusted certificates; undefined: the public ones. */
  readonly ca: readonly string[] | undefined;
}

/** Splits the URLs of a chain's endpoints and gives them distinct names. Throws `bad-endpoint` for a URL that is not http(s). */
export function parseEndpoints(
  endpoints: readonly Endpoint[],
  { ca, environment = process.env }: NetworkOptions = {},
): readonly ParsedEndpoint[] {
  const urls = endpoints.map(toUrl);
  const nameOf = (index: number): string => endpoints[index]?.name ?? urls[index]?.host ?? "";
  return endpoints.map((endpoint, index) => {
    const url = urls[index] ?? toUrl(endpoint);
    const base = url.pathname.replace(/\/+$/, "");
    const scheme = url.protocol === "https:" ? "wss:" : "ws:";
    const own = nameOf(index);
    // Paths may be keys, so a number tells endpoints of one host apart.
    const same = urls.flatMap((_, other) => (nameOf(other) === own ? [other] : []));
    return {
      name: same.length === 1 ? own : `${own}#${same.indexOf(index) + 1}`,
      origin: url.origin,
      path: `${base === "" ? "/" : base}${url.search}`,
      webSocketUrl: `${scheme}//${url.host}${base}/websocket${url.search}`,
      headers: headersOf(url, endpoint),
      proxy: proxyOf(url, environment),
      ca: ca === undefined ? undefined : [...tls.rootCertificates, ca],
    };
  });
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

function headersOf(url: URL, { headers = {} }: Endpoint): Readonly<Record<string, string>> {
  const own = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value.reveal()]);
  return { ...authorization(url), ...Object.fromEntries(own) };
}

function authorization(url: URL): Readonly<Record<string, string>> {
  if (url.username === "") return {};
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return { authorization: `Basic ${Buffer.from(credentials, "utf8").toString("base64")}` };
}

/** The proxy that the environment has for a URL, by the rules of Go: never for this machine, nor for the hosts of NO_PROXY. */
function proxyOf(
  { protocol, hostname, port }: URL,
  environment: Readonly<Record<string, string | undefined>>,
): URL | undefined {
  const variable = (name: string): string => environment[name] ?? environment[name.toLowerCase()] ?? "";
  const proxy = variable(protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY");
  if (proxy === "" || /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)) return undefined;
  const isExempt = variable("NO_PROXY")
    .split(/[,\s]+/)
    .filter((entry) => entry !== "")
    .some((entry) => {
      const [, host = "", only] = /^(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
      const domain = host.replace(/^\*?\./, "");
      if (only !== undefined && only !== (port || (protocol === "https:" ? "443" : "80"))) return false;
      return host === "*" || hostname === domain || hostname.endsWith(`.${domain}`);
    });
  return isExempt ? undefined : new URL(proxy.includes("://") ? proxy : `http://${proxy}`);
}

/** Returns the header that a proxy with `user:password@` in its URL wants. */
export function proxyAuthorization(proxy: URL): string | undefined {
  return authorization(proxy)["authorization"];
}

/**
 * Returns where a redirect of `from` leads when it may be followed: to the same host, and not from TLS to plain text.
 * Otherwise returns the name of its target, without path and query, which may contain a secret.
 */
export function followRedirect(from: URL, location: string): URL | string {
  if (!URL.canParse(location, from.href)) return "an invalid address";
  const to = new URL(location, from);
  const isSafe = to.protocol === from.protocol || !["https:", "wss:"].includes(from.protocol);
  return to.hostname === from.hostname && isSafe ? to : to.origin === "null" ? to.host : to.origin;
}

/** Creates the option `createConnection` of a WebSocket's request that goes through `proxy` by CONNECT. */
export function tunnelThrough(
  proxy: URL,
  { ca, timeoutMs }: { readonly ca: readonly string[] | undefined; readonly timeoutMs: number },
): NonNullable<http.ClientRequestArgs["createConnection"]> {
  const trust = ca === undefined ? {} : { ca: [...ca] };
  const credentials = proxyAuthorization(proxy);
  const headers = credentials === undefined ? {} : { "proxy-authorization": credentials };
  return ({ host, port, defaultPort }, done) => {
    const client = new Client(proxy.origin, {
      connect: { timeout: timeoutMs, ...trust },
      headersTimeout: timeoutMs,
    });
    const servername = host ?? "";
    client.connect({ path: `${servername}:${port ?? defaultPort}`, headers }, (error, data) => {
      if (error !== null) return done(error, new Duplex());
      const { socket, statusCode } = data;
      // The library gives no protocol here.
      if (statusCode === 200)
        return done(null, defaultPort === 443 ? tls.connect({ socket, servername, ...trust }) : socket);
      socket.destroy();
      return done(new Error(`Unexpected server response: ${statusCode}`), new Duplex());
    });
    return undefined;
  };
}
