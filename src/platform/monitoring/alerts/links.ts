import { z } from "zod";
import { httpUrlField, issueText } from "../../config/config-fields.ts";

/** Where the runbooks are served. An installation replaces it, as `alerts/README.md` shows. */
const RUNBOOKS_URL = "https://runbooks.example/";

/** Root of Grafana. An installation replaces it, as `alerts/README.md` shows. */
const GRAFANA_URL = "https://grafana.example/";

/** Uids of the dashboards. They are in links, so they do not change. */
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

/** Returns the URL of a runbook. */
export function runbookUrl(name: string): string {
  return `${RUNBOOKS_URL}${name}.md`;
}

/** Returns the URL of a dashboard. */
export function dashboardUrl(uid: string): string {
  return `${GRAFANA_URL}d/${uid}`;
}

/** Returns the URL of the folder of the runbooks. */
export function runbooksUrl(): string {
  return RUNBOOKS_URL;
}

/** Pages of the daemons, for links of the dashboards. An installation replaces the URLs, as `dashboards/README.md` shows. */
export const DAEMON_PAGES = {
  watchdog: { title: "Oracle watchdog", url: "https://watchdog.example/" },
  relayer: { title: "Relayer", url: "https://relayer.example/" },
  localnet: { title: "Localnet", url: "https://localnet.example/" },
} as const;

/** One of {@link DAEMON_PAGES}. */
export type DaemonPage = keyof typeof DAEMON_PAGES;

/** Public URLs of what belongs together, each with a slash at its end. Absent: not known. */
export interface PublicLinks {
  readonly watchdog?: string;
  readonly relayer?: string;
  readonly localnet?: string;
  readonly status_page?: string;
  readonly grafana?: string;
}

/** Section `links` of a daemon's configuration. */
export const linksSchema = z
  .strictObject({
    watchdog: linkField("http://127.0.0.1:9998/").describe(
      "URL at which people open the page of the oracle watchdog",
    ),
    relayer: linkField("http://127.0.0.1:9999/").describe("URL at which people open the page of the relayer"),
    localnet: linkField("http://127.0.0.1:9997/").describe("URL at which people open the page of a localnet"),
    status_page: linkField("https://status.example/").describe(
      "URL at which everybody opens the public status page",
    ),
    grafana: linkField("http://127.0.0.1:3000/").describe("root of the Grafana that has the dashboards"),
  })
  .prefault({})
  .describe("URLs for links between the pages, and in notifications")
  .transform(
    (file): PublicLinks =>
      Object.fromEntries(
        Object.entries(file).flatMap(([name, url]) => (url === undefined ? [] : [[name, url]])),
      ),
  );

function linkField(example: string) {
  return httpUrlField()
    .transform((url, context) => {
      if (new URL(url).search === "") return url.replace(/\/?$/, "/");
      context.addIssue(issueText("has a query", "a URL without one, to which a path can be added"));
      return z.NEVER;
    })
    .optional()
    .meta({ example });
}

const TEXTS = [
  ["watchdog", "oracle watchdog"],
  ["relayer", "relayer"],
  ["localnet", "localnet"],
  ["status_page", "public status page"],
] as const satisfies readonly (readonly [keyof PublicLinks, string])[];

/** Returns links to the other pages and to dashboards, for the foot of a page. */
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
