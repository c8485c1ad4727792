import { CHANNEL_KINDS } from "../../src/watchdog/notify/channels/channel-kinds.ts";
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { parseConfig } from "../../src/platform/config/config.ts";
import { keyTable } from "../../src/cli/generate/config-files.ts";
import { keySchema } from "../../src/platform/config/key-schema.ts";
import { Secret } from "../../src/platform/base/secret.ts";
import { CONDITIONS } from "../../src/watchdog/conditions/conditions.ts";
import { SPECIFIED_POLICY } from "../../src/watchdog/policy/assessment.ts";
import {
  type WatchdogConfig,
  watchdogConfigKind,
  watchdogConfigSchema,
} from "../../src/watchdog/config/config.ts";

const example = new URL("../../config/oracle-watchdog.example.yaml", import.meta.url);

const DEFAULT_TARGET = {
  name: "node",
  node: "http://127.0.0.1:26660/metrics",
  prices: "http://127.0.0.1:8080/",
  oracleMetrics: "http://127.0.0.1:8001/metrics",
  sidecarMetrics: "http://127.0.0.1:8002/metrics",
};

function parse(text: string): WatchdogConfig {
  return parseConfig({ file: "w.yaml", text }, watchdogConfigSchema);
}

/** Secrets of the example, by environment variable. */
const SECRETS = {
  ORACLE_WATCHDOG_TOKEN: "token",
  ORACLE_WATCHDOG_PROMETHEUS_PASSWORD: "secret",
  ORACLE_WATCHDOG_ALERTMANAGER_AUTHORIZATION: "Basic c2VjcmV0",
  ORACLE_WATCHDOG_PAGERDUTY_KEY: "secret-key",
  ORACLE_WATCHDOG_SLACK_URL: "https://hooks.slack.example/T0/secret",
  ORACLE_WATCHDOG_DISCORD_URL: "https://discord.example/api/webhooks/1/secret",
  ORACLE_WATCHDOG_TELEGRAM_TOKEN: "123456:ABCDEF-secret_token",
  ORACLE_WATCHDOG_MAIL_PASSWORD: "secret",
  ORACLE_WATCHDOG_WEBHOOK_URL: "https://hooks.example/T0/secret",
  ORACLE_WATCHDOG_WEBHOOK_AUTHORIZATION: "Bearer secret",
  ORACLE_WATCHDOG_DEAD_MAN_URL: "https://ping.example/secret",
  ORACLE_WATCHDOG_DEAD_MAN_FAILURE_URL: "https://ping.example/secret/fail",
};

beforeEach(() => {
  for (const [, name = ""] of readFileSync(example, "utf8").matchAll(/\benv: (\w+)/g))
    vi.stubEnv(name, "https://receiver.example/secret");
  for (const [name, value] of Object.entries(SECRETS)) vi.stubEnv(name, value);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

describe("watchdog configuration", () => {
  it("has a default for every key", () => {
    const { alerts, ...rest } = parse("");
    const log = { level: "info", format: "auto", outputs: ["stderr"] };
    expect(rest).toEqual({
      log: { ...log, keys: { time: "time", level: "level", message: "msg" } },
      listen: { host: "127.0.0.1", port: 9998 },
      intervalMs: 5000,
      limits: { deadlineMs: 4000, maxPageBytes: 33_554_432 },
      validators: [
        {
          target: { name: "default", nodes: [DEFAULT_TARGET], egress: [] },
          policy: { policy: SPECIFIED_POLICY, fromChain: false },
        },
      ],
      notify: {
        channels: [],
        groupWaitMs: 10_000,
        reminders: {
          critical: [3_600_000, 14_400_000, 28_800_000, 86_400_000],
          warning: [43_200_000, 86_400_000],
          info: [],
        },
        escalation: { minSeverity: "critical", steps: [] },
        runbooks: "",
        links: {},
      },
      maintenance: [],
      reports: {
        dailyAt: "0 7 * * *",
        monthlyAt: "30 0 1 * *",
        directory: undefined,
        formats: ["text", "json"],
        channels: [],
      },
    });
    expect(alerts.rules.map(({ condition }) => condition)).toEqual(CONDITIONS);
    expect(alerts.majorPairs).toEqual(["BTC/USD", "ETH/USD", "NTRN/USD"]);
  });

  it("has an example with the defaults, and with the keys that have none", () => {
    const {
      validators,
      stateDir,
      hosts,
      token,
      notify,
      maintenance,
      reports,
      prometheus,
      backfill,
      statusPage,
      ...rest
    } = parse(readFileSync(example, "utf8"));
    expect(prometheus).toEqual({
      connection: {
        url: "http://127.0.0.1:9090/",
        credentials: { kind: "basic", username: "watchdog", password: new Secret("secret") },
        tenant: "validators",
        deadlineMs: 10_000,
        maxResponseBytes: 33_554_432,
        maxSeries: 50_000,
        maxPoints: 500_000,
      },
      staleMs: 60_000,
    });
    expect(statusPage).toEqual({
      listen: { host: "127.0.0.1", port: 9995 },
      hosts: ["status.example"],
      title: "Oracle status",
      validators: [{ name: "default", title: "Example validator", components: ["prices", "votes"] }],
      hasAmounts: false,
    });
    expect(backfill).toEqual({ afterMs: 60_000, longestMs: 31 * 86_400_000, giveUpMs: 900_000 });
    const { channels, runbooks, deadMan, links, ...times } = notify;
    expect(links).toEqual({
      watchdog: "http://127.0.0.1:9998/",
      relayer: "http://127.0.0.1:9999/",
      localnet: "http://127.0.0.1:9997/",
      status_page: "https://status.example/",
      grafana: "http://127.0.0.1:3000/",
    });
    const { notify: defaults, maintenance: _, validators: __, reports: ownReports, ...others } = parse("");
    expect(reports).toEqual({
      ...ownReports,
      directory: "/var/lib/relaywatch/oracle-watchdog/reports",
      channels: ["mail"],
    });
    expect(rest).toEqual(others);
    expect({ ...defaults, ...times }).toEqual(defaults);
    expect(validators).toEqual([
      {
        target: {
          name: "default",
          chainId: "neutron-1",
          consensusAddress: "neutronvalcons16jsxy6n6x6xxkkdx2whumthegrfklpw7y5klld",
          operatorAddress: "neutronvaloper18zawa74y4xv6xg3zv0cstmfl9y38ecurgt4e70",
          nodes: [{ ...DEFAULT_TARGET, grpc: "127.0.0.1:9090", labels: { instance: "127.0.0.1:26660" } }],
          egress: ["api.binance.com:443", "api.coinbase.com:443"],
          chain: {
            rest: "http://127.0.0.1:1317/",
            module: "neutron",
            pairs: ["BTC/USD", "ETH/USD"],
            rpc: "http://127.0.0.1:26657/",
          },
        },
        policy: { policy: SPECIFIED_POLICY, fromChain: false },
      },
    ]);
    expect([stateDir, hosts, token?.reveal(), runbooks]).toEqual([
      "/var/lib/oracle-watchdog",
      ["watchdog.example"],
      "token",
      "https://validator.example/runbooks/",
    ]);
    expect([deadMan?.url.reveal(), deadMan?.failureUrl?.reveal()]).toEqual([
      SECRETS.ORACLE_WATCHDOG_DEAD_MAN_URL,
      SECRETS.ORACLE_WATCHDOG_DEAD_MAN_FAILURE_URL,
    ]);
    expect(channels.map(({ kind }) => kind)).toEqual(CHANNEL_KINDS.map(({ kind }) => kind));
    expect(channels.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining([
        "alertmanager",
        "pagerduty",
        "slack",
        "discord",
        "telegram",
        "email",
        "webhook",
      ]),
    );
    expect(maintenance.map(({ start }) => start)).toEqual([
      { kind: "weekly", days: [2], timeOfDayMs: 9 * 3_600_000 },
      { kind: "once", atMs: Date.UTC(2026, 11, 1, 14) },
    ]);
    expect(JSON.stringify(channels)).not.toContain("secret");
  });

  it("disables a source", () => {
    const [only] = parse("sources: {oracle_metrics: null, sidecar_metrics: null}").validators;
    expect(only?.target.nodes).toEqual([
      { name: "node", node: DEFAULT_TARGET.node, prices: DEFAULT_TARGET.prices },
    ]);
  });

  it("has several validators with several nodes each, on chains of their own", () => {
    const { validators } = parse(
      [
        "validators:",
        "  - name: one",
        "    chain_id: neutron-1",
        "    nodes: [{name: a, node: 'http://a:26660/metrics'}, {name: b, node: 'http://b:26660/metrics', prices: null}]",
        "    policy: {curve: revenue-quadratic, full_percent: 97.5, reward: 2500.5}",
        "  - name: two",
        "    chain_id: pion-1",
        "    nodes: [{name: a, node: 'http://c:26660/metrics'}]",
        "    chain: {rest: 'http://c:1317'}",
      ].join("\n"),
    );
    expect(
      validators.map(({ target }) => [target.name, target.chainId, target.nodes.map(({ node }) => node)]),
    ).toEqual([
      ["one", "neutron-1", ["http://a:26660/metrics", "http://b:26660/metrics"]],
      ["two", "pion-1", ["http://c:26660/metrics"]],
    ]);
    expect(validators[0]?.target.nodes[1]?.prices).toBeUndefined();
    expect(validators[0]?.policy.policy).toMatchObject({
      curve: "revenue-quadratic",
      least: { full: 975_000_000_000_000_000n, none: 950_000_000_000_000_000n },
      fullRewardCents: 250_050n,
      source: "configuration",
    });
  });

  it("reads lists of reminders, and a test at the start", () => {
    const notifyOf = (text: string) => parse(`notify: {${text}}`).notify;
    const reminders = (text: string) => notifyOf(`reminders: {critical: "${text}"}`).reminders.critical;
    const hour = 3_600_000;
    expect(reminders(" 1h,4h , 24h")).toEqual([hour, 4 * hour, 24 * hour]);
    expect([reminders("0s"), reminders("1s")]).toEqual([[], [1000]]);
    expect(reminders(Array(10).fill("1h").join(","))).toHaveLength(10);
    for (const wrong of ["1h, soon", "1h,", "", "999ms", "1h, 0s", Array(11).fill("1h").join(",")])
      expect(() => reminders(wrong)).toThrow("notify.reminders.critical: is not a list of valid durations");
    expect(() => notifyOf("reminders: {critical: 5}")).toThrow("is not a string");
    expect([notifyOf("test_at_start: true").testsAtStart, notifyOf("").testsAtStart]).toEqual([
      true,
      undefined,
    ]);
  });

  it("reads the steps of an escalation, and refuses those that cannot be taken", () => {
    const channels =
      "channels: [{kind: webhook, name: hook, url: {env: URL}}, {kind: alertmanager, name: am, urls: ['http://a']}]";
    const escalationOf = (steps: string) => {
      vi.stubEnv("URL", "http://h");
      return parse(`notify: {${channels}, escalation: {steps: ${steps}}}`).notify.escalation;
    };
    expect(parse("").notify.escalation).toEqual({ minSeverity: "critical", steps: [] });
    const { steps } = escalationOf("[{after: 15m, channels: [hook]}]");
    expect(
      steps.map((step) => ({ afterMs: step.afterMs, channels: step.channels.map(({ name }) => name) })),
    ).toEqual([{ afterMs: 900_000, channels: ["hook"] }]);
    expect(() => escalationOf("[{after: 15m, channels: [phone]}]")).toThrow(
      "notify.escalation.steps.0.channels.0: is not a channel for escalation",
    );
    expect(() => escalationOf("[{after: 15m, channels: [am]}]")).toThrow(
      "of a kind other than alertmanager: hook",
    );
    expect(() => escalationOf("[{after: 1h, channels: [hook]}, {after: 1h, channels: [hook]}]")).toThrow(
      "notify.escalation.steps.1.after: is not later than the previous step",
    );
  });

  it("reaches sources, receivers and Prometheus with the authority of tls.ca_file", () => {
    const config = parse(
      "tls: {ca_file: test/fixtures/tls/ca.pem}\nprometheus: {url: 'https://p'}\nbackfill: {}\nsources: {labels: {job: n}}",
    );
    const { network, notify, prometheus } = config;
    expect(network?.ca).toContain("BEGIN CERTIFICATE");
    expect([notify.network, prometheus?.connection.network]).toEqual([network, network]);
    expect(parse("").network).toBeUndefined();
  });

  it("has further URLs of the sources, in their order", () => {
    const text =
      "sources: {node: 'http://a/m', fallbacks: {node: ['http://b/m', 'http://c/m'], prices: ['http://p/']}}";
    expect(parse(text).validators[0]?.target.nodes[0]?.fallbacks).toEqual([
      [{ url: "http://a/m" }, { url: "http://b/m" }, { url: "http://c/m" }],
      [{ url: "http://127.0.0.1:8080/" }, { url: "http://p/" }],
    ]);
    expect(
      parse("chain: {rest: 'http://r', fallbacks: ['http://s']}").validators[0]?.target.chain,
    ).toMatchObject({
      rest: "http://r/",
      fallbacks: [{ url: "http://r/" }, { url: "http://s/" }],
    });
    expect(() => parse("sources: {fallbacks: {node: ['b']}}")).toThrow(
      "sources.fallbacks.node.0: is not a valid URL",
    );
    expect(() => parse("sources: {fallbacks: {grpc: ['http://b']}}")).toThrow("sources.fallbacks");
  });

  it("reads who pays, and refuses what is no account or no amount", () => {
    const chainOf = (payment: string) =>
      parse(`chain: {rest: 'http://r', rpc: 'http://r:26657', payment: ${payment}}`).validators[0]?.target
        .chain;
    const payer = "neutron1k5d2e2572uf85wa6ek0yv24ezw26z6n5rnfkad";
    expect(chainOf(`{payer: ${payer}, full: 2500000000untrn}`)).toMatchObject({
      rpc: "http://r:26657/",
      payment: { payer, full: "2500000000untrn" },
    });
    expect(() => chainOf("{payer: neutronvaloper18zawa74y4xv6xg3zv0cstmfl9y38ecurgt4e70}")).toThrow(
      "chain.payment.payer: is not a valid address",
    );
    expect(() => chainOf("{full: '2500'}")).toThrow("chain.payment.full: is not an amount");
    expect(() => chainOf("{payee: x}")).toThrow("chain.payment");
  });

  it("has the public URLs of the pages, with a slash at their end", () => {
    const { links } = parse("links: {watchdog: 'https://w.example/x', grafana: 'https://g.example/'}").notify;
    expect(links).toEqual({ watchdog: "https://w.example/x/", grafana: "https://g.example/" });
    expect(() => parse("links: {grafana: 'grafana.example'}")).toThrow("links.grafana: is not a valid URL");
    expect(() => parse("links: {relayer: 'http://r.example/?a=1'}")).toThrow("links.relayer: has a query");
    expect(() => parse("links: {prometheus: 'http://p.example/'}")).toThrow("links");
  });

  it("names the currency of the reward, which changes nothing else of the policy", () => {
    expect(parse("policy: {currency: USD}").validators[0]?.policy.policy).toEqual({
      ...SPECIFIED_POLICY,
      currency: "USD",
    });
    expect(parse("policy: {currency: EUR, reward: 10}").validators[0]?.policy.policy).toMatchObject({
      currency: "EUR",
      fullRewardCents: 1000n,
      source: "configuration",
    });
    expect(() => parse("policy: {currency: 'U S D'}")).toThrow("policy.currency: is not a currency name");
  });

  it("has no status page without its section, and with it all validators without amounts", () => {
    expect(parse("{}").statusPage).toBeUndefined();
    expect(parse("status_page: {}").statusPage).toEqual({
      listen: { host: "127.0.0.1", port: 9995 },
      title: "Oracle status",
      validators: [{ name: "default", title: "Validator", components: ["prices"] }],
      hasAmounts: false,
    });
    const several = "validators: [{name: a, nodes: [{name: n}]}, {name: b, nodes: [{name: n}]}]";
    expect(
      parse(`status_page: {validators: [{name: b, title: B one}]}\n${several}`).statusPage?.validators,
    ).toEqual([{ name: "b", title: "B one", components: ["prices"] }]);
    const voting = "consensus_address: neutronvalcons16jsxy6n6x6xxkkdx2whumthegrfklpw7y5klld";
    expect(parse(`status_page: {}\n${voting}`).statusPage?.validators[0]?.components).toEqual([
      "prices",
      "votes",
    ]);
  });

  it.each([
    [
      "validators: [{name: a}]",
      "status_page.validators.0.name: is not a validator in this configuration (expected default)",
    ],
    ["validators: [{name: default}, {name: default}]", "status_page.validators.1.name: is a duplicate"],
    ['title: "a\\nb"', "status_page.title: has control characters"],
    ["components: [signing]", "status_page.components.0"],
    ["url: x", "status_page"],
  ])("refuses a status page with %s", (text, error) => {
    expect(() => parse(`status_page: {${text}}`)).toThrow(error);
  });

  it("refuses a status page of all validators when one page cannot have them", () => {
    const all = Array.from({ length: 51 }, (_, index) => `{name: v${index}, nodes: [{name: n}]}`).join(", ");
    expect(() => parse(`status_page: {}\nvalidators: [${all}]`)).toThrow(
      "status_page.validators: is missing, but there are 51 validators (expected a list of at most 50)",
    );
  });

  it("refuses the keys for one validator beside several, and names that are not unique", () => {
    const text = [
      "chain_id: neutron-1",
      "sources: {prices: null}",
      "validators:",
      "  - {name: one, nodes: [{name: a}, {name: a}]}",
      "  - {name: one, nodes: [{name: a}]}",
    ].join("\n");
    expect(() => parse(text)).toThrow(
      [
        "w.yaml:1:11: chain_id: cannot be combined with validators (expected this key within each validator)",
        "w.yaml:2:11: sources.prices: cannot be combined with validators (expected this key within each validator)",
        "w.yaml:4:43: validators.0.nodes.1.name: is a duplicate (expected a unique name)",
        "w.yaml:5:12: validators.1.name: is a duplicate (expected a unique name)",
      ].join("\n"),
    );
  });

  it("reads the metrics of one validator from Prometheus, and scrapes another one", () => {
    const { validators, prometheus } = parse(
      [
        "prometheus: {url: 'https://prometheus.example/select/0/'}",
        "validators:",
        "  - {name: one, source: prometheus, nodes: [{name: a, labels: {validator: one}, grpc: 'a:9090'}]}",
        "  - name: two",
        "    source: prometheus",
        "    nodes: [{name: a, labels: {job: node}, sidecar_labels: {job: sidecar}, prices: 'http://a:8080'}]",
        "  - {name: three, source: prometheus, nodes: [{name: a, labels: {job: n}, sidecar_metrics: null}]}",
        "  - {name: four, nodes: [{name: a, node: 'http://b:26660/metrics'}]}",
      ].join("\n"),
    );
    expect(prometheus?.connection).toEqual({
      url: "https://prometheus.example/select/0/",
      deadlineMs: 10_000,
      maxResponseBytes: 33_554_432,
      maxSeries: 50_000,
      maxPoints: 500_000,
    });
    const { node, sidecarMetrics } = DEFAULT_TARGET;
    expect(validators.map(({ target }) => [target.isStored, target.nodes[0]])).toEqual([
      [true, { name: "a", node, sidecarMetrics, grpc: "a:9090", labels: { validator: "one" } }],
      [
        true,
        {
          name: "a",
          node,
          sidecarMetrics,
          prices: "http://a:8080/",
          labels: { job: "node" },
          sidecarLabels: { job: "sidecar" },
        },
      ],
      [true, { name: "a", node, labels: { job: "n" } }],
      [undefined, { ...DEFAULT_TARGET, name: "a", node: "http://b:26660/metrics" }],
    ]);
  });

  it.each([
    [
      "source: prometheus",
      [
        "source: is prometheus, but no prometheus section exists (expected a prometheus section with a url)",
        "sources: has no labels, but source: prometheus selects series by labels (expected labels, e.g. {instance: 10.0.0.1:26660})",
      ],
    ],
    [
      "prometheus: {url: 'http://p'}",
      ["prometheus: has no effect (expected source: prometheus, or a backfill section)"],
    ],
    [
      "backfill: {}",
      [
        "backfill: needs Prometheus, but no prometheus section exists (expected a prometheus section with a url)",
        "sources: has no labels, but backfill selects series by labels (expected labels, e.g. {instance: 10.0.0.1:26660})",
      ],
    ],
    [
      "source: prometheus\nprometheus: {url: 'http://p'}\nsources: {labels: {job: n}, node: 'http://n', sidecar_metrics: 'http://s', oracle_metrics: null}",
      [
        "sources.node: is not scraped with source: prometheus (expected labels instead)",
        "sources.sidecar_metrics: is not scraped with source: prometheus (expected labels instead)",
      ],
    ],
    [
      "sources: {labels: {job: n}, sidecar_labels: {job: s}}",
      [
        "sources.labels: has no effect (expected source: prometheus, or a backfill section)",
        "sources.sidecar_labels: has no effect (expected source: prometheus)",
      ],
    ],
    [
      "source: prometheus\nprometheus: {url: 'http://p', username: u}\nsources: {labels: {job: n}}",
      ["prometheus.username: has no password (expected username and password)"],
    ],
    [
      "source: prometheus\nprometheus: {url: 'http://p', token: {env: ORACLE_WATCHDOG_TOKEN}, username: u, password: {env: ORACLE_WATCHDOG_TOKEN}}\nsources: {labels: {job: n}}",
      [
        "prometheus.token: cannot be combined with username (expected either a token, or username and password)",
      ],
    ],
    [
      "source: prometheus\nprometheus: {url: 'http://user:pass@p', deadline: 5m, token: secret, max_points: 999, max_series: 1.5}\nsources: {labels: {}}",
      [
        "prometheus.url: is not a valid URL (expected http:// or https://, without user name, password or fragment)",
        "prometheus.token: is text (expected a reference, {file: path} or {env: NAME}, not the secret itself)",
        "prometheus.deadline: is too long (expected at most 1m)",
        "prometheus.max_series: is a number (expected a whole number)",
        "prometheus.max_points: is too small (expected 1000 or more)",
        "sources.labels: has no labels, or too many (expected 1 to 10 labels, e.g. {instance: 10.0.0.1:26660})",
      ],
    ],
    [
      "source: prometheus\nprometheus: {url: 'http://p'}\nvalidators: [{name: a, nodes: [{name: n}]}, {name: b, source: scrape, nodes: [{name: n, labels: {__name__: up}}]}]",
      ["validators.1.nodes.0.labels"],
    ],
  ])("refuses keys about Prometheus that contradict each other: %s", (text, errors) => {
    for (const error of errors) expect(() => parse(text)).toThrow(error);
  });

  it("reports all errors, and never the webhook's URL", () => {
    vi.stubEnv("ORACLE_WATCHDOG_WEBHOOK_URL", "hooks.example/T0/secret");
    const text = [
      "interval: 5",
      "sources:",
      "  node: localhost:26660",
      "alerts:",
      "  all_prices_missing:",
      '    for: "5 minutes"',
      "notify:",
      "  channels:",
      "    - kind: webhook",
      "      name: hook",
      "      url: {env: ORACLE_WATCHDOG_WEBHOOK_URL}",
      "    - kind: pager",
      "      name: hook",
      "    - {kind: slack, name: Chat, url: https://hooks.slack.com/secret}",
    ].join("\n");
    const kinds = CHANNEL_KINDS.map(({ kind }) => kind).toSorted();
    expect(() => parse(text)).toThrow(
      [
        'w.yaml:1:11: interval: is a number (expected a duration, e.g. "30s")',
        "w.yaml:3:9: sources.node: is not a valid URL (expected http:// or https://, without user name, password or fragment; put credentials into headers)",
        'w.yaml:6:10: alerts.all_prices_missing.for: is not a valid duration (expected a duration of at least 0ms, e.g. "30s")',
        "w.yaml:11:7: notify.channels.0.url: does not contain a valid URL (expected http:// or https://)",
        `w.yaml:12:13: notify.channels.1.kind: is not a channel kind (expected ${kinds.slice(0, -1).join(", ")} or ${kinds.at(-1)})`,
        "w.yaml:14:27: notify.channels.2.name: is not a valid name (expected lower-case letters, digits and hyphens)",
        "w.yaml:14:38: notify.channels.2.url: is text (expected a reference, {file: path} or {env: NAME}, not the secret itself)",
      ].join("\n"),
    );
  });

  it("is documented by its schema, and the example shows every key", () => {
    expect(keySchema(watchdogConfigSchema)).toMatchObject({ additionalProperties: false });
    const rows = keyTable(watchdogConfigKind).split("\n");
    const keys = rows.flatMap((row) => /^\| `([\w.]+)` /.exec(row)?.[1]?.split(".") ?? []);
    expect(keys.length).toBeGreaterThan(10);
    const text = readFileSync(example, "utf8");
    expect(keys.filter((key) => !text.includes(`${key}:`))).toEqual([]);
    expect(rows).toContain(
      '| `alerts.all_prices_missing.for` | `"5m"` | how long the condition must hold before the alert fires |',
    );
  });
});
