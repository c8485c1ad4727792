import { z } from "zod";
import { HOUR_MS } from "../../base/time.ts";
import { httpUrlField, issueText, parsedField } from "../../config/config-fields.ts";

/** The URL that serves the runbooks, which each installation replaces as `alerts/README.md` shows. */
const RUNBOOKS_URL = "https://runbooks.example/";

/** Grafana's root URL, which each installation replaces as `alerts/README.md` shows. */
const GRAFANA_URL = "https://grafana.example/";

/** Dashboard uids, which must not change, because they appear in links. */
export const DASHBOARDS = {
  overview: "relaywatch-overview",
  paid: "relaywatch-am-i-paid",
  paidRaw: "relaywatch-am-i-paid-raw",
  validator: "relaywatch-validator-chain",
  fleet: "relaywatch-oracle-fleet",
  relayer: "relaywatch-icq-relayer",
  costs: "relaywatch-icq-costs",
  query: "relaywatch-icq-query",
  process: "relaywatch-process",
} as const;

export function runbookUrl(name: string): string {
  return `${RUNBOOKS_URL}${name}.md`;
}

/** A dashboard panel: the dashboard's uid and the panel's title. */
export interface PanelLink {
  readonly dashboard: string;
  readonly panel: string;
}

/** Panels that show an alert's cause, by patterns of alert names, of which the first matching pattern applies. */
export type PanelsByAlert = readonly (readonly [alert: RegExp, link: PanelLink])[];

/** Returns the dashboard panel that shows an alert's cause. Throws if no pattern matches the alert's name. */
export function causeOf(alert: string, panels: PanelsByAlert): PanelLink {
  const found = panels.find(([pattern]) => pattern.test(alert))?.[1];
  if (found === undefined) throw new Error(`${alert} has no panel that shows its cause`);
  return found;
}

/** Derives a panel's or row's id from its title, so that links stay valid when panels move. */
export function panelId(title: string): number {
  let id = 0;
  for (const character of title) id = (id * 31 + (character.codePointAt(0) ?? 0)) % 1_000_003;
  return id + 1;
}

/** Returns a panel's path below Grafana's root. The path ends in a query, to which you can add variables and times. */
export function panelPath({ dashboard, panel }: PanelLink): string {
  return `d/${dashboard}?viewPanel=${panelId(panel)}`;
}

/** Time range that a dashboard shows around an alert. */
export const AROUND_ALERT_MS = { before: 2 * HOUR_MS, after: HOUR_MS } as const;

const VARIABLES = new Map([
  ["job", "job"],
  ["instance", "instance"],
  ["chain_id", "chain"],
  ["validator", "validator"],
  ["connection_id", "connection"],
]);

/** Returns a Prometheus template for the evaluation time plus `offsetMs`, in milliseconds. */
function timeTemplate(offsetMs: number): string {
  const sign = offsetMs < 0 ? "-" : "+";
  return `{{ query "(time() ${sign} ${Math.abs(offsetMs) / 1000}) * 1000" | first | value | printf "%.0f" }}`;
}

/**
 * Returns the URL of the panel that shows an alert's cause. The URL is a Prometheus template that fills in the labels in `scope`
 * and the time of the last evaluation.
 */
export function causeUrl(cause: PanelLink, scope: readonly string[]): string {
  const variables = scope.flatMap((label) => {
    const name = VARIABLES.get(label);
    return name === undefined ? [] : [`&var-${name}={{ $labels.${label} | urlquery }}`];
  });
  const { before, after } = AROUND_ALERT_MS;
  return `${GRAFANA_URL}${panelPath(cause)}${variables.join("")}&from=${timeTemplate(-before)}&to=${timeTemplate(after)}`;
}

export function runbooksUrl(): string {
  return RUNBOOKS_URL;
}

/** The daemons' pages, for links in dashboards. Each installation replaces the URLs as `dashboards/README.md` shows. */
export const DAEMON_PAGES = {
  watchdog: { title: "Oracle watchdog", url: "https://watchdog.example/" },
  relayer: { title: "Relayer", url: "https://relayer.example/" },
  localnet: { title: "Localnet", url: "https://localnet.example/" },
} as const;

export type DaemonPage = keyof typeof DAEMON_PAGES;

/** Public URLs of related services, each with a trailing slash, or absent if unknown. */
export interface PublicLinks {
  readonly watchdog?: string;
  readonly relayer?: string;
  readonly localnet?: string;
  readonly status_page?: string;
  readonly grafana?: string;
}

export const linksSchema = z
  .strictObject({
    watchdog: linkField("http://127.0.0.1:9998/").describe("the public URL of the oracle watchdog's page"),
    relayer: linkField("http://127.0.0.1:9999/").describe("the public URL of the relayer's page"),
    localnet: linkField("http://127.0.0.1:9997/").describe("the public URL of a localnet's page"),
    status_page: linkField("https://status.example/").describe("the URL of the public status page"),
    grafana: linkField("http://127.0.0.1:3000/").describe(
      "the root URL of the Grafana instance with the dashboards",
    ),
  })
  .prefault({})
  .describe("the URLs for links between the pages and in notifications")
  .transform(
    (file): PublicLinks =>
      Object.fromEntries(
        Object.entries(file).flatMap(([name, url]) => (url === undefined ? [] : [[name, url]])),
      ),
  );

function linkField(example: string) {
  return parsedField(
    httpUrlField(),
    (url) => (new URL(url).search === "" ? url.replace(/\/?$/, "/") : undefined),
    issueText("has a query", "a URL to which a path can be appended"),
  )
    .optional()
    .meta({ example });
}

const TEXTS = [
  ["watchdog", "oracle watchdog"],
  ["relayer", "relayer"],
  ["localnet", "localnet"],
  ["status_page", "public status page"],
] as const satisfies readonly (readonly [keyof PublicLinks, string])[];

/** Returns the other services that have an overview: the daemons and the localnet, except `own` and services without a known URL. */
export function neighboursOf(
  links: PublicLinks,
  own: DaemonPage | undefined,
): readonly { readonly name: string; readonly url: string }[] {
  return TEXTS.flatMap(([name, text]) => {
    const url = links[name];
    return name === own || name === "status_page" || url === undefined ? [] : [{ name: text, url }];
  });
}

/** Returns links to the other pages and to dashboards, for a page's footer. */
export function pageLinks(
  links: PublicLinks,
  own: DaemonPage,
  dashboard: string,
): readonly { readonly path: string; readonly text: string }[] {
  const { grafana } = links;
  const pages = TEXTS.flatMap(([name, text]) => {
    const path = name === own ? undefined : links[name];
    return path === undefined ? [] : [{ path, text }];
  });
  return [
    ...pages,
    ...(grafana === undefined ? [] : [{ path: `${grafana}d/${dashboard}`, text: "dashboard" }]),
  ];
}
