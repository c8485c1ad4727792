import { z } from "zod";
import { decodeBech32 } from "../../platform/base/bytes.ts";
import { issueText } from "../../platform/config/config-fields.ts";
import { endpointField } from "../../platform/config/endpoint-field.ts";
import { parseCoin } from "./payment-result.ts";

export const chain = z.strictObject({
  rest: endpointField(undefined, { hasKey: true })
    .describe("the REST URL of one of the chain's nodes")
    .meta({ example: "http://127.0.0.1:1317" }),
  fallbacks: z
    .array(endpointField(undefined, { hasKey: true }))
    .max(4)
    .exactOptional()
    .describe("the REST URLs of more nodes, tried in this order if a node does not respond")
    .meta({ example: ["https://rest.example"], commentedOut: true }),
  module: z
    .string()
    .regex(/^[a-z0-9]{1,30}$/)
    .default("neutron")
    .describe("the chain's name in the REST paths of its own modules"),
  pairs: z
    .array(z.string().regex(/^[A-Z0-9.]{1,30}\/[A-Z0-9.]{1,30}$/))
    .max(100)
    .default(["BTC/USD", "ETH/USD"])
    .describe(
      "currency pairs whose prices the watchdog reads from the chain, to compare them with the sidecar's prices",
    ),
  rpc: endpointField(undefined, { hasKey: true })
    .exactOptional()
    .describe(
      "the CometBFT RPC URL of one of the chain's nodes. The watchdog uses this node to find a closed month's payment, and to read block times when REST does not respond",
    )
    .meta({ example: "http://127.0.0.1:26657" }),
  payment: z
    .strictObject({
      payer: addressField(/^(?!.*(?:valoper|valcons)$)/, "neutron1…")
        .exactOptional()
        .describe(
          "account that pays the validator by transaction; default: the watchdog searches the revenue module's events for the payment",
        ),
      recipient: addressField(/^(?!.*(?:valoper|valcons)$)/, "neutron1…")
        .exactOptional()
        .describe("account that receives the payment; default: the account of operator_address"),
      full: z
        .string()
        .refine((text) => parseCoin(text) !== undefined, {
          error: issueText("is not an amount", 'an integer and a denomination, e.g. "2500000000untrn"'),
        })
        .exactOptional()
        .describe("amount that payer sends for a month with full pay, in the denomination's base unit"),
    })
    .exactOptional()
    .describe("who pays the validator, if not the chain's revenue module")
    .meta({
      example: {
        payer: "neutron1k5d2e2572uf85wa6ek0yv24ezw26z6n5rnfkad",
        recipient: "neutron18zawa74y4xv6xg3zv0cstmfl9y38ecurjkvqct",
        full: "2500000000untrn",
      },
      commentedOut: true,
    }),
});

/** Schema of a bech32 address whose prefix matches a pattern. */
export function addressField(prefix: RegExp, example: string) {
  return z.string().refine((text) => hasPrefix(text, prefix), {
    error: issueText("is not a valid address", `bech32, e.g. ${example}`),
  });
}

function hasPrefix(text: string, pattern: RegExp): boolean {
  try {
    return pattern.test(decodeBech32(text).prefix);
  } catch {
    return false;
  }
}
