import { z } from "zod";
import { hostNamesField, issueText, listenField } from "../../platform/config/config-fields.ts";
import type { ListenAddress } from "../../platform/config/config-fields.ts";
import type { LedgerSource } from "../ledger/ledger-view.ts";
import { DEFAULT_VALIDATOR } from "../state/schema.ts";

/** The rows that a validator can have on the status page, with the ledger source of each row's counts. */
export const COMPONENT_SOURCES = { prices: "calls", votes: "votes" } as const satisfies Readonly<
  Record<string, LedgerSource>
>;

export type ComponentName = keyof typeof COMPONENT_SOURCES;

const COMPONENT_NAMES = ["prices", "votes"] as const satisfies readonly ComponentName[];

export interface ShownValidator {
  /** The validator's name in the configuration. */
  readonly name: string;
  /** The validator's public name, as shown on the page. */
  readonly title: string;
  /** The components to show for the validator, in display order. Each component has one row. */
  readonly components: readonly ComponentName[];
}

export interface StatusPageConfig {
  readonly listen: ListenAddress;
  /**
   * Host names allowed in addition to the loopback names. By default, a loopback address allows no other names, and other addresses
   * allow every name.
   */
  readonly hosts?: readonly string[];
  readonly title: string;
  readonly validators: readonly ShownValidator[];
  /** True if the page shows pay and the cost of incidents. */
  readonly hasAmounts: boolean;
}

/** Maximum number of validators on the page. The page shows 90 days for each validator and would otherwise become too large. */
export const MAX_SHOWN = 50;

function titleField() {
  return z
    .string()
    .min(1)
    .max(80)
    .refine((text) => /^[^\p{Cc}]*$/u.test(text), {
      error: issueText("has control characters", "a line of plain text"),
    });
}

export const statusPageSchema = z.strictObject({
  listen: listenField()
    .prefault("127.0.0.1:9995")
    .describe("the address of the status page's separate HTTP server"),
  hosts: hostNamesField()
    .optional()
    .describe(
      "host names that clients may use to reach the server, in addition to loopback names; default: only loopback names on a loopback address, every name on other addresses",
    )
    .meta({ example: ["status.example"] }),
  title: titleField().default("Oracle status").describe("heading of the status page"),
  validators: z
    .array(
      z.strictObject({
        name: z.string().describe("the validator's name in this configuration"),
        title: titleField().optional().describe("the validator's name on the page; default: name"),
      }),
    )
    .min(1)
    .max(MAX_SHOWN)
    .optional()
    .describe(`the validators on the page, in this order; default: all, at most ${MAX_SHOWN}`)
    .meta({ example: [{ name: DEFAULT_VALIDATOR, title: "Example validator" }] }),
  components: z
    .array(z.enum(COMPONENT_NAMES))
    .min(1)
    .default([...COMPONENT_NAMES])
    .describe(
      "rows that the page shows for each validator: prices (the node's calls to its sidecar) and votes (the validator's votes in blocks, if consensus_address is set)",
    ),
  amounts: z
    .boolean()
    .default(false)
    .describe("if true, the status page shows the validators' pay and the cost of incidents"),
});

type StatusPageFile = z.output<typeof statusPageSchema>;

interface FileWithPage {
  readonly status_page?: StatusPageFile | undefined;
  readonly validators?: readonly { readonly name: string }[] | undefined;
}

/**
 * Adds an issue for each listed validator that is unknown or listed twice. Also adds an issue if there are too many validators for
 * one page.
 */
export function refuseStatusPage(file: FileWithPage, context: z.RefinementCtx): void {
  const { status_page: page } = file;
  if (page === undefined) return;
  const known = file.validators?.map(({ name }) => name) ?? [DEFAULT_VALIDATOR];
  const shown = page.validators?.map(({ name }) => name);
  const refuse = (problem: string, expected: string, ...place: readonly (string | number)[]): void => {
    const message = issueText(problem, expected);
    context.addIssue({ code: "custom", path: ["status_page", "validators", ...place], message });
  };
  if (shown === undefined && known.length > MAX_SHOWN)
    refuse(`is missing, but there are ${known.length} validators`, `a list of at most ${MAX_SHOWN}`);
  for (const [index, name] of (shown ?? []).entries()) {
    if (!known.includes(name))
      refuse("is not a validator in this configuration", known.slice(0, 5).join(", "), index, "name");
    else if (shown?.indexOf(name) !== index) refuse("is a duplicate", "each validator once", index, "name");
  }
}

interface PageValidator {
  readonly name: string;
  readonly hasVotes: boolean;
}

/** Converts the `status_page` section to the page's settings. Without the section, all settings have their default values. */
export function statusPageOf(
  page: StatusPageFile = statusPageSchema.parse({}),
  all: readonly PageValidator[],
): StatusPageConfig {
  const known = new Map(all.map((one) => [one.name, one]));
  const chosen: readonly { readonly name: string; readonly title?: string | undefined }[] =
    page.validators ?? all;
  return {
    listen: page.listen,
    ...(page.hosts === undefined ? {} : { hosts: page.hosts }),
    title: page.title,
    validators: chosen.map(({ name, title }) => ({
      name,
      title: title ?? (name === DEFAULT_VALIDATOR ? "Validator" : name),
      components: [...new Set(page.components)].filter(
        (component) => component !== "votes" || known.get(name)?.hasVotes === true,
      ),
    })),
    hasAmounts: page.amounts,
  };
}
