import { z } from "zod";
import { type Cost, costText, shareText } from "../../../src/watchdog/policy/cost-text.ts";
import { type CliHome, getJson } from "../e2e/cli-process.ts";

/** A cost in JSON. */
export const wireCost = z.object({
  blocks: z.string(),
  allowed: z.string(),
  share: z.number(),
  pay_cents: z.string().nullable(),
  currency: z.string(),
});

/** A cost as JSON has it. */
export type WireCost = z.output<typeof wireCost>;

const incident = z.object({
  from: z.string(),
  to: z.string(),
  cause: z.string(),
  end: z.string().nullable(),
  cost: wireCost,
});

/** An incident as JSON has it. */
export type WireIncident = z.output<typeof incident>;

const incidents = z.array(incident);

const shapes = {
  api: z.object({
    validators: z.tuple([
      z.object({
        month: z.string(),
        cost: wireCost,
        incidents,
        alerts: z.array(z.object({ alert: z.string(), cost: wireCost })),
      }),
    ]),
  }),
  why: z.object({ misses: z.tuple([z.object({ cost: wireCost, incidents })]) }),
  status: z.object({ validators: z.tuple([z.object({ cost: wireCost })]) }),
  handover: z.object({ validators: z.tuple([z.object({ incidents })]) }),
  monthClose: z.object({ validators: z.tuple([z.object({ cost: wireCost, incidents })]) }),
};

/** What all places say of one moment. Undefined: the place does not say it. */
export interface ToldCosts {
  readonly month: Readonly<Record<string, WireCost | undefined>>;
  readonly incidents: Readonly<Record<string, readonly WireIncident[]>>;
  /** What firing alerts cost so far, by the API. */
  readonly alerts: Readonly<Record<string, WireCost>>;
  /** Share of the allowance by the watchdog's metric. */
  readonly metric: number;
  /** Rows of the page's table, oldest first: cause, missed blocks, share of the allowance. */
  readonly pageRows: readonly (readonly string[])[];
  /** Text of the validator's page, and of the commands. */
  readonly texts: Readonly<Record<"page" | "why" | "status" | "handover" | "monthClose", string>>;
}

/** Reads every place that says what missed blocks cost, but the messages. The watchdog's time should stand still. */
export async function readToldCosts(home: CliHome, watchdog: string): Promise<ToldCosts> {
  const api = shapes.api.parse(await getJson(`${watchdog}/api/incidents`)).validators[0];
  const words = {
    why: ["why"],
    status: ["status"],
    handover: ["report", "handover"],
    monthClose: ["report", "month-close", "--month", api.month],
  };
  const run = async (args: readonly string[], ...more: readonly string[]): Promise<string> => {
    // Their exit code says that an alert fires.
    const { stdout, stderr } = await home.run(...args, "$PORTS", ...more);
    if (stdout === "") throw new Error(`${args.join(" ")}: ${stderr}`);
    return stdout;
  };
  const json = async (args: readonly string[]): Promise<unknown> => JSON.parse(await run(args, "--json"));
  const page = async (path: string): Promise<string> =>
    (await fetch(`${watchdog}${path}`, { signal: AbortSignal.timeout(30_000) })).text();
  const [month, own, metrics] = await Promise.all([
    page("/validators/default/month"),
    page("/validators/default"),
    page("/metrics"),
  ]);
  const [whyJson, statusJson, handoverJson, monthCloseJson] = await Promise.all([
    json(words.why),
    json(words.status),
    json(words.handover),
    json(words.monthClose),
  ]);
  const why = shapes.why.parse(whyJson).misses[0];
  const status = shapes.status.parse(statusJson).validators[0];
  const handover = shapes.handover.parse(handoverJson).validators[0];
  const monthClose = shapes.monthClose.parse(monthCloseJson).validators[0];
  const text = async (args: readonly string[]): Promise<string> => (await run(args)).replaceAll(/\s+/g, " ");
  const [whyText, statusText, handoverText, monthCloseText] = await Promise.all([
    text(words.why),
    text(words.status),
    text(words.handover),
    text(words.monthClose),
  ]);
  const texts = {
    page: textOf(own),
    why: whyText,
    status: statusText,
    handover: handoverText,
    monthClose: monthCloseText,
  };
  return {
    month: { api: api.cost, why: why.cost, status: status.cost, monthClose: monthClose.cost },
    incidents: {
      api: api.incidents,
      why: why.incidents,
      handover: handover.incidents,
      monthClose: monthClose.incidents,
    },
    alerts: Object.fromEntries(api.alerts.map((one) => [one.alert, one.cost])),
    metric: Number(/^oracle_watchdog_allowance_used_ratio\{.*\} (.+)$/m.exec(metrics)?.[1]),
    pageRows: rowsOf(month),
    texts,
  };
}

/** The sentence of a cost, as pages, messages and commands have it. */
export function costSentence(cost: WireCost): string {
  return costText(costOf(cost));
}

/** Share of the allowance, as tables have it. */
export function shareSentence(cost: WireCost): string {
  return shareText(costOf(cost));
}

function costOf({ blocks, allowed, pay_cents: payCents, currency }: WireCost): Cost {
  return {
    blocks: BigInt(blocks),
    allowed: BigInt(allowed),
    ...(payCents === null ? {} : { payCents: BigInt(payCents) }),
    currency,
  };
}

function textOf(html: string): string {
  return html
    .replaceAll(/<(?:script|style)[\s\S]*?<\/(?:script|style)>/g, "")
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll("&#39;", "'");
}

/** Columns "what", "missed" and "of the allowance" of the table of incidents, oldest first and scattered blocks last, as reports have them. */
function rowsOf(page: string): readonly (readonly string[])[] {
  const table = /<caption>Incidents of this month[\s\S]*?<\/table>/.exec(page)?.[0] ?? "";
  const rows = Array.from(table.matchAll(/<tr role="row">([\s\S]*?)<\/tr>/g), ([, row = ""]) =>
    // The time is a header. The length is the first cell, and what ended it the last one.
    Array.from(row.matchAll(/<td[^>]*>([\s\S]*?)<\/td>/g), ([, cell = ""]) => textOf(cell)).slice(1, -1),
  ).filter((cells) => cells.length > 0);
  const scattered = rows.filter(([what]) => what === "scattered");
  const others = rows.filter((row) => !scattered.includes(row));
  return [...others.toReversed(), ...scattered];
}
