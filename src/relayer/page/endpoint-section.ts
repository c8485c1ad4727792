import { counted } from "../../platform/base/text.ts";
import { html, type Html } from "../../platform/web/html.ts";
import { badge, type Column, dataTable } from "../../platform/web/parts.ts";
import type { EndpointStatus } from "../health/relayer-status.ts";

/** All endpoints, those with an error first. */
export function endpointSection(endpoints: readonly EndpointStatus[]): Html {
  const isBad = (endpoint: EndpointStatus): boolean => reasonOf(endpoint) !== undefined;
  const bad = endpoints.filter(isBad);
  const unchecked = endpoints.filter(({ state }) => state === "unchecked").length;
  const sound = unchecked === 0 ? "all sound" : `${unchecked} not checked yet`;
  const caption = `${counted(endpoints.length, "endpoint")}, ${bad.length === 0 ? sound : `${bad.length} not sound`}`;
  const rows = [...bad, ...endpoints.filter((endpoint) => !isBad(endpoint))];
  return html`<h2>Endpoints</h2>${dataTable({ caption, columns: ENDPOINT_COLUMNS, rows })}`;
}

const ENDPOINT_COLUMNS: readonly Column<EndpointStatus>[] = [
  { name: "endpoint", cell: ({ name }) => html`<code>${name}</code>` },
  { name: "chain", cell: ({ chainId }) => chainId },
  { name: "state", cell: endpointBadge },
  { name: "height", isNumber: true, cell: ({ status }) => status?.latestHeight ?? "–" },
  {
    name: "behind",
    isNumber: true,
    cell: ({ lagBlocks }) => (lagBlocks === undefined ? "–" : counted(Number(lagBlocks), "block")),
  },
  {
    name: "latency",
    isNumber: true,
    cell: ({ latencyMs }) => (latencyMs === undefined ? "–" : `${Math.round(latencyMs)} ms`),
  },
  { name: "version", cell: ({ status }) => status?.version ?? "–" },
  { name: "blocks from", isNumber: true, cell: ({ status }) => status?.earliestHeight ?? "–" },
  { name: "batch", isNumber: true, cell: ({ batchSize }) => batchSize ?? "–" },
  {
    name: "cannot",
    cell: ({ lacks }) =>
      lacks === undefined
        ? "nothing known"
        : [...lacks].map(([what, reason]) => html`<code>${what}</code><small>${reason}</small>`),
  },
  { name: "last error", cell: (endpoint) => reasonOf(endpoint) ?? "none" },
];

function reasonOf({ lastError, distrusted }: EndpointStatus): string | undefined {
  return distrusted === undefined ? lastError : `wrong response: ${distrusted}`;
}

function endpointBadge(endpoint: EndpointStatus): Html {
  if (endpoint.distrusted !== undefined) return badge("bad", "not trusted");
  if (endpoint.state === "unchecked") return badge("unknown", "not checked yet");
  return badge(reasonOf(endpoint) === undefined ? "good" : "bad", endpoint.state);
}
