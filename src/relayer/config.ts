import { z } from "zod";
import { parseDec18 } from "../base/decimal.ts";
import {
  amountField,
  durationField,
  httpUrlField,
  listenField,
  processSecretSource,
  type SecretSource,
  secretField,
} from "../ops/config-fields.ts";
import { issueText } from "../ops/config-issue.ts";

/** A price or factor such as "0.0025" with at most 18 fractional digits; gives {@link Dec18}. */
function decimalField() {
  return z.string().transform((text, context) => {
    try {
      const value = parseDec18(text);
      if (value > 0n) return value;
    } catch {
      // said below
    }
    context.addIssue(issueText("is not a positive decimal", 'a decimal in quotes such as "0.0025"'));
    return z.NEVER;
  });
}

function endpoints() {
  return z.array(httpUrlField()).min(1).max(16);
}

function signerSchema(secrets: SecretSource) {
  return z.strictObject({
    /** Words of the account that pays. */
    mnemonic: secretField(secrets),
    /** Address prefix of the local chain. */
    prefix: z.string().min(1).max(83).default("neutron"),
    /** Path of the key below the mnemonic. */
    hd_path: z.string().startsWith("m/").default("m/44'/118'/0'/0/0"),
  });
}

/** The relayer's configuration file. `secrets` is where references are read from. */
export function relayerConfigSchema(secrets: SecretSource = processSecretSource) {
  return z.strictObject({
    chain: z
      .strictObject({
        /** The chain's own name: package, event type and REST segment. */
        name: z
          .string()
          .regex(/^[a-z][a-z0-9]*$/)
          .default("neutron"),
        id: z.string().min(1).max(50),
        rpc: endpoints(),
      })
      .readonly(),
    signer: signerSchema(secrets),
    gas: z
      .strictObject({
        denom: z.string().min(1).max(128).default("untrn"),
        /** Gas limit = simulated gas times this. */
        adjustment: decimalField().prefault("1.3"),
        /** Price = the fee market's times this. */
        price_multiplier: decimalField().prefault("1.1"),
        /** Never pay more than this per gas. */
        max_price: decimalField().prefault("1"),
        /** Price when the fee market gives none. */
        fallback_price: decimalField().prefault("0.0053"),
      })
      .prefault({}),
    connections: z
      .array(
        z.strictObject({
          id: z.string().min(10).max(64),
          /** Chain that the connection leads to; compared with what the endpoints say. */
          chain_id: z.string().min(1).max(50),
          rpc: endpoints(),
        }),
      )
      .min(1)
      .max(64),
    queries: z
      .strictObject({
        /** Serve only queries of these owners; empty: all. */
        owners: z.array(z.string().min(1)).max(1_000).default([]),
        /** Serve only these ids; empty: all. */
        ids: z.array(amountField()).max(10_000).default([]),
        /** Have results of KV queries announced to their contracts. */
        allow_kv_callbacks: z.boolean().default(true),
        /** Serve TX queries too. */
        tx: z.boolean().default(true),
        /** How many remote blocks before the tip the search starts for a TX query seen for the first time. */
        tx_lookback_blocks: amountField().prefault("100"),
      })
      .prefault({}),
    batch: z
      .strictObject({
        /** Gas of one transaction; well under the fee market's cap on a block (30,000,000), which others use too. */
        gas: amountField().prefault("15000000"),
        /** Bytes of its messages. */
        bytes: z.int().min(10_000).max(4_000_000).default(400_000),
        results: z.int().min(1).max(1_000).default(300),
      })
      .prefault({}),
    retry: z
      .strictObject({
        /** First wait after an error of a query; doubles with each one. */
        first: durationField().prefault("2s"),
        /** Longest wait. */
        most: durationField().prefault("5m"),
      })
      .prefault({}),
    deadlines: z
      .strictObject({
        /** Of one RPC call. */
        call: durationField().prefault("10s"),
        /** Until a broadcast transaction must be in a block. */
        inclusion: durationField().prefault("60s"),
      })
      .prefault({}),
    /** Directory for what must survive a restart; without it, TX searches begin at the tip again. */
    state_dir: z.string().min(1).optional(),
    http: z.strictObject({ listen: listenField().prefault("127.0.0.1:9999") }).prefault({}),
  });
}

/** A checked configuration. */
export type RelayerConfig = z.output<ReturnType<typeof relayerConfigSchema>>;
