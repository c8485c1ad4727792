import { errorText } from "../../platform/base/errors.ts";
import { isRecord, asTimeNs, type JsonField, member, required } from "../../platform/base/json.ts";
import type { PricesPage } from "../observation.ts";
import { drain, forEachChunk, type PageReader, requireOk } from "./page-reader.ts";
import { SourceError } from "./source-failure.ts";

const KNOWN_PATHS = ["/connect/oracle/v2/prices", "/slinky/oracle/v1/prices"] as const;
const MAX_BYTES = 4 * 1024 * 1024;

/** Returns the URLs to try, in order: the configured path unless it is "/", then the known paths. */
export function priceUrls(configured: string): readonly string[] {
  const url = new URL(configured);
  const known = KNOWN_PATHS.map((path) => new URL(path, url.origin).href);
  return url.pathname === "/" ? known : [url.href, ...known.filter((candidate) => candidate !== url.href)];
}

/**
 * Requests the URLs in order and parses the first response that is not 404. Throws {@link SourceError} when that response
 * has no prices, or when all responses are 404.
 */
export async function readPrices(
  urls: readonly string[],
  read: PageReader,
  signal: AbortSignal,
): Promise<PricesPage> {
  for (const url of urls) {
    const page = await read(url, signal);
    // A version 1 sidecar has only the second known path. Its 404 for the first path is not a failure.
    if (page.status === 404) {
      await drain(page);
      continue;
    }
    await requireOk(page);
    const chunks: Uint8Array[] = [];
    await forEachChunk(page, MAX_BYTES, (chunk) => chunks.push(chunk));
    return parsePrices(Buffer.concat(chunks).toString("utf8"), url);
  }
  throw new SourceError(
    { code: "http-status" },
    `there is no price API at ${urls.map((url) => new URL(url).pathname).join(", ")}`,
  );
}

/** Parses a response body. A pair has a price when its value is a positive integer as text. Throws {@link SourceError}. */
export function parsePrices(text: string, url: string): PricesPage {
  const root: JsonField = { value: parseBody(text), path: "", error: fieldError };
  const prices = required(member(root, "prices"));
  if (!isRecord(prices.value)) throw prices.error(prices.path, "an object");
  const tickedAtMs = Number(asTimeNs(required(member(root, "timestamp"))) / 1_000_000n);
  const { value: version } = member(root, "version");
  const priced = pricesOf(prices.value);
  return {
    pairs: [...priced.keys()].toSorted(),
    prices: priced,
    // Before its first update a sidecar reports Go's zero time, which lies in the year 1.
    tickedAtMs: tickedAtMs <= 0 ? undefined : tickedAtMs,
    // The version is only informative, so a version of another type is not a reason to reject the prices.
    version: typeof version === "string" ? version : "",
    url,
  };
}

function pricesOf(values: Readonly<Record<string, unknown>>): ReadonlyMap<string, bigint> {
  return new Map(
    Object.entries(values).flatMap(([pair, price]) =>
      typeof price === "string" && /^0*[1-9]\d{0,77}$/.test(price) ? [[pair, BigInt(price)] as const] : [],
    ),
  );
}

function parseBody(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return value;
  } catch (cause) {
    const reason = text.trimStart().startsWith("<") ? "it is HTML, not prices" : errorText(cause);
    throw notPrices(reason);
  }
  throw notPrices("it is not a JSON object");
}

function fieldError(path: string, expected: string): SourceError {
  return notPrices(`${path} is not ${expected}`);
}

function notPrices(reason: string): SourceError {
  return new SourceError(
    { code: "not-prices" },
    `the response does not come from a price sidecar: ${reason}; check sources.prices`,
  );
}
