import { abortReason } from "./clock.ts";
import type { Logger } from "./logger.ts";

/** Something that runs until its signal fires. Returning before that, or throwing, is a fault. */
export interface Service {
  readonly name: string;
  /** Runs; resolves soon after the signal fires, with everything it opened closed. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** A fault of one supervised service. */
export interface ServiceFault {
  readonly service: string;
  readonly fault: unknown;
}

/**
 * Runs all services until `signal` fires or one of them ends; then stops the rest and waits for them.
 * Returns every fault, the first one first; an empty list means that all stopped because they were asked to.
 */
export async function supervise(
  services: readonly Service[],
  signal: AbortSignal,
  logger: Logger,
): Promise<readonly ServiceFault[]> {
  const stop = new AbortController();
  const onAbort = (): void => stop.abort(abortReason(signal));
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort, { once: true });
  const faults: ServiceFault[] = [];
  const note = (service: string, fault: unknown): void => {
    faults.push({ service, fault });
    // The caller gets all faults and says what matters.
    logger.debug("service failed", { service, fault });
    stop.abort(new Error(`${service} failed`, { cause: fault }));
  };
  await Promise.all(
    services.map(async (service) => {
      try {
        await service.run(stop.signal);
        if (!stop.signal.aborted)
          note(service.name, new Error(`${service.name} ended without being asked to`));
      } catch (fault) {
        if (!stop.signal.aborted || !isAbort(fault, stop.signal)) note(service.name, fault);
      }
    }),
  );
  signal.removeEventListener("abort", onAbort);
  return faults;
}

/** Whether a fault is only the echo of this signal. */
export function isAbort(fault: unknown, signal: AbortSignal): boolean {
  if (!signal.aborted) return false;
  return (
    fault === signal.reason ||
    (fault instanceof Error && (fault.name === "AbortError" || fault.cause === signal.reason))
  );
}
