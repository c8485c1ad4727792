import { z } from "zod";
import { durationField, issueText, parseListenAddress } from "../../platform/config/config-fields.ts";
import { endpointField, nullableEndpointField } from "../../platform/config/endpoint-field.ts";
import type { Endpoint } from "../../platform/http/remote.ts";
import { CHAIN_ID } from "../sources/sample-values.ts";
import type { ChainTarget, NodeTarget, ValidatorTarget } from "../sources/targets.ts";
import { DEFAULT_NODE, DEFAULT_VALIDATOR } from "../state/schema.ts";
import { addressField, chain } from "../sources/chain-config.ts";
import { policy, toPolicy, type ValidatorConfig } from "../policy/policy-config.ts";
import { labelsField } from "../prometheus-api/prometheus-config.ts";

const NODE_URL = "http://127.0.0.1:26660/metrics";
const PRICES_URL = "http://127.0.0.1:8080/";
const ORACLE_METRICS_URL = "http://127.0.0.1:8001/metrics";
const SIDECAR_METRICS_URL = "http://127.0.0.1:8002/metrics";

export const identity = {
  chain_id: z
    .string()
    .regex(CHAIN_ID, { error: issueText("is not a chain id", "1 to 50 visible ASCII characters") })
    .optional()
    .describe(
      "the chain id that the node must report. With this key, a wrong node URL fails at the first start. A new value starts a new ledger",
    )
    .meta({ example: "neutron-1" }),
  consensus_address: addressField(/valcons$/, "neutronvalcons1…")
    .optional()
    .describe(
      "the validator's consensus address, with which the watchdog reads the validator's votes and signing window from the chain",
    )
    .meta({ example: "neutronvalcons16jsxy6n6x6xxkkdx2whumthegrfklpw7y5klld" }),
  operator_address: addressField(/valoper$/, "neutronvaloper1…")
    .optional()
    .describe(
      "the validator's operator address. With this address and chain, the watchdog reads the validator's counts, payments and jail status from the chain",
    )
    .meta({ example: "neutronvaloper18zawa74y4xv6xg3zv0cstmfl9y38ecurgt4e70" }),
};

function fallbackUrls() {
  return z.array(endpointField()).max(4).optional();
}

const nodeUrls = {
  node: endpointField()
    .optional()
    .describe(
      "the metrics page of the validator's node. The node's config.toml needs [instrumentation] prometheus = true",
    )
    .meta({ initial: NODE_URL }),
  prices: nullableEndpointField()
    .optional()
    .describe(
      "the sidecar's price API. If the URL has no path, the watchdog tries /connect/oracle/v2/prices and /slinky/oracle/v1/prices. Set this key to null to disable the source",
    )
    .meta({ initial: PRICES_URL }),
  oracle_metrics: nullableEndpointField()
    .optional()
    .describe(
      "the page with oracle metrics. Many machines have no such page, which is normal. Set this key to null to disable the source",
    )
    .meta({ initial: ORACLE_METRICS_URL }),
  sidecar_metrics: nullableEndpointField()
    .optional()
    .describe("the sidecar's metrics page. Set this key to null to disable the source")
    .meta({ initial: SIDECAR_METRICS_URL }),
  fallbacks: z
    .strictObject({
      node: fallbackUrls().describe(
        "additional URLs of the node's metrics page, tried if the first URL fails",
      ),
      prices: fallbackUrls().describe("additional URLs of the price API, tried if the first URL fails"),
      oracle_metrics: fallbackUrls().describe(
        "additional URLs of the page with oracle metrics, tried if the first URL fails",
      ),
      sidecar_metrics: fallbackUrls().describe(
        "additional URLs of the sidecar's metrics page, tried if the first URL fails",
      ),
    })
    .optional()
    .describe(
      "additional URLs for the same node and sidecar, e.g. through a second network or a proxy. If a URL does not respond, the watchdog tries the next one in this list. List other nodes under nodes",
    )
    .meta({ example: { node: ["http://10.1.0.1:26660/metrics"] }, commentedOut: true }),
  grpc: targetField()
    .optional()
    .describe(
      "address of the node's gRPC server, as host:port, from which the sidecar reads its markets. The watchdog checks that the server accepts connections",
    )
    .meta({ example: "127.0.0.1:9090" }),
  labels: labelsField()
    .optional()
    .describe(
      "Prometheus labels that select the node's series. Required for backfill, and if source is prometheus",
    )
    .meta({ example: { instance: "127.0.0.1:26660" } }),
  sidecar_labels: labelsField()
    .optional()
    .describe(
      "Prometheus labels that select the sidecar's series if source is prometheus; default: the node's labels",
    )
    .meta({ example: { instance: "127.0.0.1:8002" }, commentedOut: true }),
};

/** The `source` key, at the top level and in each validator. */
export const source = z.enum(["scrape", "prometheus"]);

/** The `sources` section, with the URLs of a single node and its sidecar, and the limits for all scrapes. */
export const sources = z.strictObject({
  ...nodeUrls,
  egress: z
    .array(targetField())
    .max(20)
    .default([])
    .describe("hosts, in the form host:port, that the watchdog's machine must be able to reach over HTTPS")
    .meta({ example: ["api.binance.com:443", "api.coinbase.com:443"] }),
  deadline: durationField(100)
    .prefault("4s")
    .describe("maximum duration of one scrape, including the time to read the response body"),
  max_page_bytes: z
    .int()
    .min(1024)
    .max(256 * 1024 * 1024)
    .default(32 * 1024 * 1024)
    .describe("the maximum size of a metrics page. A scrape of a larger page fails"),
});

const node = z.strictObject({
  name: nameField().describe("the node's name, unique within the validator"),
  ...nodeUrls,
});

export const validators = z
  .array(
    z.strictObject({
      name: nameField().describe(
        "a unique name for the validator in the state file, the API and the metrics",
      ),
      ...identity,
      source: source
        .optional()
        .describe("where this validator's metrics come from; default: the top-level setting"),
      nodes: z
        .array(node)
        .min(1)
        .max(20)
        .describe(
          "nodes that vote for this validator. In each poll, only the node with the highest share of good blocks counts",
        ),
      chain: chain.optional().describe("like the top-level section, for this validator only"),
      policy: policy.prefault({}).describe("like the top-level section, for this validator only"),
    }),
  )
  .min(1)
  .max(500)
  .describe(
    "several validators, each with its own counts. This list replaces the keys for a single validator: chain_id, chain, policy, the addresses, and the URLs in sources",
  )
  .meta({
    example: [
      {
        name: "alpha",
        chain_id: "neutron-1",
        nodes: [
          { name: "a", node: "http://10.0.0.1:26660/metrics", prices: "http://10.0.0.1:8080/" },
          { name: "b", node: "http://10.0.0.2:26660/metrics", prices: "http://10.0.0.2:8080/" },
        ],
      },
      { name: "beta", source: "prometheus", nodes: [{ name: "a", labels: { validator: "beta" } }] },
    ],
  });

/** The keys with a node's source URLs, in `sources` or in an entry of `nodes`. */
export type SourceKeys = z.output<z.ZodObject<typeof nodeUrls>>;

/** The configuration keys that define the monitored validators: either `validators`, or the keys for a single validator. */
export interface ValidatorKeys extends z.output<z.ZodObject<typeof identity>> {
  readonly source: z.output<typeof source>;
  readonly prometheus?: unknown;
  readonly backfill?: unknown;
  readonly sources: z.output<typeof sources>;
  readonly chain?: z.output<typeof chain> | undefined;
  readonly policy: z.output<typeof policy>;
  readonly validators?: z.output<typeof validators> | undefined;
}

/** Adds issues for files that mix the keys for a single validator with `validators`, and for names that are not unique. */
export function refuseTwoForms(file: ValidatorKeys, context: z.RefinementCtx): void {
  if (file.validators === undefined) return;
  const message = issueText("cannot be combined with validators", "this key within each validator");
  for (const key of givenKeys(file, { ...identity, chain }))
    context.addIssue({ code: "custom", path: [key], message });
  for (const key of givenKeys(file.sources, nodeUrls))
    context.addIssue({ code: "custom", path: ["sources", key], message });
  refuseDuplicates(file.validators, ["validators"], context);
  for (const [index, { nodes }] of file.validators.entries())
    refuseDuplicates(nodes, ["validators", index, "nodes"], context);
}

function givenKeys(section: object, known: object): readonly string[] {
  return Object.entries(section).flatMap(([key, value]) =>
    value !== undefined && key in known ? [key] : [],
  );
}

function refuseDuplicates(
  entries: readonly { readonly name: string }[],
  path: readonly (string | number)[],
  context: z.RefinementCtx,
): void {
  const seen = new Set<string>();
  for (const [index, { name }] of entries.entries()) {
    if (seen.has(name))
      context.addIssue({
        code: "custom",
        path: [...path, index, "name"],
        message: issueText("is a duplicate", "a unique name"),
      });
    seen.add(name);
  }
}

/** Returns the validators in the file: the entries of `validators`, or the single validator described by the other keys. */
export function toValidators(file: ValidatorKeys): readonly ValidatorConfig[] {
  const { sources: limits, validators: all, ...single } = file;
  const given = all ?? [{ ...single, name: DEFAULT_VALIDATOR, nodes: [{ ...limits, name: DEFAULT_NODE }] }];
  return given.map((one) => ({
    target: {
      name: one.name,
      ...toTarget(one),
      ...toNodes(one.source ?? file.source, one.nodes),
      ...withKeys(one.nodes, one),
      egress: limits.egress,
    },
    policy: toPolicy(one.policy),
  }));
}

type Identity = Pick<ValidatorKeys, keyof typeof identity | "chain">;

function toTarget(
  given: Identity,
): Omit<ValidatorTarget, "name" | "nodes" | "egress" | "isStored" | "endpoints"> {
  const { chain_id: chainId, consensus_address: consensusAddress, operator_address: operatorAddress } = given;
  return {
    ...(chainId === undefined ? {} : { chainId }),
    ...(consensusAddress === undefined ? {} : { consensusAddress }),
    ...(operatorAddress === undefined ? {} : { operatorAddress }),
    ...(given.chain === undefined ? {} : { chain: toChain(given.chain) }),
  };
}

function toChain({ rest, rpc, fallbacks = [], ...given }: z.output<typeof chain>): ChainTarget {
  return {
    ...given,
    rest: rest.url,
    ...(rpc === undefined ? {} : { rpc: rpc.url }),
    ...(fallbacks.length === 0 ? {} : { fallbacks: [rest, ...fallbacks] }),
  };
}

/** Returns the endpoints that may contain API keys: endpoints with headers, and chain endpoints with a path or query. */
function withKeys(
  nodes: readonly NodeKeys[],
  { chain: given }: Identity,
): Pick<ValidatorTarget, "endpoints"> {
  const ofNodes = nodes.flatMap(({ node: own, prices, oracle_metrics, sidecar_metrics, fallbacks = {} }) => [
    own,
    prices,
    oracle_metrics,
    sidecar_metrics,
    ...Object.values(fallbacks).flat(),
  ]);
  const ofChain = given === undefined ? [] : [given.rest, given.rpc, ...(given.fallbacks ?? [])];
  const endpoints = [
    ...ofNodes.filter(isGiven).filter(({ headers }) => headers !== undefined),
    ...ofChain.filter(isGiven).filter((one) => one.headers !== undefined || hasPath(one)),
  ];
  return endpoints.length === 0 ? {} : { endpoints };
}

function isGiven(endpoint: Endpoint | null | undefined): endpoint is Endpoint {
  return endpoint !== null && endpoint !== undefined;
}

function hasPath({ url }: Endpoint): boolean {
  const { pathname, search } = new URL(url);
  return pathname !== "/" || search !== "";
}

type NodeKeys = z.output<typeof node>;

function toNodes(
  from: z.output<typeof source>,
  nodes: readonly NodeKeys[],
): Pick<ValidatorTarget, "nodes" | "isStored"> {
  if (from === "scrape") return { nodes: nodes.map(toNode) };
  // With `source: prometheus`, only URLs set in the file are scraped. A null URL disables the sidecar for both kinds of source.
  return {
    isStored: true,
    nodes: nodes.map((given) => toNode({ ...given, prices: given.prices ?? null, oracle_metrics: null })),
  };
}

function toNode(given: NodeKeys): NodeTarget {
  const { node: own = { url: NODE_URL }, prices = { url: PRICES_URL }, fallbacks = {} } = given;
  const { oracle_metrics: oracleMetrics = { url: ORACLE_METRICS_URL } } = given;
  const { sidecar_metrics: sidecarMetrics = { url: SIDECAR_METRICS_URL } } = given;
  const groups = [
    [own, fallbacks.node ?? []],
    [prices, fallbacks.prices ?? []],
    [oracleMetrics, fallbacks.oracle_metrics ?? []],
    [sidecarMetrics, fallbacks.sidecar_metrics ?? []],
  ] as const;
  const known = groups.flatMap(([first, others]) =>
    first === null || others.length === 0 ? [] : [[first, ...others]],
  );
  return {
    name: given.name,
    node: own.url,
    ...(known.length === 0 ? {} : { fallbacks: known }),
    ...(prices === null ? {} : { prices: prices.url }),
    ...(oracleMetrics === null ? {} : { oracleMetrics: oracleMetrics.url }),
    ...(sidecarMetrics === null ? {} : { sidecarMetrics: sidecarMetrics.url }),
    ...(given.grpc === undefined ? {} : { grpc: given.grpc }),
    ...(given.labels === undefined ? {} : { labels: given.labels }),
    ...(given.sidecar_labels === undefined ? {} : { sidecarLabels: given.sidecar_labels }),
  };
}

/** Schema of a network address such as "10.0.0.1:9090". */
function targetField() {
  return z.string().refine((text) => parseListenAddress(text) !== undefined, {
    error: issueText("is not a host and a port", '"host:port", e.g. "127.0.0.1:9090"'),
  });
}

/** Schema of a validator's or node's name: letters, digits, "_", "." and "-", at most 63 characters. */
function nameField() {
  return z.string().refine((text) => /^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/.test(text), {
    error: issueText("is not a valid name", 'letters, digits, "-", "_" and ".", at most 63'),
  });
}
