import { errorText } from "../../base/errors.ts";
import { isRecord } from "../../base/json.ts";
import { drain, eachChunk, type PageReader, statusError } from "./page-reader.ts";
import { SourceError } from "./source-failure.ts";

/** What the sidecar answers. */
export interface PricesReading {
  /** Pairs that have a price, sorted. */
  readonly pairs: readonly string[];
  /** Time of the sidecar's last turn, ms; undefined before the first. */
  readonly tickedAtMs: number | undefined;
  readonly version: string;
  /** The URL that answered. */
  readonly url: string;
}

const KNOWN_PATHS = ["/connect/oracle/v2/prices", "/slinky/oracle/v1/prices"] as const;
const MAX_BYTES = 4 * 1024 * 1024;

/** URLs to try: the configured path if there is one, then the known ones, newest first. */
export function priceUrls(configured: string): readonly string[] {
  const url = new URL(configured);
  const known = KNOWN_PATHS.map((path) => new URL(path, url.origin).href);
  return url.pathname === "/" ? known : [url.href, ...known.filter((one) => one !== url.href)];
}

/**
 * Asks the URLs in turn until one is not 404. A version 1 sidecar has only the second known path.
 * @throws {SourceError} when none answers with prices.
 */
export async function readPrices(
  urls: readonly string[],
  read: PageReader,
  signal: AbortSignal,
): Promise<PricesReading> {
  for (const url of urls) {
    const page = await read(url, signal);
    if (page.status === 404) {
      await drain(page);
      continue;
    }
    if (page.status !== 200) {
      await drain(page);
      throw statusError(page.status);
    }
    const chunks: Uint8Array[] = [];
    await eachChunk(page, MAX_BYTES, (chunk) => chunks.push(chunk));
    return parsePrices(Buffer.concat(chunks).toString("utf8"), url);
  }
  throw new SourceError(
    { code: "http-status" },
    `no price API at ${urls.map((url) => new URL(url).pathname).join(", ")}`,
  );
}

/** Reads the body of a prices answer. A pair counts as priced when its value is a positive whole number. @throws {SourceError} */
export function parsePrices(text: string, url: string): PricesReading {
  const body = parseBody(text);
  const { prices, timestamp, version } = body;
  if (!isRecord(prices) || typeof timestamp !== "string") throw notPrices("it has no prices and timestamp");
  const tickedAtMs = Date.parse(timestamp);
  if (Number.isNaN(tickedAtMs)) throw notPrices("its timestamp is not a time");
  return {
    pairs: Object.entries(prices)
      .filter(([, price]) => typeof price === "string" && /^0*[1-9]\d*$/.test(price))
      .map(([pair]) => pair)
      .toSorted(),
    tickedAtMs: tickedAtMs <= 0 ? undefined : tickedAtMs,
    version: typeof version === "string" ? version : "",
    url,
  };
}

function parseBody(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return value;
  } catch (cause) {
    const what = text.trimStart().startsWith("<") ? "this is HTML, not prices" : errorText(cause);
    throw notPrices(what);
  }
  throw notPrices("it is not a JSON object");
}

function notPrices(what: string): SourceError {
  return new SourceError(
    { code: "not-prices" },
    `the answer is not the sidecar's: ${what}; check sources.prices`,
  );
}
