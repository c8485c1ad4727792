import type { z } from "zod";
import { issueText } from "../../platform/config/config-fields.ts";
import type { SourceKeys, ValidatorKeys } from "./validators-config.ts";

type Path = readonly (string | number)[];

/** Refuses Prometheus keys that contradict each other or have no effect. */
export function refusePrometheusKeys(file: ValidatorKeys, context: z.RefinementCtx): void {
  const all = file.validators?.map(({ source, nodes }, index) => ({
    source: source ?? file.source,
    path: source === undefined ? ["source"] : ["validators", index, "source"],
    nodes: nodes.map((node, at) => ({ node, path: ["validators", index, "nodes", at] })),
  })) ?? [{ source: file.source, path: ["source"], nodes: [{ node: file.sources, path: ["sources"] }] }];
  const hasBackfill = file.backfill !== undefined;
  const stored = all.find(({ source }) => source === "prometheus");
  const issues = [
    ...sectionIssues(file, stored?.path),
    ...all.flatMap(({ source, nodes }) =>
      nodes.flatMap(({ node, path }) =>
        nodeIssues(source, node, hasBackfill).map(([key, text]): Issue => [[...path, ...key], text]),
      ),
    ),
  ];
  for (const [path, message] of issues) context.addIssue({ code: "custom", path: [...path], message });
}

/** Checks the section. `stored` is the path of the first `source: prometheus`. */
function sectionIssues(
  { prometheus: section, backfill: filling }: ValidatorKeys,
  stored?: Path,
): readonly Issue[] {
  const wanted = "a prometheus section with a url";
  if (section === undefined)
    return [
      ...(stored === undefined
        ? []
        : [[stored, issueText("is prometheus, but no prometheus section exists", wanted)] as const]),
      ...(filling === undefined
        ? []
        : [[["backfill"], issueText("needs Prometheus, but no prometheus section exists", wanted)] as const]),
    ];
  if (stored !== undefined || filling !== undefined) return [];
  return [[["prometheus"], issueText("has no effect", "source: prometheus, or a backfill section")]];
}

type Issue = readonly [path: Path, text: string];

/** Returns issues whose paths start at the node. */
function nodeIssues(
  source: ValidatorKeys["source"],
  node: SourceKeys,
  hasBackfill: boolean,
): readonly Issue[] {
  const { labels, sidecar_labels: ofSidecar } = node;
  const expected = "labels, e.g. {instance: 10.0.0.1:26660}";
  if (source === "scrape") {
    const unused: Issue[] = [];
    if (hasBackfill && labels === undefined)
      unused.push([[], issueText("has no labels, but backfill selects series by labels", expected)]);
    if (!hasBackfill && labels !== undefined)
      unused.push([["labels"], issueText("has no effect", "source: prometheus, or a backfill section")]);
    if (ofSidecar !== undefined)
      unused.push([["sidecar_labels"], issueText("has no effect", "source: prometheus")]);
    return unused;
  }
  const { node: url, oracle_metrics, sidecar_metrics } = node;
  const scraped = Object.entries({ node: url, oracle_metrics, sidecar_metrics })
    .filter(([, given]) => given !== undefined && given !== null)
    .map(([key]): Issue => [[key], issueText("is not scraped with source: prometheus", "labels instead")]);
  if (labels !== undefined) return scraped;
  return [
    ...scraped,
    [[], issueText("has no labels, but source: prometheus selects series by labels", expected)],
  ];
}
