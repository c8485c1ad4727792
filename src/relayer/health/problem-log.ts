import { pause } from "../../platform/base/abort.ts";
import type { Clock } from "../../platform/base/clock.ts";
import { formatDuration } from "../../platform/base/text.ts";
import type { Logger } from "../../platform/base/logger.ts";
import type { Service } from "../../platform/base/service.ts";
import type { Problem, ProblemCode } from "./problems.ts";

export interface ProblemLogDeps {
  readonly problems: () => readonly Problem[];
  readonly clock: Clock;
  readonly logger: Logger;
}

const INTERVAL_MS = 1_000;
/** A problem that comes back within this time is the same one, so that a flapping state makes two lines, not hundreds. */
const CALM_MS = 15_000;
/** Logged where they happen, or normal for the first seconds. */
const UNLOGGED: ReadonlySet<ProblemCode> = new Set(["starting", "cycle-failed"] as const);

interface LoggedProblem {
  readonly problem: Problem;
  readonly fromMs: number;
  lastMs: number;
}

/** Creates a service that logs one warning when a problem begins and one line when it is over. Never fails. */
export function createProblemLog(deps: ProblemLogDeps): Service {
  const { clock, logger } = deps;
  const logged = new Map<string, LoggedProblem>();
  return {
    name: "problem log",
    run: async (signal) => {
      while (!signal.aborted) {
        const nowMs = clock.monotonicMs();
        for (const problem of deps.problems()) noteProblem(logged, problem, nowMs, logger);
        for (const [key, entry] of logged) {
          if (nowMs - entry.lastMs < CALM_MS) continue;
          logged.delete(key);
          logger.info("problem is over", {
            ...fieldsOf(entry.problem),
            lasted: formatDuration(entry.lastMs - entry.fromMs),
          });
        }
        await pause(INTERVAL_MS, clock, signal);
      }
    },
  };
}

function noteProblem(
  logged: Map<string, LoggedProblem>,
  problem: Problem,
  nowMs: number,
  logger: Logger,
): void {
  if (UNLOGGED.has(problem.code)) return;
  const key = `${problem.code} ${problem.connectionId ?? ""}`;
  const known = logged.get(key);
  if (known !== undefined) {
    known.lastMs = nowMs;
    return;
  }
  logged.set(key, { problem, fromMs: nowMs, lastMs: nowMs });
  logger.warn("problem", { ...fieldsOf(problem), reason: problem.text });
}

function fieldsOf({ code, connectionId }: Problem): Readonly<Record<string, unknown>> {
  return connectionId === undefined ? { code } : { code, connectionId };
}
