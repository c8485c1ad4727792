import { formatPrecDec, parsePrecDec } from "../../src/platform/base/decimal.ts";
import { isRecord } from "../../src/platform/base/json.ts";
import type { Profile } from "../../src/localnet/chain/deviations/deviations.ts";
import { formatRfc3339Ns, parseRfc3339Ns } from "../../src/platform/base/time.ts";

/** Names of the order types in events of the deployed module, and the short forms of the specification (S12). */
const SHORT_FORMS: Readonly<Record<string, string>> = {
  GOOD_TIL_CANCELLED: "GTC",
  FILL_OR_KILL: "FOK",
  IMMEDIATE_OR_CANCEL: "IOC",
  JUST_IN_TIME: "JIT",
  GOOD_TIL_TIME: "GTT",
};

const BASE64_FIELDS: ReadonlySet<string> = new Set(["next_key", "key", "tranche_ref"]);

/**
 * Changes a vector to what a chain of this profile presents. Vectors are of the deployed chain.
 */
export function toProfile(value: unknown, { name: profile }: Profile, name = ""): unknown {
  return profile === "deployed" ? value : translateNames(value, name);
}

/** Changes the tranche keys of a vector to ours, of the same length and order (S8), and the name of pools among ticks (S3). */
function translateNames(value: unknown, name = ""): unknown {
  if (typeof value === "string") return translateText(value, name);
  if (Array.isArray(value)) return value.map((element) => translateNames(element, name));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      name.startsWith("tick_liquidity") && key === "pool_reserves" ? "liquidity" : key,
      translateNames(inner, key),
    ]),
  );
}

function translateText(text: string, name: string): string {
  if (BASE64_FIELDS.has(name) && text !== "") return translateBytes(text, "base64");
  if (name.endsWith("_hex") || name === "hex") return translateBytes(text, "hex");
  return renameKeys(text);
}

function translateBytes(text: string, encoding: "base64" | "hex"): string {
  const bytes = Buffer.from(text, encoding).toString("latin1");
  return Buffer.from(renameKeys(bytes), "latin1").toString(encoding);
}

function renameKeys(text: string): string {
  return text.replaceAll(/tk-(?=\d)/g, "t||");
}

/** Changes the attributes of an expected event to those of the specification (S10, S12 to S15). */
export function translateEvent(event: unknown, message: unknown, { name }: Profile): unknown {
  if (name === "deployed" || !isRecord(event) || !isRecord(event["attributes"])) return event;
  const attributes = event["attributes"];
  switch (attributes["action"]) {
    case "PlaceLimitOrder":
      return { ...event, attributes: placed(attributes, isRecord(message) ? message : {}) };
    case "CancelLimitOrder":
      return { ...event, attributes: cancelled(attributes) };
    case "MultihopSwap":
      return { ...event, attributes: renamed(attributes, "TokenIn", "MakerDenom") };
    default:
      return event;
  }
}

type Fields = Readonly<Record<string, unknown>>;

function placed(attributes: Fields, message: Fields): Fields {
  const orderType = attributes["OrderType"];
  const { limit_sell_price: limit, min_average_sell_price: minimum, expiration_time: expiration } = message;
  return {
    ...attributes,
    OrderType: SHORT_FORMS[String(orderType)] ?? orderType,
    ...(typeof limit === "string" && typeof minimum !== "string"
      ? { MinAvgSellPrice: formatPrecDec(parsePrecDec(limit)) }
      : {}),
    ExpirationTime: typeof expiration === "string" ? formatRfc3339Ns(parseRfc3339Ns(expiration)) : "",
  };
}

function cancelled(attributes: Fields): Fields {
  const { TokenInAmountOut: maker, TokenOutAmountOut: taker } = attributes;
  return Object.fromEntries(
    Object.entries(attributes).flatMap(([key, value]) =>
      key === "AmountOut"
        ? [
            ["AmountIn", maker],
            ["AmountOut", taker],
          ]
        : [[key, value]],
    ),
  );
}

function renamed(attributes: Fields, from: string, to: string): Fields {
  return Object.fromEntries(
    Object.entries(attributes).map(([key, value]) => [key === from ? to : key, value]),
  );
}
