import { z } from "zod";
import { unreachable } from "../base/errors.ts";
import {
  durationField,
  hostNamesField,
  isPlainHttpUrl,
  type ListenAddress,
  listenField,
  secretField,
} from "../ops/config-fields.ts";
import { issueText } from "../ops/config-issue.ts";
import type { AlertRule } from "./conditions/condition.ts";
import { CONDITIONS } from "./conditions/conditions.ts";
import type { WebhookConfig } from "./notify/webhook.ts";
import type { PolicyChoice } from "./evaluation.ts";
import type { SourceLimits, ValidatorTarget } from "./sources/targets.ts";
import {
  chain,
  identity,
  policy,
  refuseTwoForms,
  sources,
  toValidators,
  validators,
} from "./validators-config.ts";

/** Configuration of the watchdog. */
export interface WatchdogConfig {
  readonly listen: ListenAddress;
  /** Names that clients may use besides the loopback names. Absent: none on a loopback address, else every name. */
  readonly hosts?: readonly string[];
  /** Folder of the state file. Absent: a restart begins a new count. */
  readonly stateDir?: string;
  /** Time from the end of one poll to the start of the next. */
  readonly intervalMs: number;
  readonly limits: SourceLimits;
  /** At least one. */
  readonly validators: readonly ValidatorConfig[];
  /** All alerts, in the order of the API and the page. */
  readonly alerts: readonly AlertRule[];
  /** Absent: notifications go to the log only. */
  readonly webhook?: WebhookConfig;
}

/** One validator, and how it is paid. */
export interface ValidatorConfig {
  readonly target: ValidatorTarget;
  readonly policy: PolicyChoice;
}

const webhook = z.strictObject({
  url: secretField()
    .refine((secret) => isPlainHttpUrl(secret.reveal()), {
      error: issueText("does not hold a usable URL", "http:// or https://"),
    })
    .describe(
      "receives notifications as JSON; the URL is a secret, so the file names the place that holds it",
    ),
  deadline: durationField(100).prefault("10s").describe("limit for one request"),
});

/** One section per alert, from the table of conditions. */
const alerts = z
  .strictObject(
    Object.fromEntries(
      CONDITIONS.map(({ id, defaultFor, forDescription }) => [
        alertKey(id),
        z
          .strictObject({ for: durationField(1000).prefault(defaultFor).describe(forDescription) })
          .prefault({}),
      ]),
    ),
  )
  .prefault({});

const fileSchema = z.strictObject({
  http: z
    .strictObject({
      listen: listenField()
        .prefault("127.0.0.1:9998")
        .describe("address of the watchdog's own HTTP server: page, status, metrics, health"),
      hosts: hostNamesField()
        .optional()
        .describe(
          "names that clients may use, besides the loopback names; default: none on a loopback address, else every name",
        ),
    })
    .prefault({}),
  ...identity,
  state_dir: z
    .string()
    .min(1)
    .optional()
    .describe("folder of the state file; without it, a restart of the watchdog begins a new count"),
  interval: durationField(100).prefault("5s").describe("time between polls"),
  sources: sources.prefault({}),
  chain: chain.optional(),
  policy: policy.prefault({}),
  validators: validators.optional(),
  alerts,
  notify: z.strictObject({ webhook: webhook.optional() }).prefault({}),
});

/** Schema of the configuration file. Every key is optional. */
export const watchdogConfigSchema = fileSchema.superRefine(refuseTwoForms).transform(toWatchdogConfig);

function toWatchdogConfig(file: z.output<typeof fileSchema>): WatchdogConfig {
  const { state_dir: stateDir } = file;
  const hook = file.notify.webhook;
  return {
    listen: file.http.listen,
    ...(file.http.hosts === undefined ? {} : { hosts: file.http.hosts }),
    ...(stateDir === undefined ? {} : { stateDir }),
    intervalMs: file.interval,
    limits: { deadlineMs: file.sources.deadline, maxPageBytes: file.sources.max_page_bytes },
    validators: toValidators(file),
    alerts: CONDITIONS.map((condition) => ({
      condition,
      forMs: file.alerts[alertKey(condition.id)]?.for ?? unreachable(`no section for ${condition.id}`),
    })),
    ...(hook === undefined ? {} : { webhook: { url: hook.url, deadlineMs: hook.deadline } }),
  };
}

function alertKey(id: string): string {
  return id.replaceAll("-", "_");
}
