import type { IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";

export interface HttpAccess {
  /**
   * Host names that clients may use in addition to the loopback names. The entry "*" allows every name. Without `hosts`, a server
   * on a loopback address accepts only the loopback names, and a server on another address accepts every name.
   */
  readonly hosts?: readonly string[];
  /**
   * Origins whose pages may read replies (CORS): an origin such as "https://app.example", with at most one "*" as in CometBFT; "*"
   * for every origin; or "localhost" for every page on this machine. By default, no other origin may read replies.
   */
  readonly origins?: readonly string[];
}

export type AccessResult =
  /** `origin` is the value of `Access-Control-Allow-Origin`; undefined if the reply needs no CORS headers. */
  | { readonly ok: true; readonly origin: string | undefined }
  | { readonly ok: false; readonly reason: string };

const ACCEPTED: AccessResult = { ok: true, origin: undefined };
/** Maximum number of hosts that {@link createAccessCheck} remembers. */
const MAX_KNOWN = 100;

/**
 * Returns the check of requests' `Host` and `Origin` headers for a server on the address `listenHost`. The check of `Host` prevents
 * DNS rebinding, in which a web page makes its own host name resolve to this machine.
 *
 * The check of `Origin`, which web pages' requests contain, accepts pages on this machine, the server's own pages, and pages from
 * `access.origins`.
 */
export function createAccessCheck(
  listenHost: string,
  access: HttpAccess = {},
): (headers: IncomingHttpHeaders) => AccessResult {
  const hosts = new Set((access.hosts ?? (isLoopbackName(listenHost) ? [] : ["*"])).map(normalName));
  const origins = access.origins ?? [];
  const isAcceptedHost = (host: string): boolean => {
    const name = hostNameOf(host);
    return name !== undefined && (hosts.has("*") || hosts.has(name) || isLoopbackName(name));
  };
  // Remember accepted hosts: clients repeat the same value, and parsing a URL takes as long as serving a small request.
  const knownHosts = new Set<string>();
  const checkHost = (host: string): boolean => {
    if (knownHosts.has(host)) return true;
    if (!isAcceptedHost(host)) return false;
    if (knownHosts.size < MAX_KNOWN) knownHosts.add(host);
    return true;
  };
  return ({ host, origin }) => {
    // Accept a request without `Host`, as HTTP/1.0 allows, because browsers always send the header.
    if (host !== undefined && !checkHost(host)) {
      return refused(`this server does not accept the host name ${quote(host)}`);
    }
    if (origin === undefined) return ACCEPTED;
    const match = origins.find((pattern) => matchesOrigin(pattern, origin));
    if (match !== undefined) return { ok: true, origin: match === "*" ? "*" : origin };
    const page = URL.canParse(origin) ? new URL(origin) : undefined;
    if (page !== undefined && (isLoopbackName(page.hostname) || page.host === host)) return ACCEPTED;
    return refused(`this server does not accept requests from pages of origin ${quote(origin)}`);
  };
}

/** Checks the syntax of a pattern in {@link HttpAccess.origins}. */
export function isOriginPattern(text: string): boolean {
  if (text === "*" || text === "localhost") return true;
  // "*" may replace a part of the host name, or the port.
  const plain = text.replace("*", "1");
  return !plain.includes("*") && URL.canParse(plain) && new URL(plain).origin === plain.toLowerCase();
}

/** Returns true for a name or IP address that always means this machine. */
export function isLoopbackName(name: string): boolean {
  const plain = normalName(name);
  if (isIP(plain) === 4) return plain.startsWith("127.");
  return plain === "localhost" || plain.endsWith(".localhost") || plain === "::1";
}

/** Returns a name in lower case, without IPv6 brackets or the trailing dot of a fully qualified name. */
function normalName(name: string): string {
  return name
    .toLowerCase()
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/(.)\.$/, "$1");
}

/** Returns the name in a `Host` header ("name:port"); undefined for any other text. */
function hostNameOf(host: string): string | undefined {
  const match = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::\d{1,5})?$/.exec(host);
  return match?.[1] === undefined ? undefined : normalName(match[1]);
}

function matchesOrigin(pattern: string, origin: string): boolean {
  if (pattern === "*" || pattern === origin) return true;
  if (pattern === "localhost") return URL.canParse(origin) && isLoopbackName(new URL(origin).hostname);
  const [start = "", end] = pattern.toLowerCase().split("*");
  if (end === undefined) return pattern.toLowerCase() === origin.toLowerCase();
  const text = origin.toLowerCase();
  return text.length >= start.length + end.length && text.startsWith(start) && text.endsWith(end);
}

function refused(reason: string): AccessResult {
  return { ok: false, reason };
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}

/** Returns the headers of a reply that a page may read; no headers without CORS. */
export function corsHeaders(origin: string | undefined): Readonly<Record<string, string>> {
  if (origin === undefined) return {};
  return {
    "Access-Control-Allow-Origin": origin,
    "Access-Control-Expose-Headers": "Grpc-Metadata-X-Cosmos-Block-Height, X-Server-Time",
    Vary: "Origin",
  };
}

/** Returns a preflight reply's headers, which are CometBFT's defaults and the height header of the REST API. */
export function preflightHeaders(
  origin: string,
  headers: IncomingHttpHeaders,
): Readonly<Record<string, string>> {
  return {
    "Access-Control-Allow-Origin": origin,
    "Access-Control-Allow-Methods": "HEAD, GET, POST",
    "Access-Control-Allow-Headers":
      "Origin, Accept, Content-Type, X-Requested-With, X-Server-Time, X-Cosmos-Block-Height",
    "Access-Control-Max-Age": "600",
    // Chromium requires this header from loopback servers if the page comes from the web.
    ...(headers["access-control-request-private-network"] === "true"
      ? { "Access-Control-Allow-Private-Network": "true" }
      : {}),
    Vary: "Origin, Access-Control-Request-Method, Access-Control-Request-Headers",
  };
}
