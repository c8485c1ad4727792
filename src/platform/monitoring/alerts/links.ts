/** Where the runbooks are served. An installation replaces it, as `alerts/README.md` shows. */
const RUNBOOKS_URL = "https://runbooks.example/";

/** Root of Grafana. An installation replaces it, as `alerts/README.md` shows. */
const GRAFANA_URL = "https://grafana.example/";

/** Uids of the dashboards. They are in links, so they do not change. */
export const DASHBOARDS = {
  paid: "relaywatch-am-i-paid",
  paidRaw: "relaywatch-am-i-paid-raw",
  fleet: "relaywatch-oracle-fleet",
  relayer: "relaywatch-icq-relayer",
  query: "relaywatch-icq-query",
  process: "relaywatch-process",
  ibcRelayer: "relaywatch-ibc-relayer",
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
