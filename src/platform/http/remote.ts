import { Buffer } from "node:buffer";
import type http from "node:http";
import { Duplex } from "node:stream";
import tls from "node:tls";
import { Agent, Client, type Dispatcher, ProxyAgent } from "undici";
import { getOrCreate } from "../base/caches.ts";
import type { Secret } from "../base/secret.ts";

/** The address of a server on any machine, as an operator specifies it. */
export interface Endpoint {
  /**
   * `http://…` or `https://…`, optionally with a path and `user:password@`. The URL may contain a secret, so it never appears in
   * messages.
   */
  readonly url: string;
  /** Additional headers for every request, keyed by name. */
  readonly headers?: Readonly<Record<string, Secret>> | undefined;
  /** Name in messages and metrics; by default, the URL's host and port, with a number if several endpoints share them. */
  readonly name?: string | undefined;
}

export interface NetworkOptions {
  /** PEM certificates of private authorities, trusted in addition to the public authorities. */
  readonly ca?: string | undefined;
  /** Environment from which HTTP_PROXY, HTTPS_PROXY and NO_PROXY are read; by default, the process environment. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** Returns distinct names for endpoints, with numbers for endpoints on the same host, because their paths may contain API keys. */
export function endpointNames(endpoints: readonly Endpoint[]): readonly string[] {
  const own = endpoints.map(({ url, name }) => name ?? (URL.canParse(url) ? new URL(url).host : ""));
  return own.map((name, index) => {
    const same = own.flatMap((other, at) => (other === name ? [at] : []));
    return same.length === 1 ? name : `${name}#${same.indexOf(index) + 1}`;
  });
}

/** Returns the headers for an endpoint's requests: its own headers, and a header for the credentials in its URL. */
export function endpointHeaders({ url, headers = {} }: Endpoint): Readonly<Record<string, string>> {
  const own = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value.reveal()]);
  return { ...authorization(new URL(url)), ...Object.fromEntries(own) };
}

/** Returns the `authorization` header for a URL with `user:password@`, or no header without credentials. */
function authorization(url: URL): { readonly authorization?: string } {
  if (url.username === "") return {};
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return { authorization: `Basic ${Buffer.from(credentials, "utf8").toString("base64")}` };
}

/** Returns the public and private certificates to trust, or undefined to trust only Node's public certificates. */
export function trustedCertificates({ ca }: NetworkOptions): readonly string[] | undefined {
  return ca === undefined ? undefined : [...tls.rootCertificates, ca];
}

/** Error codes of a connection that ended before the response, for example because the server closed the idle connection. */
export const CONNECTION_ENDED: ReadonlySet<unknown> = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);

/**
 * Creates connections to any number of servers, each through the proxy that the environment specifies for it. `settings` apply to
 * the connections to each origin separately.
 */
export function createRemoteConnections(
  {
    connect = {},
    ...settings
  }: Omit<Agent.Options, "connect"> & { readonly connect?: { readonly timeout?: number } },
  network: NetworkOptions = {},
) {
  const ca = trustedCertificates(network);
  const trust = ca === undefined ? {} : { ca: [...ca] };
  const direct = new Agent({ ...settings, connect: { ...connect, ...trust } });
  const proxies = new Map<string, ProxyAgent>();
  const through = (proxy: URL): ProxyAgent => {
    const { authorization: token } = authorization(proxy);
    return new ProxyAgent({
      ...settings,
      connect,
      uri: proxy.origin,
      requestTls: trust,
      proxyTls: trust,
      ...(token === undefined ? {} : { token }),
    });
  };
  return {
    /** Returns the dispatcher for requests to the URL's origin. */
    to: (url: URL): Dispatcher => {
      const proxy = proxyOf(url, network);
      if (proxy === undefined) return direct;
      return getOrCreate(proxies, proxy.href, () => through(proxy));
    },
    /** Closes all connections, including connections in use. */
    close: async (): Promise<void> =>
      void (await Promise.all([direct, ...proxies.values()].map((agent) => agent.destroy()))),
  };
}

/**
 * Returns the proxy that the environment specifies for a URL, by Go's rules. Requests to this machine and to NO_PROXY hosts use no
 * proxy. Throws if the proxy is not an HTTP proxy.
 */
export function proxyOf(
  { protocol, hostname, port }: URL,
  { environment = process.env }: NetworkOptions,
): URL | undefined {
  const variable = (name: string): string => environment[name] ?? environment[name.toLowerCase()] ?? "";
  const name = protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
  const proxy = variable(name);
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
  if (isExempt) return undefined;
  const url = proxy.includes("://") ? proxy : `http://${proxy}`;
  // The proxy URL may contain a password.
  if (!/^https?:/.test(url) || !URL.canParse(url))
    throw new Error(`variable ${name} is not an HTTP proxy URL (expected http://HOST:PORT)`);
  return new URL(url);
}

/**
 * Returns a redirect's target if it may be followed: same host, and not from TLS to plain text. Otherwise returns a name of the
 * target for error messages, without the path and query, which may contain a secret.
 */
export function followRedirect(from: URL, location: string): URL | string {
  if (!URL.canParse(location, from.href)) return "an invalid address";
  const to = new URL(location, from);
  const isSafe = to.protocol === from.protocol || !["https:", "wss:"].includes(from.protocol);
  return to.hostname === from.hostname && isSafe ? to : to.origin === "null" ? to.host : to.origin;
}

/** Appends a path to a base URL, which may have its own path and query, as in "https://host/chain?key=k". */
export function urlBelow(base: string, path: string): URL {
  const url = new URL(base);
  const [, below = "", query = ""] = /^\/?([^?]*)\??(.*)$/.exec(path) ?? [];
  if (below !== "") url.pathname = `${url.pathname.replace(/\/+$/, "")}/${below}`;
  url.search = [url.search.slice(1), query].filter((part) => part !== "").join("&");
  return url;
}

/**
 * Returns a URL's path below a base, with the URL's own query, as {@link urlBelow} appends it. Returns undefined if the URL is not
 * below the base.
 */
export function pathBelow(base: URL, url: URL): string | undefined {
  const root = base.pathname.replace(/\/+$/, "");
  const isBelow = url.pathname === base.pathname || url.pathname.startsWith(`${root}/`);
  const query = `${url.search.slice(1)}&`;
  const common = base.search === "" ? "" : `${base.search.slice(1)}&`;
  if (url.origin !== base.origin || !isBelow || !query.startsWith(common)) return undefined;
  const own = query.slice(common.length, -1);
  const path = url.pathname === base.pathname ? "" : url.pathname.slice(root.length);
  return `${path}${own === "" ? "" : `?${own}`}`;
}

/** Creates the `createConnection` option for a WebSocket request that goes through `proxy` with CONNECT. */
export function tunnelThrough(
  proxy: URL,
  { ca, timeoutMs }: { readonly ca: readonly string[] | undefined; readonly timeoutMs: number },
): NonNullable<http.ClientRequestArgs["createConnection"]> {
  const trust = ca === undefined ? {} : { ca: [...ca] };
  const { authorization: credentials } = authorization(proxy);
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
      // The WebSocket library does not pass the protocol, so the default port tells whether to use TLS.
      if (statusCode === 200)
        return done(null, defaultPort === 443 ? tls.connect({ socket, servername, ...trust }) : socket);
      socket.destroy();
      return done(new Error(`Unexpected server response: ${statusCode}`), new Duplex());
    });
    return undefined;
  };
}
