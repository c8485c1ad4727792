import { withDeadline } from "../platform/base/abort.ts";
import type { Clock } from "../platform/base/clock.ts";
import type { Logger } from "../platform/base/logger.ts";
import type { WatchdogConfig } from "./config.ts";
import type { ValidatorConfig } from "./validators-config.ts";
import { countingOptions } from "./poll-loop.ts";
import { createSampleReader, type ReadSamples } from "./prometheus-api/api-client.ts";
import { type Backfiller, createBackfiller } from "./prometheus-api/backfiller.ts";
import { createFleet } from "./prometheus-api/fleet.ts";
import { createStoredHistory, type StoredPages } from "./prometheus-api/stored-pages.ts";

/** What the watchdog reads from Prometheus. */
interface PrometheusReaders {
  /** Undefined when all validators are scraped. */
  readonly stored: StoredPages | undefined;
  /** Undefined when gaps are not filled. */
  readonly backfillerOf: (validator: ValidatorConfig) => Backfiller | undefined;
  /** Ends all queries. */
  readonly close: () => void;
}

interface ReaderDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random: () => number;
  /** Default: HTTP. */
  readonly readSamples?: ReadSamples;
}

/** Creates the readers that the configuration asks for. */
export function createPrometheusReaders(config: WatchdogConfig, deps: ReaderDeps): PrometheusReaders {
  const { prometheus, backfill, intervalMs } = config;
  if (prometheus === undefined) return { stored: undefined, backfillerOf: () => undefined, close: () => {} };
  const end = new AbortController();
  const read = deps.readSamples ?? createSampleReader(prometheus.connection);
  const validators = config.validators.map(({ target }) => target);
  const fleet = { validators, intervalMs, staleMs: prometheus.staleMs };
  const stored = createFleet(fleet, { read, clock: deps.clock, signal: end.signal });
  // One gap can be that of all validators: their queries do not compete.
  const history = createStoredHistory(oneAtATime(read, prometheus.connection.deadlineMs));
  return {
    stored: validators.some(({ isStored }) => isStored) ? stored : undefined,
    backfillerOf: (validator) =>
      backfill &&
      createBackfiller(
        { ...backfill, target: validator.target, counting: countingOptions(config, validator) },
        { ...deps, history },
      ),
    close: () => end.abort(new Error("the watchdog stops")),
  };
}

/** Makes each query wait for the end of the one before it, for a limited time. */
function oneAtATime(read: ReadSamples, deadlineMs: number): ReadSamples {
  let last: Promise<unknown> = Promise.resolve();
  return (selector, range, signal) =>
    withDeadline("a backfill query", deadlineMs, signal, (inner) => {
      const result = last.then(() => {
        inner.throwIfAborted();
        return read(selector, range, inner);
      });
      last = result.catch(() => {});
      return result;
    });
}
