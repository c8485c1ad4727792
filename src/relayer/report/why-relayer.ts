import { z } from "zod";
import { counted, formatDuration, formatMinute } from "../../platform/base/text.ts";
import { withoutTemplates } from "../../platform/monitoring/alerts/runbook-route.ts";
import { heading, list, paragraph } from "../../platform/report/blocks.ts";
import type { Report, ReportBlock } from "../../platform/report/document.ts";
import { PROBLEM_CODES, type ProblemCode } from "../health/problems.ts";
import { RELAYER_CONDITIONS } from "../monitoring/relayer-alerts.ts";

const ACTIONS: Readonly<Record<ProblemCode, string>> = {
  starting:
    "Wait for the initial reads. If they do not finish, check the endpoints with relaywatch relayer doctor.",
  "local-not-followed": "Check chain.rpc and chain.rest, and add another local-chain endpoint.",
  "local-no-new-block": "Find out whether the local chain has halted or only its endpoints are behind.",
  "remote-unreachable": "Check the endpoints of the connection, and add another one.",
  "remote-no-new-block": "Find out whether the remote chain has halted or only its endpoints are behind.",
  "remote-catching-up": "Wait until the node has caught up, or add another remote-chain endpoint.",
  "endpoints-refuse": "Add an endpoint that supports what the relayer needs.",
  "client-expired": "Ask governance to replace the light client (MsgRecoverClient).",
  "client-frozen": "Ask governance to replace the light client (MsgRecoverClient).",
  "client-expires-soon": "Use relaywatch relayer doctor to find out why no light client update is sent.",
  "client-unknown": "Check the local chain's endpoints.",
  "account-cannot-pay": "Send coins of the fee denomination to the account.",
  "account-unknown": "Check chain.rest and the account's address.",
  "lease-unknown": "Repair the database.",
  "store-not-writable": "Free space on the store's disk, or repair it.",
  "not-sending":
    "Find out what keeps the relayer from sending; the limits are in the configuration under gas and spending.",
  "cycle-failed": "Read the connection's error; relaywatch relayer doctor checks its dependencies.",
  "queries-overdue":
    "Look for another problem that explains the late queries, then check the fee market with relaywatch relayer plan.",
  "queries-failing":
    "Inspect a failing query: relaywatch relayer inspect ID. Its owner can remove or correct it.",
};

const status = z.object({
  // A newer relayer may report problems that this version does not know.
  problems: z.array(
    z.object({
      code: z.string(),
      connection_id: z.string().nullable(),
      text: z.string(),
      since: z.string().nullable().default(null),
    }),
  ),
  dead_letters: z.number(),
  queries: z.array(
    z.object({
      id: z.string(),
      type: z.string(),
      connection_id: z.string(),
      owner: z.string(),
      late_blocks: z.number(),
      late_seconds: z.number().nullable(),
      overdue: z.boolean(),
      failures: z.number(),
      error: z.object({ code: z.string(), reason: z.string() }).nullable(),
    }),
  ),
});

/** The fields of a relayer's `GET /api/status` that `why` needs. */
export type RelayerNow = z.output<typeof status>;

/** Decodes `GET /api/status`. Throws a `ZodError`. */
export function parseRelayerNow(body: unknown): RelayerNow {
  return status.parse(body);
}

const MAX_LISTED = 10;

/** Creates the `why` report for a relayer, which lists its problems with remedies, and its late queries. */
export function relayerWhyReport(now: RelayerNow): Report {
  const { problems, queries, dead_letters: deadLetters } = now;
  const late = queries.filter(({ overdue }) => overdue).toSorted((a, b) => b.late_blocks - a.late_blocks);
  const isKnown = problems.every(({ code }) => code !== "starting");
  return {
    title: "Why",
    outcome: !isKnown && problems.length === 1 ? "unseen" : problems.length > 0 ? "problem" : "fine",
    blocks: [
      ...paragraph(problems.length === 0 ? "Relayer: nothing is wrong." : undefined),
      ...problems.flatMap(problemBlocks),
      ...lateBlocks(late, queries.length),
      ...paragraph(
        deadLetters === 0
          ? undefined
          : `${counted(deadLetters, "transaction was", "transactions were")} not delivered: relaywatch relayer dead-letters lists them.`,
      ),
    ],
    data: {
      report: "why",
      relayer: {
        problems: problems.map((one) => ({ ...one, action: actionOf(one.code) })),
        late_queries: late,
        dead_letters: deadLetters,
      },
    },
    csv: {
      columns: ["alert", "validator", "severity", "state", "reason"],
      rows: problems.map(({ code, connection_id: id, text }) => [
        code,
        id ?? "relayer",
        conditionOf(code)?.severity ?? "warning",
        "firing",
        text,
      ]),
    },
  };
}

type RelayerProblem = RelayerNow["problems"][number];

function problemBlocks({ code, connection_id: id, text, since }: RelayerProblem): readonly ReportBlock[] {
  const condition = conditionOf(code);
  const action = actionOf(code);
  const items = [
    ...(condition === undefined
      ? []
      : [withoutTemplates(condition.description), `Impact: ${condition.impact}`]),
    ...(action === null ? [] : [`Action: ${action}`]),
    ...(condition === undefined ? [] : [`Runbook: alerts/runbooks/${condition.name}.md`]),
  ];
  const title = condition?.title ?? code;
  return [
    ...heading(`${id ?? "relayer"}: ${title} (${condition?.severity ?? "warning"})`),
    ...paragraph(`${since === null ? "" : `Since ${formatMinute(Date.parse(since))} UTC: `}${text}.`),
    ...list(items),
  ];
}

function conditionOf(code: string): (typeof RELAYER_CONDITIONS)[number] | undefined {
  return RELAYER_CONDITIONS.find(({ problems = [] }) => problems.some((one) => one === code));
}

function actionOf(code: string): string | null {
  const known = PROBLEM_CODES.find((one) => one === code);
  return known === undefined ? null : ACTIONS[known];
}

function lateBlocks(late: RelayerNow["queries"], all: number): readonly ReportBlock[] {
  if (late.length === 0) return paragraph(`None of ${counted(all, "query", "queries")} is overdue.`);
  const more = late.length > MAX_LISTED ? [`and ${late.length - MAX_LISTED} more`] : [];
  const items = late.slice(0, MAX_LISTED).map((query) => {
    const { id, type, connection_id: connection, late_blocks: blocks, late_seconds: seconds, error } = query;
    const time = seconds === null ? "" : ` (${formatDuration(seconds * 1000)})`;
    const why =
      error === null ? "" : `; ${counted(query.failures, "failure")}, last ${error.code}: ${error.reason}`;
    return `query ${id} (${type}, ${connection}) is ${counted(blocks, "block")}${time} late${why}`;
  });
  return [...heading("Late queries"), ...list([...items, ...more])];
}
