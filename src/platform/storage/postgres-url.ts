export interface PostgresAddress {
  /** Host name, IP address, or the directory of a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  /** TLS mode, where "disable" means no TLS, "require" no certificate check, and "verify-full" a certificate check. */
  readonly sslMode: SslMode;
}

const SSL_MODES = ["disable", "require", "verify-full"] as const;
type SslMode = (typeof SSL_MODES)[number];

const EXPECTED = "postgres://USER@HOST:PORT/DATABASE, optionally with ?sslmode=verify-full";

/** The URL's parts, or an error text that states the expected format. */
type ParsedPostgresUrl =
  | { readonly ok: true; readonly address: PostgresAddress }
  | { readonly ok: false; readonly wrong: string; readonly expected: string };

/**
 * Parses `postgres://user@host:port/database?sslmode=…`. The port defaults to 5432, and `sslmode` to "disable". A Unix socket's
 * directory is percent-encoded as the host, or given in `?host=`. A password in the URL is refused, since URLs appear in process
 * lists and configuration files.
 */
export function parsePostgresUrl(text: string): ParsedPostgresUrl {
  if (!URL.canParse(text) || !/^postgres(?:ql)?:$/.test(new URL(text).protocol))
    return wrong("is not a PostgreSQL URL");
  const url = new URL(text);
  if (url.password !== "")
    return wrong("has a password", `${EXPECTED}; refer to the password in store.password`);
  const unknown = [...url.searchParams.keys()].find((key) => key !== "sslmode" && key !== "host");
  if (unknown !== undefined) return wrong(`has an unknown parameter ${unknown}`, "sslmode or host");
  const given = url.searchParams.get("sslmode") ?? "disable";
  const sslMode = SSL_MODES.find((mode) => mode === given);
  if (sslMode === undefined) return wrong(`has an unsupported sslmode ${given}`, SSL_MODES.join(", "));
  const host = url.searchParams.get("host") ?? decodeURIComponent(url.hostname).replace(/^\[|\]$/g, "");
  const user = decodeURIComponent(url.username);
  const database = decodeURIComponent(url.pathname.slice(1));
  if (host === "" || user === "" || database === "" || database.includes("/"))
    return wrong("is missing the user, host or database");
  return {
    ok: true,
    address: { host, port: Number(url.port === "" ? "5432" : url.port), user, database, sslMode },
  };
}

function wrong(text: string, expected = EXPECTED): ParsedPostgresUrl {
  return { ok: false, wrong: text, expected };
}
