import { displayUnitOf } from "../../platform/base/display-unit.ts";
import { urlBelow } from "../../platform/http/remote.ts";
import { responseField } from "../sources/chain-rest.ts";
import { onSourceError } from "../sources/observation.ts";
import { drain, type PageReader, readText, requireOk } from "../sources/page-reader.ts";
import { type Payment, parseCoin } from "../sources/payment-result.ts";
import { toRevenueParams } from "../sources/revenue-reading.ts";
import type { ChainTarget } from "../sources/targets.ts";

export type HistoricRest = ReturnType<typeof createHistoricRest>;

const MAX_BYTES = 1024 * 1024;

/**
 * Creates the requests to a chain's REST API at the height of a payment. A node can serve a past block only while it has the
 * block's state, which it prunes after days or weeks.
 */
export function createHistoricRest({ rest, module }: ChainTarget, read: PageReader) {
  const get = async (path: string, signal: AbortSignal, height?: bigint): Promise<string> => {
    const headers = height === undefined ? {} : { "x-cosmos-block-height": String(height) };
    return readText(await requireOk(await read(urlBelow(rest, path).href, signal, headers)), MAX_BYTES);
  };
  return {
    /** Returns the revenue module's parameters and its amount for a full period at the end of the block. Throws `SourceError`. */
    terms: async (height: bigint, signal: AbortSignal) => {
      const params = toRevenueParams(responseField(await get(`/${module}/revenue/params`, signal, height)));
      const info = responseField(await get(`/${module}/revenue/payment_info`, signal, height));
      const field = info.member("base_revenue_amount").required();
      const base = parseCoin(`${field.member("amount").asText()}${field.member("denom").asText()}`);
      if (base === undefined) throw field.error(field.path, "a coin");
      return { params, base };
    },
    /** Returns the unit in which a denomination is displayed. Undefined if the chain defines none or cannot be queried. */
    displayUnit: async (denom: string, signal: AbortSignal): Promise<Payment["display"]> => {
      const path = `/cosmos/bank/v1beta1/denoms_metadata/${encodeURIComponent(denom)}`;
      const page = await read(urlBelow(rest, path).href, signal);
      if (page.status !== 200) {
        await drain(page);
        return undefined;
      }
      const text = await readText(page, MAX_BYTES);
      try {
        return toDisplayUnit(text, denom);
      } catch (error) {
        // The unit only affects how the amount is written.
        return onSourceError(() => undefined)(error);
      }
    },
  };
}

/** Reads the display unit from the bank module's metadata. */
function toDisplayUnit(text: string, denom: string): Payment["display"] {
  const metadata = responseField(text).member("metadata").required();
  const unit = displayUnitOf(
    {
      base: metadata.member("base").asText(),
      display: metadata.member("display").asText(),
      symbol: metadata.member("symbol").asText(),
      denomUnits: metadata
        .member("denom_units")
        .elements()
        .map((one) => ({ denom: one.member("denom").asText(), exponent: one.member("exponent").asUint32() })),
    },
    denom,
  );
  return unit && { name: unit.name, exponent: unit.exponent };
}
